import { CliError } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { countOf, formatCount, quoteShellArg } from '../../base/text.ts';
import { createStyles, usesColor } from '../../cli/color.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import {
  type DatabaseComparisonEntry,
  type DatabaseComparisonReport,
  type DatabaseComparisonResult,
  listAcceptable,
  reasonOf,
  withoutLargeObjects,
} from './comparison.ts';
import type { SequenceComparison, TableComparison } from './rehearse/report.ts';
import { formatServers, formatTable, type ReportStyles } from './rehearse/text.ts';

/**
 * Prints the comparison report: as text for the output format table, as one row per table and sequence for csv and
 * ndjson.
 */
export async function printDatabaseComparison(
  { output, globals, host }: CommandIo,
  report: DatabaseComparisonReport,
): Promise<void> {
  const isShaped = globals.values('format').length > 0 || globals.value('query') !== undefined;
  if (output.format === 'table' && !isShaped) {
    const ink = await createStyles(usesColor({ sink: host.stdout, env: host.env, noColor: globals.has('no-color') }));
    return output.prose(formatDatabaseComparison(report, ink));
  }
  if (output.format === 'csv' || output.format === 'ndjson' || globals.values('format').length > 0)
    return output.list(rowsOf(report), view);
  return output.data(report);
}

/**
 * The error of a comparison whose result is not equal: exit code 1 if something differs, 5 if something could not be
 * compared.
 */
export function buildDatabaseComparisonError(report: DatabaseComparisonReport, again: string): CliError {
  const { state, databases } = report;
  const isDifferent = state === 'differs';
  const found = databases.flatMap(({ name, state: own, error, tables, sequences }) =>
    own !== state
      ? []
      : error !== undefined
        ? [`${name}: ${error}`]
        : [...tables, ...sequences]
            .filter((one) => one.state === state && one.accepted !== true)
            .map((one) => `${name}: ${one.name}${reasonOf(one)}`),
  );
  const detail = `${found
    .slice(0, 5)
    .map((line) => sanitizeReportLine(line))
    .join('; ')}${found.length > 5 ? `; and ${found.length - 5} more` : ''}`;
  const acceptable = listAcceptable(report);
  return isDifferent
    ? new CliError('contents_differ', 'source and target differ', {
        detail,
        hint: `do not switch the application over; find out which server has the right rows with \`${again} -o json\``,
      })
    : new CliError('contents_not_comparable', 'not everything could be compared', {
        detail,
        hint:
          acceptable.length > 0
            ? `check ${acceptable.length === 1 ? 'it' : 'them'} yourself, then run \`${again}${acceptWords(acceptable)}\``
            : state === withoutLargeObjects(report).state
              ? 'stop all writes to both servers, wait until nothing is left to replicate, and run the command again'
              : `stop the migration, then run \`${again}\``,
      });
}

/** The options that accept these tables, after a command. */
export function acceptWords(tables: readonly string[]): string {
  return tables.map((table) => ` --accept ${quoteShellArg(table)}`).join('');
}

interface Row {
  readonly database: string;
  readonly kind: 'database' | 'table' | 'sequence';
  readonly name: string;
  readonly source: number | string | null;
  readonly target: number | string | null;
  readonly state: string;
  readonly error?: string | undefined;
}

/** One output row for each table and sequence. The values of a table are its numbers of rows on both servers. */
function rowsOf({ databases }: DatabaseComparisonReport): readonly Row[] {
  return databases.flatMap(({ name: database, state, error, tables, sequences }): readonly Row[] => [
    ...(error === undefined
      ? []
      : [{ database, kind: 'database' as const, name: database, source: null, target: null, state, error }]),
    ...tables.map(({ rows_source: source, rows_target: target, ...table }) => ({
      ...{ database, kind: 'table' as const, source, target },
      ...table,
    })),
    ...sequences.map((sequence) => ({ database, kind: 'sequence' as const, ...sequence })),
  ]);
}

const view = {
  isReport: true,
  columns: [
    { name: 'Database', value: (row: Row) => row.database },
    { name: 'Kind', value: (row: Row) => row.kind },
    { name: 'Name', value: (row: Row) => row.name },
    { name: 'Source', value: (row: Row) => row.source },
    { name: 'Target', value: (row: Row) => row.target },
    { name: 'State', value: (row: Row) => row.state },
    { name: 'Error', value: (row: Row) => row.error },
  ],
};

/**
 * The comparison report as text: first the result, then the differences in each database, then what was not compared.
 */
export function formatDatabaseComparison(report: DatabaseComparisonReport, styles: ReportStyles): string {
  const { databases, not_compared: never } = report;
  const left = [...databases.flatMap((one) => one.not_compared.map((what) => `${one.name}: ${what}`)), ...never];
  const toStop = databases.flatMap(({ name, left_to_stop: what = [] }) =>
    what.map((one) => `  ${sanitizeReportLine(`${name}: ${one}`)}`),
  );
  return `${[
    [styles.bold(resultLine(report)), formatServers(report)].join('\n'),
    ...(toStop.length === 0 ? [] : [['The stop of the migration still copies', ...toStop].join('\n')]),
    databases.map((one) => databaseLines(one, styles)).join('\n') || 'There are no databases.',
    [styles.yellow('Not compared'), ...left.map((line) => `  ${sanitizeReportLine(line)}`)].join('\n'),
  ].join('\n\n')}\n`;
}

function resultLine({ state, databases, engine, seconds }: DatabaseComparisonReport): string {
  const tables = databases
    .flatMap((one) => one.tables)
    .filter((one) => one.state === 'equal' || one.state === 'partly_equal');
  const rows = tables.reduce((sum, { rows_source: count }) => sum + (count ?? 0), 0);
  const what =
    engine === 'redis' ? countOf(rows, 'key') : `${countOf(rows, 'row')} of ${countOf(tables.length, 'table')}`;
  const all = databases.flatMap((one) => one.tables);
  const accepted = databases.flatMap((one) => one.tables).filter((one) => one.accepted === true).length;
  const open = all.length - tables.length - accepted;
  const failed = databases.filter(({ error }) => error !== undefined).length;
  const unknown = [
    ...(engine === 'redis' || open === 0 ? [] : [`${open} of ${countOf(all.length, 'table')}`]),
    ...(failed === 0 ? [] : [countOf(failed, 'database')]),
  ].join(' and ');
  const words = {
    equal: `Everything that was compared is equal: ${what}${accepted === 0 ? '' : `; ${accepted} not compared, accepted`}`,
    differs: 'Source and target differ',
    not_comparable: `Not proven: ${unknown === '' ? 'the contents' : unknown} could not be compared`,
  } satisfies Record<DatabaseComparisonResult, string>;
  return `${words[state]}, in ${seconds.toFixed(1)} s.`;
}

/** The text counts the tables that are equal in all columns, and has one line for every other table. */
function databaseLines(database: DatabaseComparisonEntry, styles: ReportStyles): string {
  const { name, state, tables, sequences, error } = database;
  const equal = tables.filter((table) => table.state === 'equal');
  const rows = equal.reduce((sum, { rows_source: count }) => sum + (count ?? 0), 0);
  const isRedis = tables.some((table) => table.name === 'keys');
  const counts = isRedis
    ? tables.map(keysText).join(', ')
    : [
        `${equal.length} of ${countOf(tables.length, 'table')} equal, with ${countOf(rows, 'row')}`,
        ...(sequences.length === 0
          ? []
          : [
              `${sequences.filter((one) => one.state === 'equal').length} of ${countOf(sequences.length, 'sequence')} equal`,
            ]),
      ].join(', ');
  const isPartly = tables.some((table) => table.state === 'partly_equal');
  const isAccepted = [...tables, ...sequences].some((one) => one.accepted === true);
  const words = {
    equal: isPartly ? 'equal, except generated columns' : isAccepted ? 'equal, except what was accepted' : 'equal',
    differs: styles.red('differs'),
    not_comparable: styles.yellow('not comparable'),
  };
  return [
    `${sanitizeReportLine(name)}  ${words[state]}  ${error === undefined ? counts : sanitizeReportLine(error)}`,
    ...tables.filter((table) => table.state !== 'equal').map(formatTable),
    ...sequences.filter((one) => one.state !== 'equal').map(sequenceLine),
  ].join('\n');
}

/** A difference, or a doubt, says nothing of the keys that are equal, so those are counted. */
function keysText({ state, rows_source: source, rows_equal: equal }: TableComparison): string {
  if (state === 'equal') return `${countOf(equal ?? source ?? 0, 'key')} equal`;
  if (equal === undefined) return countOf(source ?? 0, 'key');
  return `${formatCount(equal)} of ${countOf(source ?? 0, 'key')} equal${state === 'not_comparable' ? ' when read' : ''}`;
}

function sequenceLine({ name, state, source, target, accepted }: SequenceComparison): string {
  if (accepted === true)
    return `  ${sanitizeReportLine(`not compared, accepted: sequence ${name}: the user has no privilege on it`)}`;
  const words = {
    equal: '',
    differs: `${sequenceText(source)} on the source, ${sequenceText(target)} on the target`,
    not_comparable: 'not comparable: used during the comparison, or the user has no privilege on it',
    not_compared: 'not compared: not used yet',
  } satisfies Record<SequenceComparison['state'], string>;
  return `  ${sanitizeReportLine(`sequence ${name}: ${words[state]}`)}`;
}

/** A dot follows a sequence value that nextval has not returned yet. */
function sequenceText(value: string | null): string {
  if (value === null) return 'missing or not used';
  return value.endsWith('.') ? `${value.slice(0, -1)} is next` : `at ${value}`;
}
