import { escapeHtml } from '../../../base/sanitize.ts';
import { countOf, formatCount } from '../../../base/text.ts';
import { codesOf, foldOf, pageOf, preOf, proseOf, tableOf } from '../../preflight/formats/index.ts';
import { limitation } from '../../preflight/index.ts';
import type { FixStep, InventoryReport, ReportFinding } from '../report.ts';
import {
  commonMethod,
  extentText,
  fixedBy,
  placeText,
  printedFindings,
  resultSentence,
  stepPlacesText,
  summaryText,
  uncheckedReasons,
  verdictText,
} from './text.ts';

/** Renders the report as an HTML page; the first screen says what to fix first. */
export function renderHtml(report: InventoryReport): string {
  const { summary, started_at: startedAt, duration_ms: duration } = report;
  const sentence = resultSentence(report);
  return pageOf({
    title: `Inventory: ${sentence}`,
    kind: summary.not_possible > 0 ? 'blocked' : summary.not_checked > 0 ? 'dump' : 'continuous',
    style: inventoryStyle,
    header: [`<h1>${escapeHtml(sentence)}</h1>`, bar(report), `<p class="soft">${escapeHtml(summaryText(report))}</p>`],
    main: [fixFirst(report), unchecked(report), findings(report), servers(report), sources(report)],
    footer: `Checked ${escapeHtml(startedAt)} in ${(duration / 1000).toFixed(1)} s with ${formatCount(summary.queries)} read-only statements. ${limitation}`,
  });
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
  const rows = report.fix_first.map((step, at) => stepCells(report, step, at + 1));
  const titles = ['', 'Fix', 'Where', `#Become ${commonMethod(report) ?? 'possible'}`, '#In all'];
  const others = rows.slice(shownSteps);
  const more = foldOf(countOf(others.length, 'more step'), tableOf(titles, others, 'steps'));
  if (rows.length === 0) return '';
  const first = tableOf(titles, rows.slice(0, shownSteps), 'steps');
  return `<h2 id="fix-first">What to fix first</h2>${first}${others.length === 0 ? '' : more}`;
}

const shownSteps = 5;

function stepCells(report: InventoryReport, step: FixStep, number: number): readonly string[] {
  const fixes = fixedBy(report, step).map(
    ({ id, title, text, restart }) =>
      `<p class="fix"><a href="#${escapeHtml(id)}"><code>${escapeHtml(id)}</code></a> ${proseOf(text === undefined ? title : `${title}. ${text}`)}${restart ? ' <span class="tag warn">restart</span>' : ''}</p>`,
  );
  const share = ((step.possible_after / Math.max(1, report.summary.sources)) * 100).toFixed(1);
  const total = `${formatCount(step.possible_after)} of ${formatCount(report.summary.sources)}`;
  const gain = `<svg class="gain" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${total}"><rect class="track" width="100" height="10"/><rect class="yes" width="${share}" height="10"/></svg>`;
  const where = escapeHtml(stepPlacesText(step, 3));
  return [String(number), fixes.join(''), where, formatCount(step.unblocks), `${total}${gain}`];
}

function unchecked(report: InventoryReport): string {
  const reasons = uncheckedReasons(report);
  if (reasons.length === 0) return '';
  const items = reasons.map(({ reason, names }) => {
    const rest = names.length > 5 ? ` and ${names.length - 5} more` : '';
    return `<li>${countOf(names.length, 'source')}: ${escapeHtml(reason)} <span class="soft">${codesOf(names.slice(0, 5))}${rest}</span></li>`;
  });
  return `<h2>Not checked</h2><section class="card"><ul>${items.join('')}</ul></section>`;
}

function findings(report: InventoryReport): string {
  const { findings: all } = report;
  if (all.length === 0) return '<h2>Findings</h2><p>Every check passed.</p>';
  const first = new Set(all.filter(({ id }, at) => all.findIndex((other) => other.id === id) === at));
  const sections = printedFindings(report).map(({ title, first: { status }, parts }) => {
    if (parts.length === 1) return parts.map(({ finding }) => findingPart(finding, first.has(finding))).join('');
    const own = parts.map(({ finding, reason }) =>
      findingPart({ ...finding, title: reason ?? '' }, first.has(finding)),
    );
    return `<section class="finding ${status}"><h3><span class="tag">${status}</span>${escapeHtml(title)}</h3>${own.join('\n')}</section>`;
  });
  return `<h2>Findings</h2>${sections.join('\n')}`;
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
  const shown = places.slice(0, 5).map((place) => `<li>${escapeHtml(placeText(place, 5))}</li>`);
  const more = places.slice(5, 100).map((place) => `<li>${escapeHtml(placeText(place, 5))}</li>`);
  const hidden = count - Math.min(count, 100);
  const rest =
    more.length === 0
      ? ''
      : `<details><summary>${countOf(count - 5, 'more place')}</summary><ul>${more.join('')}</ul>${hidden > 0 ? `<p class="soft">${formatCount(hidden)} more are in the JSON report of each source.</p>` : ''}</details>`;
  return `<section class="finding ${status}"${isFirst ? ` id="${escapeHtml(id)}"` : ''}><h3><span class="tag">${status}</span>${escapeHtml(title)}</h3><p class="meta"><code>${escapeHtml(id)}</code> · ${extentText(finding)}${isBlocker ? ' · blocks' : ''}</p><ul>${shown.join('')}</ul>${rest}${fix === undefined ? '' : `<p>${proseOf(example === undefined ? fix.text : `For example on ${example}: ${fix.text}`)}</p>`}${preOf(fix?.sql ?? [])}</section>`;
}

function servers({ servers: all }: InventoryReport): string {
  const rows = all.map(({ server, version = '', sources: count, also = [] }) => [
    codesOf([server]),
    escapeHtml(version),
    formatCount(count),
    escapeHtml(also.join(', ')),
  ]);
  return folded('Servers', ['Server', 'Version', '#Sources', 'Other addresses'], rows);
}

function sources({ sources: all }: InventoryReport): string {
  const rows = all.map((row) => [
    codesOf([row.name]),
    escapeHtml(verdictText(row)),
    escapeHtml(row.reason ?? row.blocked_by.join(', ')),
    (row.changes ?? []).map(escapeHtml).join('<br>'),
  ]);
  return folded('Sources', ['Source', 'Verdict', 'Blocked by', 'Changes since the baseline'], rows);
}

function folded(title: string, titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return foldOf(title, tableOf(titles, rows), { note: String(rows.length) });
}
