import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { quoteShellArg } from '../../../cli/shell-quote.ts';
import type { PreflightBaselineChange } from '../baseline.ts';
import type { PreflightFindingStatus } from '../finding.ts';
import type { PreflightReport } from '../report.ts';
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
  formatNewGroupText,
  formatPremiseRows,
  groupFindings,
  type PreflightFindingGroup,
  type RepeatedSentenceFilter,
  selectBlockingFindingGroups,
  selectProblemGroups,
} from './finding-groups.ts';
import { collectStepsOfRequiredFixes } from './fix-steps.ts';
import {
  failedDatabaseLoginNote,
  formatCopyTimeRange,
  formatFindingStatus,
  formatIgnoreDatabasesAdvice,
  formatPreflightSourceWithUser,
  formatRowReadSummaryLines,
  formatSourceServer,
  isOnlyBlockedByPassword,
  verdictSentence,
} from './report-text.ts';

/** How the verdicts of the databases differ; empty when all have the same verdict for the same reasons. */
function renderDatabaseVerdictLines(report: PreflightReport): readonly string[] {
  const groups = groupDatabasesByVerdict(report);
  if (report.databases.length < 2 || (groups.length < 2 && report.databases.length > shownDatabases)) return [];
  const rows = report.databases.length <= shownDatabases ? report.databases.map((one) => [one]) : groups;
  return [
    'Databases',
    ...rows.slice(0, shownDatabases).map((group) => {
      const names = formatNameList(
        group.map(({ name }) => name),
        5,
      );
      const own = group[0] === undefined ? [] : selectDatabaseSpecificVerdictReasons(report, group[0]);
      const facts = summarizeDatabaseSizes(group).join(', ');
      return indentReportLines(
        `${names}  ${group[0]?.verdict}${own.length === 0 ? '' : `: ${own.join(', ')}`}  ${facts}`,
      );
    }),
    ...(rows.length > shownDatabases ? [`  and ${rows.length - shownDatabases} other groups, in -o json`] : []),
  ];
}

const shownDatabases = 10;

function renderBaselineChangeLines(changes: readonly PreflightBaselineChange[]): readonly string[] {
  if (changes.length === 0) return ['No changes since the baseline.'];
  const rows = changes.map(({ id, database, before, after }) => {
    const name = database === undefined ? id : `${id} in ${database}`;
    const was = before === undefined ? 'missing' : `${before.status} (${before.observed})`;
    const is = after === undefined ? 'missing' : `${after.status} (${after.observed})`;
    return indentReportLines(`${name}: ${was} -> ${is}`);
  });
  return ['Changes since the baseline', ...rows];
}

/** Indents names and messages of the source, so that they never begin a line of the report. */
function indentReportLines(text: string): string {
  return `  ${sanitizeReportLine(text)}`;
}

/** Terminal styles; each function returns its text unchanged when colour is off. */
interface TextStyles {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
}

export interface PreflightTextReportOptions {
  /** The changes since the baseline, if the preflight has a baseline. */
  readonly changes?: readonly PreflightBaselineChange[] | undefined;
  /** The file that the fix script was written to. */
  readonly fixFile?: string | undefined;
  /** The files that the whole report was written to; absent if the command has no option for them. */
  readonly reportFiles?: readonly string[] | undefined;
  /** The command that the report suggests when the migration is possible. */
  readonly nextCommand?: string | undefined;
}

/**
 * Renders the report for a terminal: the verdict, the blockers and what to run, each premise with its option, what is
 * not migrated, and one row for each warning, so that the report of a source without blockers fits 24 rows of 80
 * columns. Only blockers follow with their details; report files have those of every finding.
 */
export function renderTextPreflightReport(
  report: PreflightReport,
  ink: TextStyles,
  options: PreflightTextReportOptions = {},
): string {
  const groups = groupFindings(report.findings);
  const blocking = selectBlockingFindingGroups(report, groups);
  // The findings whose titles are already on the first screen of the report.
  const titled = new Set(blocking.slice(0, shownBlockers).map(({ first }) => first.id));
  const isNew = createRepeatedSentenceFilter();
  const parts = [
    [
      ink.bold(sanitizeReportLine(verdictSentence(report))),
      sanitizeReportLine(sourceLine(report), 160),
      ...totals(report),
    ],
    blockedBy(report, blocking),
    whatToRun(report, groups, options, isNew),
    [...consequences(report, groups), ...warnings(report, groups, blocking, ink), ...furtherFacts(report, options)],
    renderDatabaseVerdictLines(report),
    ...blocking.map((group) => entry(group, { ink, isTitled: titled.has(group.first.id), isNew })),
    options.changes === undefined ? [] : renderBaselineChangeLines(options.changes),
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

const shownBlockers = 5;

function sourceLine(report: PreflightReport): string {
  return [formatPreflightSourceWithUser(report), ...formatSourceServer(report)].join(', ');
}

function totals(report: PreflightReport): readonly string[] {
  const all = formatDatabaseTotals(report);
  return all.length === 0 ? [] : [all.join(', ')];
}

function blockedBy(report: PreflightReport, blockers: readonly PreflightFindingGroup[]): readonly string[] {
  if (blockers.length === 0) return [];
  const more = blockers.length - shownBlockers;
  const note = failedDatabaseLoginNote(report);
  return [
    `The ${report.method} migration is blocked by`,
    ...blockers.slice(0, shownBlockers).map(({ title, databases, first }) => {
      const where = describeFindingDatabases(databases);
      return indentReportLines(`${title}${where === '' ? '' : ` in ${sanitizeReportLine(where, 30)}`} (${first.id})`);
    }),
    ...(more > 0 ? [`  and ${more} more, below`] : []),
    ...(note === undefined ? [] : [note]),
  ];
}

function whatToRun(
  report: PreflightReport,
  groups: readonly PreflightFindingGroup[],
  { fixFile, nextCommand }: PreflightTextReportOptions,
  isNew: RepeatedSentenceFilter,
): readonly string[] {
  if (report.ok) return nextCommand === undefined ? [] : [`What to run: ${nextCommand}`];
  const { amount, statements, restart, manual, isScriptRun } = collectStepsOfRequiredFixes(report, groups);
  const shown = statements.map(({ database, sql }) =>
    sanitizeReportLine(`${sql}${database === undefined ? '' : `  -- in ${database}`}`),
  );
  const isShort = shown.length <= 4 && shown.every((one) => one.length <= 76);
  const after = verdictAfterFixesSentence(report);
  const advice = formatIgnoreDatabasesAdvice(report);
  // The script only renews a role that has expired, and the server does not say whether it has.
  const isPassword = isOnlyBlockedByPassword(report) && amount !== undefined;
  return [
    ...(isPassword ? ['What to do: provide the correct password, and run the preflight again'] : []),
    ...(amount === undefined ? [] : [`${isPassword ? 'If the role has expired, run' : 'What to run'}: ${amount}`]),
    ...(isShort ? shown.map((one) => `  ${one}`) : []),
    ...(isShort && shown.length > 0 && restart ? ['  Then restart the server.'] : []),
    ...(amount === undefined ? [] : [`  ${scriptAdvice(report, fixFile, isScriptRun)}`]),
    ...optionAdvice(groups, report),
    ...(amount === undefined || after === undefined || isPassword ? [] : [indentReportLines(after)]),
    ...(manual.length === 0 ? [] : [amount === undefined ? 'What to do' : 'What else to do']),
    ...manual.slice(0, shownManual).flatMap(({ id, text }) => manualLine(id, isNew(text))),
    ...(manual.length > shownManual ? [`  and ${manual.length - shownManual} more, below`] : []),
    ...(advice === undefined ? [] : [sanitizeReportLine(advice)]),
  ];
}

const shownManual = 3;

function manualLine(id: string, text: string | undefined): readonly string[] {
  return text === undefined ? [] : [indentReportLines(`${id}: ${text}`)];
}

/** Lines that suggest a command-line option in place of a manual fix: the option needs no change of the server. */
function optionAdvice(groups: readonly PreflightFindingGroup[], report: PreflightReport): readonly string[] {
  const blocking = new Set(selectBlockingFindingGroups(report, groups).map(({ first }) => first.id));
  const noTls = groups.some(({ first }) => first.id === 'tls-negotiate' && (first.fix?.shell ?? []).length > 0);
  // A host without any address is not helped by the option, and its fix does not name it.
  const isPrivate = groups.some(({ fixText }) => fixText?.text.includes('--allow-private'));
  return [
    ...(blocking.has('tls-negotiate') && noTls
      ? ['  Or add --disable-ssl to this command: the migration then sends every row unencrypted.']
      : []),
    ...(blocking.has('host-public-address') && isPrivate
      ? ['  If the service is on the same network as the source, add --allow-private.']
      : []),
  ];
}

function scriptAdvice({ engine }: PreflightReport, fixFile: string | undefined, isScriptRun: boolean): string {
  if (fixFile === undefined) return 'To write a script, add --fix-sql fix.sql --undo-sql undo.sql to this command.';
  const file = sanitizeReportLine(quoteShellArg(fixFile));
  if (engine === 'redis') return `Review ${file}; its first lines say how to run it.`;
  if (!isScriptRun) return `${file} has the fixes as comments, which psql skips: run each line by hand on the server.`;
  return `Review ${file}, then run: psql -X -v ON_ERROR_STOP=1 -f ${file} …`;
}

function consequences(report: PreflightReport, groups: readonly PreflightFindingGroup[]): readonly string[] {
  const losses = describeDataLoss(groups);
  return [
    ...formatPremiseRows(report, groups).flatMap(({ premise, objects }) => [
      sanitizeReportLine(`Open premise: ${premise}`),
      ...objects.map((row) => `  ${sanitizeReportLine(row, terminalWidth - 2)}`),
    ]),
    ...(losses.length === 0 ? [] : [sanitizeReportLine(`Not migrated: ${losses.join('; ')}`)]),
  ];
}

/** One row for each finding that blocks nothing and is not shown above as a premise or as a loss. */
function warnings(
  { databases: { length: count } }: PreflightReport,
  groups: readonly PreflightFindingGroup[],
  blocking: readonly PreflightFindingGroup[],
  ink: TextStyles,
): readonly string[] {
  const isShown = ({ first, findings }: PreflightFindingGroup): boolean =>
    first.status === 'unknown' || findings.some(({ dataLoss }) => dataLoss !== undefined);
  const rest = selectProblemGroups(groups).filter((group) => !isShown(group) && !blocking.includes(group));
  return rest.map(({ first, title, databases, observations }) => {
    const [one] = observations;
    const where = count < 2 || databases.length === 0 ? '' : ` in ${describeFindingDatabases(databases)}`;
    const status = formatFindingStatus(first);
    const width = terminalWidth - status.length - 2;
    const text = `${first.id}${where}: ${title}`;
    const observed = observations.length === 1 && one !== undefined ? `${text} (${one.observed})` : text;
    const row = sanitizeReportLine(observed.length > width ? text : observed, width);
    return `${paintOf(first.status, ink)(`${status}:`)} ${row}`;
  });
}

/** The columns of the terminal in which a warning has one row. */
const terminalWidth = 80;

const withoutReport = 'Details of every finding: add --report preflight.html';

/** Estimate, what was read, and where the details are. */
function furtherFacts(report: PreflightReport, { reportFiles }: PreflightTextReportOptions): readonly string[] {
  const estimate = formatCopyTimeRange(report);
  const read =
    report.rows?.state === 'not_read' ? ['Rows were not read; --deep reads them.'] : formatRowReadSummaryLines(report);
  // Without a login not even the tables are known.
  const isRowNoteUseless = report.rows?.state === 'not_read' && failedDatabaseLoginNote(report) !== undefined;
  const files = reportFiles?.map((file) => sanitizeReportLine(quoteShellArg(file))).join(', ');
  return [
    ...(estimate === undefined ? [] : [`Estimated duration: ${estimate}`]),
    ...(isRowNoteUseless ? [] : read.map((text) => sanitizeReportLine(text))),
    ...(files === undefined ? [] : [files === '' ? withoutReport : `Report: ${files}`]),
  ];
}

interface EntryOptions {
  readonly ink: TextStyles;
  /** The title of this finding is already on the first screen of the report. */
  readonly isTitled: boolean;
  readonly isNew: RepeatedSentenceFilter;
}

function entry(group: PreflightFindingGroup, { ink, isTitled, isNew }: EntryOptions): readonly string[] {
  const { first, title, databases: names, observations } = group;
  const { id, status, required, blocks, fix } = first;
  const blocked = blocks.length === 0 ? '' : ` (blocks ${blocks.join(' and ')})`;
  const mark = paintOf(status, ink)(`${formatFindingStatus(first)}:`);
  const detail = formatNewGroupText(group.detail, isNew);
  const fixText = formatNewGroupText(group.fixText, isNew) ?? 'as above';
  const apply = fix?.restart === true ? ' (restart)' : fix?.reload === true ? ' (reload)' : '';
  return [
    `${mark} ${id}${names.length === 0 ? '' : ` in ${sanitizeReportLine(formatNameList(names, 5))}`}${ink.dim(blocked)}`,
    ...(isTitled ? [] : [indentReportLines(title)]),
    ...observed(observations, required),
    ...(detail === undefined ? [] : [indentReportLines(detail)]),
    ...(fix === undefined ? [] : [indentReportLines(`fix: ${fixText}${apply}`)]),
  ];
}

/** The observed value, or the first few different values with their databases. */
function observed(observations: readonly FindingGroupObservation[], required: string | undefined): readonly string[] {
  const [first] = observations;
  if (first === undefined) return [];
  const needed = required === undefined ? '' : `; required: ${required}`;
  const list = (objects: readonly string[]) => (objects.length === 0 ? [] : [indentReportLines(objects.join(', '))]);
  if (observations.length === 1)
    return [indentReportLines(`observed: ${first.observed}${needed}`), ...list(first.objects)];
  const rest = observations.length - shownObservations;
  return [
    ...(required === undefined ? [] : [indentReportLines(`required: ${required}`)]),
    ...observations.slice(0, shownObservations).map(({ observed, objects, databases }) => {
      const what = objects.length === 0 ? '' : ` (${formatNameList(objects, 5)})`;
      return indentReportLines(`${formatNameList(databases, 3)}: ${observed}${what}`);
    }),
    ...(rest > 0 ? [`  and ${rest} other results, in -o json`] : []),
  ];
}

const shownObservations = 6;

function paintOf(status: PreflightFindingStatus, ink: TextStyles): (text: string) => string {
  if (status === 'fail') return ink.red;
  return status === 'warn' || status === 'unknown' ? ink.yellow : ink.bold;
}
