import { escapeMarkdown, markdownCodeCell } from '../../../base/sanitize.ts';
import { formatCount } from '../../../base/text.ts';
import { gridOf } from '../../preflight/formats/index.ts';
import type { InventoryReport, ReportFinding } from '../report.ts';
import {
  commonMethod,
  extentText,
  fixedBy,
  type PrintedFinding,
  placeText,
  printedFindings,
  resultSentence,
  stepPlacesText,
  summaryText,
  uncheckedReasons,
  verdictText,
} from './text.ts';

/** Renders the report as Markdown, for a change request or a wiki. */
export function renderMarkdown(report: InventoryReport): string {
  const { sources, started_at: startedAt, duration_ms: duration } = report;
  const parts = [
    `# Inventory: ${escapeMarkdown(resultSentence(report))}`,
    escapeMarkdown(summaryText(report)),
    ...fixFirst(report),
    ...unchecked(report),
    ...findings(report),
    '## Sources',
    gridOf(
      ['Source', 'Verdict', 'Blocked by', 'Changes since the baseline'],
      sources.map((row) => [
        markdownCodeCell(row.name),
        verdictText(row),
        escapeMarkdown(row.reason ?? row.blocked_by.join(', ')),
        row.changes === undefined ? '' : String(row.changes.length),
      ]),
    ),
    `Checked ${startedAt} in ${(duration / 1000).toFixed(1)} s with ${formatCount(report.summary.queries)} read-only statements.`,
  ];
  return `${parts.join('\n\n')}\n`;
}

const shownPlaces = 5;
const shownNames = 5;

function fixFirst(report: InventoryReport): readonly string[] {
  const { fix_first: steps } = report;
  if (steps.length === 0) return [];
  const rows = steps.map((step, at) => {
    const fixes = fixedBy(report, step).map(
      ({ id, text, title, restart }) =>
        `${markdownCodeCell(id)} ${escapeMarkdown(text ?? title)}${restart ? ' (restart)' : ''}`,
    );
    return [
      String(at + 1),
      fixes.join('<br>'),
      escapeMarkdown(stepPlacesText(step, shownPlaces)),
      formatCount(step.unblocks),
      `${formatCount(step.possible_after)} of ${formatCount(report.summary.sources)}`,
    ];
  });
  return [
    '## What to fix first',
    gridOf(['Step', 'Fix', 'Where', `Become ${commonMethod(report) ?? 'possible'}`, 'In all'], rows),
  ];
}

function unchecked(report: InventoryReport): readonly string[] {
  const reasons = uncheckedReasons(report);
  if (reasons.length === 0) return [];
  const rows = reasons.map(({ reason, names }) => [
    escapeMarkdown(reason),
    formatCount(names.length),
    names.slice(0, shownNames).map(markdownCodeCell).join(', ') + (names.length > shownNames ? ', …' : ''),
  ]);
  return ['## Not checked', gridOf(['Reason', 'Number', 'Sources'], rows)];
}

function findings(report: InventoryReport): readonly string[] {
  const all = printedFindings(report);
  if (all.length === 0) return [];
  const rows = all.map(({ title, first, parts }) => {
    const cellOf = (textOf: (part: PrintedFinding['parts'][number]) => string) => parts.map(textOf).join('<br>');
    return [
      cellOf(({ finding }) => markdownCodeCell(finding.id)),
      `${first.status}${first.is_blocker ? ', blocks' : ''}`,
      escapeMarkdown(title),
      cellOf(({ finding }) => extentText(finding)),
      cellOf(({ finding, reason }) => `${reason === undefined ? '' : `${reason}:<br>`}${placesOf(finding)}`),
    ];
  });
  return ['## Findings', gridOf(['Check', 'Status', 'Finding', 'Extent', 'Where'], rows)];
}

function placesOf({ places, place_count: count }: ReportFinding): string {
  const shown = places.slice(0, shownPlaces).map((place) => escapeMarkdown(placeText(place, shownNames)));
  return `${shown.join('<br>')}${count > shownPlaces ? '<br>…' : ''}`;
}
