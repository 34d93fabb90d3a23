import { createHash } from 'node:crypto';
import { escapeHtml, escapeHtmlKeepingLineBreaks, escapeUnprintable } from '../../../base/sanitize.ts';
import { formatBytes } from '../../../base/text.ts';
import { renderFixScript, renderUndoScript } from '../render-fix-script.ts';
import type { DatabasePreflightVerdict, PreflightReport } from '../report.ts';
import { verdictAfterFixesSentence } from '../verdict-after-fixes.ts';
import {
  formatDatabaseTotals,
  groupDatabasesByVerdict,
  selectDatabaseSpecificVerdictReasons,
  summarizeDatabaseSizes,
} from './database-groups.ts';
import {
  createRepeatedSentenceFilter,
  describeDataLoss,
  describeFindingDatabases,
  type FindingGroupObservation,
  formatNameList,
  groupFindings,
  type PreflightFindingGroup,
  type PreflightFindingGroupText,
  type RepeatedSentenceFilter,
  selectBlockingFindingGroups,
  selectProblemGroups,
} from './finding-groups.ts';
import { collectStepsOfRequiredFixes, formatFixLinesOfGroup } from './fix-steps.ts';
import { htmlPreflightReportStyle } from './html-report-style.ts';
import { renderJunitPreflightReport } from './junit-report.ts';
import { renderMarkdownPreflightReport } from './markdown-report.ts';
import {
  failedDatabaseLoginNote,
  formatCopyTimeRange,
  formatFindingStatus,
  formatIgnoreDatabasesAdvice,
  formatPreflightSourceWithUser,
  formatRowReadSummaryLines,
  formatSourceServer,
  formatVerdictConditionLines,
  preflightLimitationNote,
  verdictSentence,
} from './report-text.ts';
import { renderSarifPreflightReport } from './sarif-report.ts';

/** Renders a finding: its values, its reason, and the statements that fix it. */
function renderHtmlFinding(
  group: PreflightFindingGroup,
  engine: PreflightReport['engine'],
  isNew: RepeatedSentenceFilter,
): string {
  const { first, title, databases, observations } = group;
  const detail = sharedHtml(group.detail, isNew);
  const fixText = sharedHtml(group.fixText, isNew) ?? (group.fixText === undefined ? undefined : 'As above.');
  const { id, status, blocks, required, fix, only } = first;
  const where = databases.length === 0 ? 'server' : describeFindingDatabases(databases);
  const facts = [
    `<code>${escapeHtml(id)}</code>`,
    `${escapeHtml(where)}${only === undefined ? '' : ' of the server'}`,
    ...(blocks.length === 0 ? [] : [`blocks ${blocks.join(' and ')}`]),
    ...(fix?.restart === true ? ['<strong>restart</strong>'] : fix?.reload === true ? ['reload'] : []),
  ];
  return `<section class="finding ${status}" id="${escapeHtml(id)}">
<h3><span class="tag">${escapeHtml(formatFindingStatus(first))}</span>${escapeHtml(title)}</h3>
<p class="meta">${facts.join(' · ')}</p>
${values(observations, required)}
${detail === undefined ? '' : `<p>${detail}</p>`}
${fixText === undefined ? '' : `<p><strong>Fix.</strong> ${fixText}</p>`}
${statements(group, engine)}
</section>`;
}

/** Renders checks that passed or only inform as one table row each; those that were skipped for one reason are one row. */
function renderHtmlOtherFindings(groups: readonly PreflightFindingGroup[]): string {
  const skipped = new Map<string, readonly PreflightFindingGroup[]>();
  for (const group of groups.filter(({ first }) => first.status === 'skip')) {
    const reason = group.first.observed;
    skipped.set(reason, [...(skipped.get(reason) ?? []), group]);
  }
  const isJoined = ({ first }: PreflightFindingGroup) =>
    first.status === 'skip' && (skipped.get(first.observed)?.length ?? 0) > 1;
  const joined = [...skipped].filter(([, same]) => same.length > 1);
  const joinedRows = joined.map(
    ([reason, same]) =>
      `<tr><td>skip</td><td>${same.length} checks<br><code class="soft">${same.map(({ first }) => escapeHtml(first.id)).join(', ')}</code></td><td>${escapeHtml(reason)}</td></tr>`,
  );
  const rows = groups
    .filter((group) => !isJoined(group))
    .map(({ first, title, databases, observations }) => {
      const [one] = observations;
      const value = observations.length === 1 ? one?.observed : `${observations.length} different results`;
      const where =
        databases.length === 0
          ? ''
          : ` <span class="soft">in ${escapeHtml(describeFindingDatabases(databases))}</span>`;
      return `<tr><td>${first.status}</td><td>${escapeHtml(title)}${where}<br><code class="soft">${escapeHtml(first.id)}</code></td><td>${escapeHtml(value ?? '')}</td></tr>`;
    });
  return `<div class="scroll"><table><thead><tr><th>Status</th><th>Check</th><th>Observed</th></tr></thead><tbody>${[...rows, ...joinedRows].join('')}</tbody></table></div>`;
}

/** Renders the observed value beside the required one; findings of several databases become a table. */
function values(observations: readonly FindingGroupObservation[], required: string | undefined): string {
  const needed = required === undefined ? '' : `<dt>Required</dt><dd>${escapeHtml(required)}</dd>`;
  const [first] = observations;
  if (first === undefined) return '';
  if (observations.length === 1) {
    return `<dl class="values"><dt>Observed</dt><dd><strong>${escapeHtml(first.observed)}</strong></dd>${needed}${objectsRow(first.objects)}${databasesRow(first.databases)}</dl>`;
  }
  const rows = observations.map(
    ({ observed, objects, databases }) =>
      `<tr><td>${names(databases)}</td><td>${escapeHtml(observed)}</td><td>${codes(objects)}</td></tr>`,
  );
  return `${needed === '' ? '' : `<dl class="values">${needed}</dl>`}<details${rows.length <= 5 ? ' open' : ''}><summary>${rows.length} different results</summary><div class="scroll"><table><thead><tr><th>Database</th><th>Observed</th><th>Objects</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></details>`;
}

function objectsRow(objects: readonly string[]): string {
  return objects.length === 0 ? '' : `<dt>Objects</dt><dd>${codes(objects)}</dd>`;
}

function databasesRow(databases: readonly string[]): string {
  return databases.length < 2 ? '' : `<dt>Databases</dt><dd>${names(databases)}</dd>`;
}

function names(databases: readonly string[]): string {
  if (databases.length <= 6) return codes(databases);
  return `<details><summary>${escapeHtml(formatNameList(databases, 3))}</summary>${codes(databases)}</details>`;
}

function codes(texts: readonly string[]): string {
  return texts.map((text) => `<code>${escapeHtml(text)}</code>`).join(', ');
}

function statements(group: PreflightFindingGroup, engine: PreflightReport['engine']): string {
  const lines = formatFixLinesOfGroup(group, engine);
  return lines.length === 0 ? '' : `<pre tabindex="0">${escapeHtmlKeepingLineBreaks(lines.join('\n'))}</pre>`;
}

function sharedHtml(one: PreflightFindingGroupText | undefined, isNew: RepeatedSentenceFilter): string | undefined {
  const text = one === undefined ? undefined : isNew(one.text);
  if (text === undefined) return undefined;
  const example = one?.exampleOf === undefined ? '' : `In <code>${escapeHtml(one.exampleOf)}</code>, for example: `;
  return `${example}${escapeHtml(text).replace(/`([^`<>]+)`/g, '<code>$1</code>')}`;
}

/**
 * Renders the report as one HTML file without scripts or external resources: first the verdict and what to run, in a
 * layout that can be printed.
 */
export function renderHtmlPreflightReport(report: PreflightReport): string {
  const title = `Preflight of ${formatPreflightSourceWithUser(report)}: ${report.verdict}`;
  const hash = createHash('sha256').update(htmlPreflightReportStyle).digest('base64');
  const groups = groupFindings(report.findings);
  const problems = selectProblemGroups(groups);
  const isNew = createRepeatedSentenceFilter();
  const others = groups.filter((group) => !problems.includes(group));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<title>${escapeHtml(title)}</title>
<style>${htmlPreflightReportStyle}</style>
</head>
<body>
<header class="verdict ${report.verdict}">
<p class="tag">${report.verdict}</p>
<h1>${escapeHtml(verdictSentence(report))}</h1>
<p class="soft">${escapeHtml([formatPreflightSourceWithUser(report), ...formatSourceServer(report), ...formatDatabaseTotals(report)].join(' · '))}</p>
</header>
<main>
${summary(report, groups, isNew)}
${problems.length === 0 ? '<h2>Findings</h2><p>Every check passed.</p>' : `<h2>Findings</h2>${problems.map((group) => renderHtmlFinding(group, report.engine, isNew)).join('\n')}`}
${databases(report)}
${scriptPart('Fix script', 'All fixes, in the order in which they must run. Each section states who must run it. A click selects the whole script.', renderFixScript(report))}
${scriptPart('Undo script', 'This script restores the values that were observed before the fixes. Run it after the migration.', renderUndoScript(report))}
${others.length === 0 ? '' : `<details><summary>Other checks <span class="soft">${others.length}</span></summary>${renderHtmlOtherFindings(others)}</details>`}
</main>
<footer class="soft"><p>Checked ${escapeHtml(report.started_at)} in ${(report.duration_ms / 1000).toFixed(1)} s with ${report.queries} read-only statements. ${preflightLimitationNote}</p></footer>
</body>
</html>
`;
}

/** Three cards side by side: what blocks the migration method, what to run, and what else to know. */
function summary(
  report: PreflightReport,
  groups: readonly PreflightFindingGroup[],
  isNew: RepeatedSentenceFilter,
): string {
  const { target, method } = report;
  const estimate = formatCopyTimeRange(report);
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Requested method', `${method}: ${report.ok ? 'possible' : 'not possible'}`],
    ['Target', target.version === undefined ? undefined : `version ${target.version}`],
    ['Cluster', target.cluster_uuid],
    ['Estimated duration', estimate],
  ];
  const facts = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`],
  );
  const blockers = selectBlockingFindingGroups(report, groups).map(({ first, title, databases }) => {
    const where = describeFindingDatabases(databases);
    return `<li><a href="#${escapeHtml(first.id)}">${escapeHtml(title)}</a>${where === '' ? '' : ` <span class="soft">in ${escapeHtml(where)}</span>`}</li>`;
  });
  return `<div class="cards">
${card(`What blocks the ${method} migration`, blockers)}
${whatToRun(report, groups, isNew)}
${card('Open premises', formatVerdictConditionLines(report).map(listItem))}
${card('Not migrated', describeDataLoss(groups).map(listItem))}
${card('Rows', formatRowReadSummaryLines(report).map(listItem))}
<section class="card"><h2>About this check</h2><dl class="facts">${facts.join('')}</dl></section>
</div>`;
}

function whatToRun(
  report: PreflightReport,
  groups: readonly PreflightFindingGroup[],
  isNew: RepeatedSentenceFilter,
): string {
  if (report.ok) return '';
  const { amount, statements, restart, manual } = collectStepsOfRequiredFixes(report, groups);
  const shown = statements.map(({ database, sql }) => `${database === undefined ? '' : `-- in ${database}\n`}${sql}`);
  const lines = [...shown, ...(restart && report.engine !== 'redis' ? ['-- then restart the server'] : [])];
  const isShort = statements.length > 0 && statements.length <= 5;
  const after = amount === undefined ? undefined : verdictAfterFixesSentence(report);
  const sentences = [
    ...[failedDatabaseLoginNote(report) ?? []].flat(),
    ...(after === undefined ? [] : [after]),
    ...manual.flatMap(({ id, text }) => (isNew(text) === undefined ? [] : [`${id}: ${text}`])),
    ...[formatIgnoreDatabasesAdvice(report) ?? []].flat(),
  ];
  if (amount === undefined && sentences.length === 0) return '';
  return `<section class="card"><h2>What to run</h2>${amount === undefined ? '' : `<p class="amount">${escapeHtml(amount)}</p>`}${isShort ? `<pre tabindex="0">${escapeHtmlKeepingLineBreaks(lines.join('\n'))}</pre>` : ''}${amount === undefined || isShort ? '' : '<p>Run the <a href="#fix-script">fix script</a>, section by section.</p>'}${sentences.map((one) => `<p>${escapeHtml(one)}</p>`).join('')}</section>`;
}

function card(title: string, items: readonly string[]): string {
  return items.length === 0
    ? ''
    : `<section class="card"><h2>${escapeHtml(title)}</h2><ul>${items.join('')}</ul></section>`;
}

function listItem(text: string): string {
  return `<li>${escapeHtml(text)}</li>`;
}

function databases(report: PreflightReport): string {
  if (report.databases.length === 0) return '';
  const groups = groupDatabasesByVerdict(report).map((group) => {
    const own = group[0] === undefined ? [] : selectDatabaseSpecificVerdictReasons(report, group[0]);
    const name = group.length === 1 ? `<code>${escapeHtml(group[0]?.name ?? '')}</code>` : `${group.length} databases`;
    return `<tr><td>${name}</td><td>${group[0]?.verdict}</td><td>${escapeHtml(summarizeDatabaseSizes(group).join(', '))}</td><td>${escapeHtml(own.join(', '))}</td></tr>`;
  });
  const all = databaseTable(report.databases);
  const { length } = report.databases;
  if (length <= shownDatabases) return `<h2>Databases</h2>${chart(report.databases)}${all}`;
  return `<h2>Databases</h2>${chart(report.databases)}<div class="scroll"><table><thead><tr><th>Databases</th><th>Verdict</th><th>Contents</th><th>Blocked by (in addition to findings about the server)</th></tr></thead><tbody>${groups.join('')}</tbody></table></div>
<details><summary>All ${length} databases</summary>${all}</details>`;
}

/** A row for each database, without a column that no database has a value for. On a narrow screen a row is a block. */
function databaseTable(all: readonly DatabasePreflightVerdict[]): string {
  const columns: readonly (readonly [title: string, value: (one: DatabasePreflightVerdict) => string, kind?: 'n'])[] = [
    ['Database', ({ name }) => `<code>${escapeHtml(name)}</code>`],
    ['Verdict', ({ verdict }) => verdict],
    ['Tables', ({ tables }) => String(tables ?? ''), 'n'],
    ['Keys', ({ keys }) => String(keys ?? ''), 'n'],
    ['Size', ({ size_bytes: size }) => (size === undefined ? '' : formatBytes(size)), 'n'],
    ['Blocked by', ({ reasons }) => escapeHtml(reasons.join(', '))],
  ];
  const shown = columns.filter(([, value]) => all.some((one) => value(one) !== ''));
  const attribute = (kind: string | undefined): string => (kind === undefined ? '' : ` class="${kind}"`);
  const head = shown.map(([title, , kind]) => `<th scope="col" role="columnheader"${attribute(kind)}>${title}</th>`);
  const rows = all.map((one) => {
    const cells = shown.map(
      ([title, value, kind]) =>
        `<td role="cell" data-title="${title}"${attribute(kind)}><span>${value(one)}</span></td>`,
    );
    return `<tr role="row">${cells.join('')}</tr>`;
  });
  return `<div class="scroll"><table class="stack" role="table"><thead role="rowgroup"><tr role="row">${head.join('')}</tr></thead><tbody role="rowgroup">${rows.join('')}</tbody></table></div>`;
}

const shownDatabases = 12;

/** Shows the largest databases as bars, if their sizes differ; the table below lists all databases. */
function chart(all: readonly DatabasePreflightVerdict[]): string {
  const sized = all.flatMap(({ name, size_bytes: size }) => (size === undefined ? [] : [{ name, size }]));
  const largest = sized.sort((a, b) => b.size - a.size).slice(0, shownDatabases);
  const most = largest[0]?.size ?? 0;
  const least = largest.at(-1)?.size ?? 0;
  if (largest.length < 2 || most < 2 * least) return '';
  const bars = largest.map(({ name, size }) => {
    const width = Math.max(0.5, (size / most) * 100).toFixed(1);
    return `<span title="${escapeHtml(name)}">${escapeHtml(name)}</span><svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(name)}: ${formatBytes(size)}"><rect width="${width}" height="10" rx="1"/></svg><span>${formatBytes(size)}</span>`;
  });
  return `<div class="chart">${bars.join('')}</div>`;
}

function scriptPart(title: string, words: string, script: string | undefined): string {
  if (script === undefined) return '';
  const lines = script.trimEnd().split('\n').length;
  return `<details id="${title.toLowerCase().replace(' ', '-')}"${lines > shownScriptLines ? '' : ' open'}><summary>${title} <span class="soft">${lines} lines</span></summary><p class="soft">${words}</p><pre tabindex="0">${escapeHtmlKeepingLineBreaks(script)}</pre></details>`;
}

const shownScriptLines = 60;

type Render = (report: PreflightReport, version: string, sarifUri: string | undefined) => string;

/** By file extension. */
const formats: Readonly<Record<string, Render>> = {
  '.json': (report) => `${escapeUnprintable(JSON.stringify(report, null, 2))}\n`,
  '.md': renderMarkdownPreflightReport,
  '.html': renderHtmlPreflightReport,
  '.xml': renderJunitPreflightReport,
  '.sarif': renderSarifPreflightReport,
};

export const preflightReportFileExtensions: readonly string[] = Object.keys(formats);

/**
 * Renders the report in the format that the file extension selects; undefined if there is no such format.
 * @param version of this program
 * @param sarifUri the file that results of SARIF refer to, relative to the root of its repository
 */
export function renderPreflightReport(
  file: string,
  report: PreflightReport,
  version: string,
  sarifUri?: string,
): string | undefined {
  const extension = preflightReportFileExtensions.find((known) => file.toLowerCase().endsWith(known));
  return extension === undefined ? undefined : formats[extension]?.(report, version, sarifUri);
}
