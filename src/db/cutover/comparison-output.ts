import { CliError } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { createTerminalStyles, isColorEnabled } from '../../cli/color.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { quoteShellArg } from '../../cli/shell-quote.ts';
import { listAcceptable } from './accept-tables.ts';
import { type DatabaseComparisonReport, withoutLargeObjects } from './comparison-report.ts';
import { formatDatabaseComparison } from './format-database-comparison.ts';

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
    const ink = await createTerminalStyles(
      isColorEnabled({ sink: host.stdout, env: host.env, noColor: globals.has('no-color') }),
    );
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
            .map((one) => `${name}: ${one.name}`),
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
