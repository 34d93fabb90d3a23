import { escapeHtml, escapeHtmlKeepingLineBreaks } from '../../base/sanitize.ts';
import type { PreflightReport } from '../report.ts';
import {
  describeFindingDatabases,
  type FindingGroupObservation,
  formatNameList,
  type PreflightFindingGroup,
  type PreflightFindingGroupText,
  type RepeatedSentenceFilter,
} from './finding-groups.ts';
import { formatFixLinesOfGroup } from './fix-steps.ts';
import { formatFindingStatus } from './report-text.ts';

/** Renders a finding: its values, its reason, and the statements that fix it. */
export function renderHtmlFinding(
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
export function renderHtmlOtherFindings(groups: readonly PreflightFindingGroup[]): string {
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
