import type { TerminalStyles } from '../../cli/color.ts';
import { sanitizeReportLine } from '../../sanitize/terminal-text.ts';
import type { SourceInventoryFixStep } from '../order-source-inventory-fixes.ts';
import type { SourceInventoryFinding, SourceInventoryReport } from '../source-inventory-report.ts';
import {
  formatAffectedSourcesAndServers,
  formatFixStepGain,
  formatFixStepServers,
  formatInventoryFindingPlace,
  groupUncheckedSourcesByReason,
  listInventoryStepFixes,
  sourceInventorySummaryText,
  sourceInventoryVerdictSentence,
} from './inventory-text.ts';

/** The report for a terminal: the result, what to fix first, the findings, and the sources that need attention. */
export function renderTextSourceInventory(given: SourceInventoryReport, ink: TerminalStyles): string {
  const report = sanitizeReport(given);
  const lines = [
    ink.bold(sourceInventoryVerdictSentence(report)),
    ink.dim(sourceInventorySummaryText(report)),
    ...fixFirst(report, ink),
    ...unchecked(report, ink),
    ...findings(report, ink),
    ...changes(report, ink),
  ];
  return `${lines.join('\n')}\n`;
}

const shownSteps = 10;
const shownFindings = 20;
const shownPlaces = 3;
const shownNames = 5;

function fixFirst(report: SourceInventoryReport, ink: TerminalStyles): readonly string[] {
  const { fix_first: steps } = report;
  if (steps.length === 0) return [];
  const more = steps.length - shownSteps;
  return [
    '',
    ink.bold('What to fix first'),
    ...steps.slice(0, shownSteps).flatMap((step, at) => stepLines(report, step, at + 1, ink)),
    ...(more > 0 ? [`  and ${more} more steps, in -o json`] : []),
  ];
}

function stepLines(
  report: SourceInventoryReport,
  step: SourceInventoryFixStep,
  number: number,
  ink: TerminalStyles,
): string[] {
  const fixes = listInventoryStepFixes(report, step);
  const indent = '   ';
  return [
    line(`${number}. ${ink.bold(step.ids.join(' + '))}: ${formatFixStepGain(report, step)}`),
    ...fixes.map(({ title, text, restart }) =>
      line(`${indent}${title}${text === undefined ? '' : `. ${text}`}${restart ? ' (restart)' : ''}`),
    ),
    line(`${indent}on ${formatFixStepServers(step, shownPlaces)}`),
  ];
}

function unchecked(report: SourceInventoryReport, ink: TerminalStyles): readonly string[] {
  const reasons = groupUncheckedSourcesByReason(report);
  if (reasons.length === 0) return [];
  return [
    '',
    ink.bold('Not checked'),
    ...reasons.slice(0, shownFindings).map(({ reason, names }) => {
      const rest = names.length - shownNames;
      const shown = names.slice(0, shownNames).join(', ');
      return line(`${names.length}: ${reason}: ${shown}${rest > 0 ? ` and ${rest} more` : ''}`);
    }),
    ...(reasons.length > shownFindings ? [`  and ${reasons.length - shownFindings} more reasons, in -o json`] : []),
  ];
}

function findings(report: SourceInventoryReport, ink: TerminalStyles): readonly string[] {
  const { findings: all } = report;
  if (all.length === 0) return [];
  const more = all.length - shownFindings;
  return [
    '',
    ink.bold('Findings'),
    ...all.slice(0, shownFindings).flatMap((finding) => findingLines(finding, ink)),
    ...(more > 0 ? [`  and ${more} more, in -o json`] : []),
  ];
}

function findingLines(finding: SourceInventoryFinding, ink: TerminalStyles): string[] {
  const { id, status, title, places, place_count: count, is_blocker: isBlocker } = finding;
  const mark = status === 'fail' ? ink.red(status) : ink.yellow(status);
  const rest = count - shownPlaces;
  return [
    line(`${mark} ${id}: ${formatAffectedSourcesAndServers(finding)}${isBlocker ? ' (blocks)' : ''}`),
    line(`   ${title}`),
    ...places.slice(0, shownPlaces).map((place) => line(`   ${formatInventoryFindingPlace(place, shownNames)}`)),
    ...(rest > 0 ? [line(`   and ${rest} more places`)] : []),
  ];
}

function changes({ sources }: SourceInventoryReport, ink: TerminalStyles): readonly string[] {
  const changed = sources.filter(({ changes: own = [] }) => own.length > 0);
  if (changed.length === 0) return [];
  return [
    '',
    ink.bold('Changed since the baseline'),
    ...changed
      .slice(0, shownFindings)
      .flatMap(({ name, changes: own = [] }) => [
        line(`${name}: ${own[0]}${own.length > 1 ? `, and ${own.length - 1} more` : ''}`),
      ]),
    ...(changed.length > shownFindings ? [`  and ${changed.length - shownFindings} more sources`] : []),
  ];
}

function line(text: string): string {
  return `  ${text}`;
}

/** A copy of the report with every text of a server or a file made safe for a terminal. */
function sanitizeReport(report: SourceInventoryReport): SourceInventoryReport {
  return JSON.parse(JSON.stringify(report), (_key, value: unknown) =>
    typeof value === 'string' ? sanitizeReportLine(value) : value,
  );
}
