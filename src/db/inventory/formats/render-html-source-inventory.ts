import { createHash } from 'node:crypto';
import { escapeHtml, escapeHtmlKeepingLineBreaks } from '../../../base/sanitize.ts';
import { countOf, formatCount } from '../../../base/text.ts';
import { htmlPreflightReportStyle } from '../../preflight/formats/html-report-style.ts';
import { preflightLimitationNote } from '../../preflight/formats/report-text.ts';
import type { FixStep, InventoryReport, ReportFinding, ReportRow } from '../report.ts';
import {
  commonSourceInventoryMethod,
  formatAffectedSourceAndServerCounts,
  formatInventoryFindingPlace,
  formatMigratableSourcesSentence,
  groupUncheckedSourcesByReason,
  inventoryRowVerdictText,
  listFindingsFixedByInventoryStep,
  sourceInventorySummaryText,
  stepPlacesText,
} from './inventory-text.ts';

/** Renders the report as one HTML file without scripts or external resources; the first screen says what to fix first. */
export function renderHtmlSourceInventory(report: InventoryReport): string {
  const style = `${htmlPreflightReportStyle}${inventoryStyle}`;
  const hash = createHash('sha256').update(style).digest('base64');
  const { summary, started_at: startedAt, duration_ms: duration } = report;
  const verdict = summary.not_possible > 0 ? 'blocked' : summary.not_checked > 0 ? 'dump' : 'continuous';
  const sentence = formatMigratableSourcesSentence(report);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<title>Inventory: ${escapeHtml(sentence)}</title>
<style>${style}</style>
</head>
<body>
<header class="verdict ${verdict}">
<h1>${escapeHtml(sentence)}</h1>
${bar(report)}
<p class="soft">${escapeHtml(sourceInventorySummaryText(report))}</p>
</header>
<main>
${fixFirst(report)}
${unchecked(report)}
${findings(report)}
${servers(report)}
${sources(report)}
</main>
<footer class="soft"><p>Checked ${escapeHtml(startedAt)} in ${(duration / 1000).toFixed(1)} s with ${formatCount(summary.queries)} read-only statements. ${preflightLimitationNote}</p></footer>
</body>
</html>
`;
}

const inventoryStyle = `
.bar{display:block;width:100%;height:1.1rem;margin:.75rem 0 .5rem}.bar .yes{fill:var(--good)}.bar .no{fill:var(--bad)}.bar .none{fill:var(--open)}
.steps td:first-child{width:2rem;font-weight:600}.steps code{font-weight:600}.steps .fix{margin:.15rem 0 0}.steps td.n{font-weight:600}
.steps .gain{display:block;width:100%;height:.45rem;margin-top:.35rem}.gain .track{fill:var(--line)}.gain .yes{fill:var(--good)}
`.trim();

function bar({ summary }: InventoryReport): string {
  const { sources, possible, not_possible: blocked, not_checked: unchecked } = summary;
  let from = 0;
  const part = (kind: string, count: number) => {
    const width = sources === 0 ? 0 : (count / sources) * 100;
    const rect = `<rect class="${kind}" x="${from.toFixed(2)}" width="${width.toFixed(2)}" height="10"/>`;
    from += width;
    return count === 0 ? '' : rect;
  };
  const label = `${possible} possible, ${blocked} not possible, ${unchecked} not checked`;
  return `<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${label}">${part('yes', possible)}${part('no', blocked)}${part('none', unchecked)}</svg>`;
}

function fixFirst(report: InventoryReport): string {
  const { fix_first: steps } = report;
  if (steps.length === 0) return '';
  const [first, others] = [steps.slice(0, shownSteps), steps.slice(shownSteps)];
  const method = commonSourceInventoryMethod(report) ?? 'possible';
  const table = (some: readonly FixStep[], from: number) =>
    `<div class="scroll"><table class="steps"><thead><tr><th scope="col"></th><th scope="col">Fix</th><th scope="col">Where</th><th scope="col" class="n">Become ${method}</th><th scope="col" class="n">In all</th></tr></thead><tbody>${some.map((step, at) => stepRow(report, step, from + at)).join('')}</tbody></table></div>`;
  const rest =
    others.length === 0
      ? ''
      : `<details><summary>${countOf(others.length, 'more step')}</summary>${table(others, shownSteps + 1)}</details>`;
  return `<h2 id="fix-first">What to fix first</h2>${table(first, 1)}${rest}`;
}

const shownSteps = 5;

function stepRow(report: InventoryReport, step: FixStep, number: number): string {
  const fixes = listFindingsFixedByInventoryStep(report, step).map(
    ({ id, title, text, restart }) =>
      `<p class="fix"><a href="#${escapeHtml(id)}"><code>${escapeHtml(id)}</code></a> ${escapeHtml(text === undefined ? title : `${title}. ${text}`)}${restart ? ' <span class="tag warn">restart</span>' : ''}</p>`,
  );
  const share = ((step.possible_after / Math.max(1, report.summary.sources)) * 100).toFixed(1);
  const total = `${formatCount(step.possible_after)} of ${formatCount(report.summary.sources)}`;
  return `<tr><td>${number}</td><td>${fixes.join('')}</td><td>${escapeHtml(stepPlacesText(step, 3))}</td><td class="n">${formatCount(step.unblocks)}</td><td class="n">${total}<svg class="gain" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${total}"><rect class="track" width="100" height="10"/><rect class="yes" width="${share}" height="10"/></svg></td></tr>`;
}

function unchecked(report: InventoryReport): string {
  const reasons = groupUncheckedSourcesByReason(report);
  if (reasons.length === 0) return '';
  const items = reasons.map(({ reason, names }) => {
    const shown = names.slice(0, 5).map((name) => `<code>${escapeHtml(name)}</code>`);
    const rest = names.length > 5 ? ` and ${names.length - 5} more` : '';
    return `<li>${countOf(names.length, 'source')}: ${escapeHtml(reason)} <span class="soft">${shown.join(', ')}${rest}</span></li>`;
  });
  return `<h2>Not checked</h2><section class="card"><ul>${items.join('')}</ul></section>`;
}

function findings({ findings: all }: InventoryReport): string {
  if (all.length === 0) return '<h2>Findings</h2><p>Every check passed.</p>';
  const first = new Set(all.filter(({ id }, at) => all.findIndex((other) => other.id === id) === at));
  return `<h2>Findings</h2>${all.map((one) => findingPart(one, first.has(one))).join('\n')}`;
}

/** Several findings of a check may have different titles; only the first of them has the id that the steps link to. */
function findingPart(finding: ReportFinding, isFirst: boolean): string {
  const {
    id,
    status,
    title,
    places,
    place_count: count,
    is_blocker: isBlocker,
    fix,
    fix_example_of: example,
  } = finding;
  const shown = places.slice(0, 5).map((place) => `<li>${escapeHtml(formatInventoryFindingPlace(place, 5))}</li>`);
  const more = places.slice(5, 100).map((place) => `<li>${escapeHtml(formatInventoryFindingPlace(place, 5))}</li>`);
  const hidden = count - Math.min(count, 100);
  const rest =
    more.length === 0
      ? ''
      : `<details><summary>${countOf(count - 5, 'more place')}</summary><ul>${more.join('')}</ul>${hidden > 0 ? `<p class="soft">${formatCount(hidden)} more are in the JSON report of each source.</p>` : ''}</details>`;
  const statements =
    fix === undefined || fix.sql.length === 0
      ? ''
      : `<pre tabindex="0">${escapeHtmlKeepingLineBreaks(fix.sql.join('\n'))}</pre>`;
  return `<section class="finding ${status}"${isFirst ? ` id="${escapeHtml(id)}"` : ''}><h3><span class="tag">${status}</span>${escapeHtml(title)}</h3><p class="meta"><code>${escapeHtml(id)}</code> · ${formatAffectedSourceAndServerCounts(finding)}${isBlocker ? ' · blocks' : ''}</p><ul>${shown.join('')}</ul>${rest}${fix === undefined ? '' : `<p>${escapeHtml(example === undefined ? fix.text : `For example on ${example}: ${fix.text}`)}</p>`}${statements}</section>`;
}

function servers({ servers: all }: InventoryReport): string {
  const rows = all.map(
    ({ server, version = '', sources: count, also = [] }) =>
      `<tr><td><code>${escapeHtml(server)}</code></td><td>${escapeHtml(version)}</td><td class="n">${formatCount(count)}</td><td>${escapeHtml(also.join(', '))}</td></tr>`,
  );
  return `<details><summary>Servers <span class="soft">${all.length}</span></summary><div class="scroll"><table><thead><tr><th scope="col">Server</th><th scope="col">Version</th><th scope="col" class="n">Sources</th><th scope="col">Other addresses</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></details>`;
}

function sources({ sources: all }: InventoryReport): string {
  const rows = all.map(
    (row) =>
      `<tr><td><code>${escapeHtml(row.name)}</code></td><td>${escapeHtml(inventoryRowVerdictText(row))}</td><td>${escapeHtml(row.reason ?? row.blocked_by.join(', '))}</td><td>${changesText(row)}</td></tr>`,
  );
  return `<details><summary>Sources <span class="soft">${all.length}</span></summary><div class="scroll"><table><thead><tr><th scope="col">Source</th><th scope="col">Verdict</th><th scope="col">Blocked by</th><th scope="col">Changes since the baseline</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></details>`;
}

function changesText({ changes }: ReportRow): string {
  return changes === undefined ? '' : changes.map((one) => escapeHtml(one)).join('<br>');
}
