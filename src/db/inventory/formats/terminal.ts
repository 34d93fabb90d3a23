import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { countOf, formatCount, quoteShellArg } from '../../../base/text.ts';
import type { TerminalStyles } from '../../../cli/color.ts';
import type { FixStep, InventoryReport, ReportFinding, ReportRow } from '../report.ts';
import {
  commonMethod,
  extentText,
  firstFixSentence,
  fixedBy,
  gainText,
  type PrintedFinding,
  placeText,
  printedFindings,
  resultSentence,
  stepPlacesText,
  summaryText,
  uncheckedReasons,
  uncheckedText,
} from './text.ts';

/**
 * The report for a terminal. The first screen of 24 lines with 80 columns has the result, what was not checked, what to fix first
 * and the next command. The other fixes, the sources that were not checked, findings and changes follow.
 */
export function renderTerminal(given: InventoryReport, ink: TerminalStyles): string {
  const report = sanitizeReport(given);
  const lines = [
    ink.bold(resultSentence(report)),
    ink.dim(summaryText(report)),
    ...(report.summary.not_checked === 0 ? [] : [`Not checked: ${uncheckedText(report, 3)}`]),
    ...fixFirst(report, ink),
    ...whatToRun(report),
    ...furtherSteps(report, ink),
    ...unchecked(report, ink),
    ...findings(report, ink),
    ...changes(report, ink),
  ];
  return `${lines.join('\n')}\n`;
}

/** Steps on the first screen, and in all. */
const firstSteps = 3;
const shownSteps = 10;
const shownFindings = 20;
const shownPlaces = 3;
const shownNames = 5;

function fixFirst(report: InventoryReport, ink: TerminalStyles): readonly string[] {
  const { fix_first: steps } = report;
  if (steps.length === 0) return [];
  const more = steps.length - firstSteps;
  return [
    '',
    ink.bold('What to fix first'),
    ...steps.slice(0, firstSteps).flatMap((step, at) => stepLines(report, step, at + 1, ink)),
    ...(more > 0 ? [line(`and ${countOf(more, 'more step')}, below`)] : []),
  ];
}

function stepLines(report: InventoryReport, step: FixStep, number: number, ink: TerminalStyles): string[] {
  const indent = '   ';
  return [
    line(`${number}. ${ink.bold(step.ids.join(' + '))}: ${gainText(report, step)}`),
    ...fixedBy(report, step).map(({ title, restart }) => line(`${indent}${title}${restart ? ' (restart)' : ''}`)),
    line(`${indent}${stepPlacesText(step, 1)}`),
  ];
}

function whatToRun(report: InventoryReport): readonly string[] {
  const { fix_first: steps, sources, summary, findings: all } = report;
  const scripted = new Set(
    all.filter(({ is_blocker: isBlocker, fix }) => isBlocker && (fix?.sql.length ?? 0) > 0).map(({ id }) => id),
  );
  // Without a login there is nothing to write a script about.
  const blocked = steps
    .filter(({ unblocks }) => unblocks > 0)
    .flatMap((step) => sources.find((row) => isScriptedBy(row, step, scripted)) ?? [])[0];
  if (blocked !== undefined) {
    const command = `cloudctl db preflight --fix-sql fix.sql --source ${quoteShellArg(blocked.url)}`;
    // A command at the end of a line is not broken.
    return [
      '',
      `To write the fixes of ${blocked.server} to a script, add the options that you gave to the inventory: ${command}`,
    ];
  }
  if (summary.possible < summary.sources || commonMethod(report) !== 'continuous') return [];
  return ['', 'What to run, for each source: `cloudctl db migrate CLUSTER_UUID --source URL`'];
}

/** Whether a script can fix a finding of the step on a source, which is on the server with the most sources of the step. */
function isScriptedBy(
  { server, blocked_by: blockedBy }: ReportRow,
  { servers, ids }: FixStep,
  scripted: ReadonlySet<string>,
): boolean {
  return server === servers[0]?.server && blockedBy.some((id) => ids.includes(id) && scripted.has(id));
}

function furtherSteps(report: InventoryReport, ink: TerminalStyles): readonly string[] {
  const steps = report.fix_first.slice(firstSteps, shownSteps);
  if (steps.length === 0) return [];
  const more = report.fix_first.length - shownSteps;
  return [
    '',
    ink.bold('What to fix then'),
    ...steps.flatMap((step, at) => stepLines(report, step, firstSteps + at + 1, ink)),
    ...(more > 0 ? [line(`and ${countOf(more, 'more step')}, in -o json`)] : []),
  ];
}

function unchecked(report: InventoryReport, ink: TerminalStyles): readonly string[] {
  const reasons = uncheckedReasons(report);
  if (reasons.length === 0) return [];
  return [
    '',
    ink.bold('Not checked'),
    ...reasons.slice(0, shownFindings).flatMap(({ reason, names }) => {
      const rest = names.length - shownNames;
      const shown = names.slice(0, shownNames).join(', ');
      return [
        line(`${formatCount(names.length)}: ${reason}`),
        line(`   ${shown}${rest > 0 ? ` and ${formatCount(rest)} more` : ''}`),
      ];
    }),
    ...(reasons.length > shownFindings ? [`  and ${reasons.length - shownFindings} more reasons, in -o json`] : []),
    line('To check them again, run the same command; -o ndjson prints their names and reasons.'),
  ];
}

function findings(report: InventoryReport, ink: TerminalStyles): readonly string[] {
  const all = printedFindings(report);
  if (all.length === 0) return [];
  const more = all.length - shownFindings;
  return [
    '',
    ink.bold('Findings'),
    ...all.slice(0, shownFindings).flatMap((finding) => findingLines(finding, ink)),
    ...(more > 0 ? [`  and ${more} more, in -o json`] : []),
  ];
}

function findingLines({ title, first, parts }: PrintedFinding, ink: TerminalStyles): string[] {
  const { status, is_blocker: isBlocker } = first;
  const mark = status === 'fail' ? ink.red(status) : ink.yellow(status);
  const blocks = isBlocker ? ' (blocks)' : '';
  if (parts.length === 1)
    return [line(`${mark} ${first.id}: ${extentText(first)}${blocks}`), line(`   ${title}`), ...placeLines(first)];
  return [
    line(`${mark} ${title}${blocks}`),
    ...parts.flatMap(({ finding, reason }) => [
      line(`   ${reason}: ${extentText(finding)}`),
      ...placeLines(finding).map((text) => `   ${text}`),
    ]),
  ];
}

function placeLines(finding: ReportFinding): string[] {
  const { places, place_count: count } = finding;
  const rest = count - shownPlaces;
  const fix = firstFixSentence(finding);
  return [
    ...(fix === undefined ? [] : [line(`   Fix: ${fix}`)]),
    ...places.slice(0, shownPlaces).map((place) => line(`   ${placeText(place, shownNames)}`)),
    ...(rest > 0 ? [line(`   and ${formatCount(rest)} more places`)] : []),
  ];
}

function changes({ sources }: InventoryReport, ink: TerminalStyles): readonly string[] {
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
function sanitizeReport(report: InventoryReport): InventoryReport {
  return JSON.parse(JSON.stringify(report), (_key, value: unknown) =>
    typeof value === 'string' ? sanitizeReportLine(value) : value,
  );
}
