import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { quoteShellArg } from '../../../base/text.ts';
import type { BaselineChange } from '../baseline.ts';
import { type Entry, type Fresh, freshSentences, freshText, namesOf, type Part, resultsOf } from './entries.ts';
import { databaseRows, isOnlyBlockedByPassword, type Model } from './model.ts';

/** Terminal styles; each function returns its text unchanged when colour is off. */
type Ink = Readonly<Record<'bold' | 'dim' | 'red' | 'yellow', (text: string) => string>>;

export interface TerminalOptions {
  /** The changes since the baseline, if the preflight has a baseline. */
  readonly changes?: readonly BaselineChange[] | undefined;
  /** The file that the fix script was written to. */
  readonly fixFile?: string | undefined;
  /** The files that the whole report was written to; absent if the command has no option for them. */
  readonly reportFiles?: readonly string[] | undefined;
  /** The columns in which a warning has one row (default: 80). */
  readonly columns?: number | undefined;
  /** The command that the report suggests when the migration is possible. */
  readonly nextCommand?: string | undefined;
}

/**
 * Renders the report for a terminal: the verdict, the blockers and what to run, each premise with its option, what is
 * not migrated, and one row for each warning, so that the report of a source without blockers fits 24 rows of 80
 * columns. Only blockers follow with their details; report files have those of every finding.
 */
export function renderTerminal(model: Model, ink: Ink, options: TerminalOptions = {}): string {
  const { blockers, totals, sentence, source, server } = model;
  const fresh = freshSentences();
  const first = sanitizeReportLine([source, ...server].join(', '), 160);
  const parts = [
    [ink.bold(line(sentence)), first, ...(totals.length === 0 ? [] : [totals.join(', ')])],
    blockedBy(model),
    whatToRun(model, options, fresh),
    [...consequences(model), ...warningRows(model, ink, options.columns), ...furtherFacts(model, options)],
    databases(model),
    // The titles of the first blockers are above.
    ...blockers.map((one, at) => [
      ...head(one, ink, at < 5),
      ...one.parts.flatMap((part) => partLines(part, ink, fresh)),
    ]),
    options.changes === undefined ? [] : changesOf(options.changes),
  ];
  const shown = parts.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${shown.join('\n\n')}\n`;
}

function blockedBy({ report: { method }, blockers, loginNote }: Model): readonly string[] {
  if (blockers.length === 0) return [];
  const rows = blockers.slice(0, 5).map(({ title, place, ids }) => {
    const where = place === '' ? '' : ` in ${sanitizeReportLine(place, 30)}`;
    return indented(`${title}${where} (${ids.join(', ')})`);
  });
  const more = blockers.length > 5 ? [`  and ${blockers.length - 5} more, below`] : [];
  return [`The ${method} migration is blocked by`, ...rows, ...more, ...(loginNote === undefined ? [] : [loginNote])];
}

function whatToRun(model: Model, { fixFile, nextCommand }: TerminalOptions, fresh: Fresh): readonly string[] {
  const { report, steps } = model;
  if (report.ok) return nextCommand === undefined ? [] : [`What to run: ${nextCommand}`];
  const { amount, statements, restart, manual, isScriptRun, after, advice } = steps;
  const shown = statements.map(({ database, sql }) =>
    line(`${sql}${database === undefined ? '' : `  -- in ${database}`}`),
  );
  const isShort = shown.length <= 4 && shown.every((one) => one.length <= 76);
  // The script only renews a role that has expired, and the server does not say whether it has.
  const isPassword = isOnlyBlockedByPassword(report) && amount !== undefined;
  const others = manual.slice(0, 3).map(({ id, text }) => ({ id, text: fresh(text) }));
  return [
    ...(isPassword ? ['What to do: provide the correct password, and run the preflight again'] : []),
    ...(amount === undefined ? [] : [`${isPassword ? 'If the role has expired, run' : 'What to run'}: ${amount}`]),
    ...(isShort ? shown.map((one) => `  ${one}`) : []),
    ...(isShort && shown.length > 0 && restart ? ['  Then restart the server.'] : []),
    ...(amount === undefined ? [] : [`  ${scriptAdvice(model, fixFile, isScriptRun)}`]),
    ...steps.options.map((one) => `  ${one}`),
    ...(after === undefined || isPassword ? [] : [indented(after)]),
    ...(manual.length === 0 ? [] : [amount === undefined ? 'What to do' : 'What else to do']),
    ...others.flatMap(({ id, text }) => (text === undefined ? [] : [indented(`${id}: ${text}`)])),
    ...(manual.length > 3 ? [`  and ${manual.length - 3} more, below`] : []),
    ...(advice === undefined ? [] : [line(advice)]),
  ];
}

function scriptAdvice({ report }: Model, fixFile: string | undefined, isScriptRun: boolean): string {
  if (fixFile === undefined) return 'To write a script, add --fix-sql fix.sql --undo-sql undo.sql to this command.';
  const file = line(quoteShellArg(fixFile));
  if (report.engine === 'redis') return `Review ${file}; its first lines say how to run it.`;
  if (!isScriptRun) return `${file} has the fixes as comments, which psql skips: run each line by hand on the server.`;
  return `Review ${file}, then run: psql -X -v ON_ERROR_STOP=1 -f ${file} …`;
}

function consequences({ premises, losses }: Model): readonly string[] {
  return [
    ...premises.flatMap(({ text, settledBy, objects }) => [
      line(`Open premise: ${text}: ${settledBy}`),
      ...objects.map((row) => `  ${sanitizeReportLine(row, defaultColumns - 2)}`),
    ]),
    ...(losses.length === 0 ? [] : [line(`Not migrated: ${losses.join('; ')}`)]),
  ];
}

const defaultColumns = 80;

function warningRows({ warnings, report }: Model, ink: Ink, columns = defaultColumns): readonly string[] {
  return warnings.map(({ ids, title, place, status, first, parts }) => {
    const seen = parts.flatMap(({ observations }) => observations);
    const width = columns - status.length - 2;
    const text = `${ids.join(', ')}${report.databases.length < 2 || place === '' ? '' : ` in ${place}`}: ${title}`;
    const observed = seen.length === 1 ? `${text} (${seen[0]?.observed})` : text;
    const row = sanitizeReportLine(observed.length > width ? text : observed, width);
    return `${inkOf(first, ink)(`${status}:`)} ${row}`;
  });
}

/** Estimate, what was read, and where the details are. */
function furtherFacts(
  { estimate, rows, report, loginNote }: Model,
  { reportFiles }: TerminalOptions,
): readonly string[] {
  const isUnread = report.rows?.state === 'not_read';
  // Without a login not even the tables are known.
  const read = !isUnread ? rows : loginNote === undefined ? ['Rows were not read; --deep reads them.'] : [];
  const files = reportFiles?.map((file) => line(quoteShellArg(file))).join(', ');
  const details = files === '' ? 'Details of every finding: add --report preflight.html' : `Report: ${files}`;
  return [
    ...(estimate === undefined ? [] : [`Estimated duration: ${estimate}`]),
    ...read.map(line),
    ...(files === undefined ? [] : [details]),
  ];
}

/** How the verdicts of the databases differ; empty when all have the same verdict for the same reasons. */
function databases(model: Model): readonly string[] {
  const rows = databaseRows(model, 10);
  if (model.report.databases.length < 2 || rows.length < 2) return [];
  const shown = rows
    .slice(0, 10)
    .map(({ names, verdict, reasons, contents }) =>
      indented(`${namesOf(names, 5)}  ${verdict}${reasons === '' ? '' : `: ${reasons}`}  ${contents}`),
    );
  return ['Databases', ...shown, ...(rows.length > 10 ? [`  and ${rows.length - 10} other groups, in -o json`] : [])];
}

function head({ ids, title, status, first, databases: names }: Entry, ink: Ink, isTitled: boolean): readonly string[] {
  const blocked = first.blocks.length === 0 ? '' : ` (blocks ${first.blocks.join(' and ')})`;
  const where = names.length === 0 ? '' : ` in ${line(namesOf(names, 5))}`;
  const row = `${inkOf(first, ink)(`${status}:`)} ${ids.join(', ')}${where}${ink.dim(blocked)}`;
  return [row, ...(isTitled ? [] : [indented(title)])];
}

function partLines(part: Part, ink: Ink, fresh: Fresh): readonly string[] {
  const { reason, observations, first } = part;
  const { required, fix } = first;
  const [seen, ...others] = observations;
  const detail = freshText(part.detail, fresh);
  const text = freshText(part.fix, fresh) ?? 'as above';
  const apply = fix?.restart === true ? ' (restart)' : fix?.reload === true ? ' (reload)' : '';
  const needed = required === undefined ? '' : `required: ${required}`;
  const only = [`observed: ${seen?.observed}${needed === '' ? '' : `; ${needed}`}`, seen?.objects.join(', ') ?? ''];
  const lines = [
    ...(others.length === 0 ? only : [needed, ...resultsOf(part, ', in -o json')]),
    detail ?? '',
    fix === undefined ? '' : `fix: ${text}${apply}`,
  ];
  const head = reason === undefined ? [] : [ink.bold(indented(reason))];
  return [...head, ...lines.filter((one) => one !== '').map(indented)];
}

function changesOf(changes: readonly BaselineChange[]): readonly string[] {
  if (changes.length === 0) return ['No changes since the baseline.'];
  const rows = changes.map(({ id, database, before, after }) => {
    const name = database === undefined ? id : `${id} in ${database}`;
    const [was, is] = [before, after].map((one) => (one === undefined ? 'missing' : `${one.status} (${one.observed})`));
    return indented(`${name}: ${was} -> ${is}`);
  });
  return ['Changes since the baseline', ...rows];
}

/** Indents names and messages of the source, so that they never begin a line of the report. */
function indented(text: string): string {
  return `  ${sanitizeReportLine(text)}`;
}

function line(text: string): string {
  return sanitizeReportLine(text);
}

function inkOf({ status }: Entry['first'], ink: Ink): (text: string) => string {
  if (status === 'fail') return ink.red;
  return status === 'pass' || status === 'skip' || status === 'info' ? ink.bold : ink.yellow;
}
