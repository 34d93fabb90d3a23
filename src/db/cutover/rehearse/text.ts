import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { countOf, formatCount } from '../../../base/text.ts';
import type {
  RehearsalFailure,
  RehearsalLeftover,
  RehearsalReport,
  RehearsedDatabase,
  TableComparison,
} from './report.ts';

/** Terminal styles of the report; without colours each function returns its text unchanged. */
export interface ReportStyles {
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/**
 * The rehearsal report as text: first the result, then the databases, then the errors that a migration would have had.
 */
export function renderRehearsal(report: RehearsalReport, styles: ReportStyles): string {
  const { failures, violations, warnings, left, databases, kept } = report;
  const parts = [
    [styles.bold(outcome(report)), formatServers(report)].join('\n'),
    databases.map(databaseLines).join('\n'),
    ...section('Would have failed', failures.map(failureLine), styles.red),
    ...section('Not proven', report.not_proven, styles.yellow),
    ...section(
      'Rules of the service that were broken during the rehearsal',
      violations.map(({ rule, database, observed, hint }) => `${rule}${inDatabase(database)}: ${observed}; ${hint}`),
      styles.red,
    ),
    ...section(
      'Warnings',
      [...warnings, ...databases.flatMap(({ name, warnings: own }) => own.map((one) => `${name}: ${one}`))],
      styles.yellow,
    ),
    ...section('Could not be removed', left.map(formatLeftover), styles.red),
    ...(report.not_compared.length === 0
      ? []
      : [sanitizeReportLine(`Not compared: ${report.not_compared.join('; ')}.`, 2000)]),
    left.length > 0
      ? 'To remove them, run these statements on the servers named, or run the same command again.'
      : kept
        ? 'Everything is removed from the source. The copies stay on the target (--keep).'
        : 'Everything that the rehearsal created is removed from source and target.',
  ];
  return `${parts.join('\n\n')}\n`;
}

/** One line for an object that could not be removed, with the statement that removes it. */
export function formatLeftover({ side, database, object, statement, reason }: RehearsalLeftover): string {
  return sanitizeReportLine(`${object} on the ${side}${inDatabase(database)} (${reason}): ${statement}`);
}

function outcome(report: RehearsalReport): string {
  const { ok, engine, method, failures, not_proven: unproven, databases, seconds } = report;
  const tables = databases.flatMap((one) => one.tables);
  const partly = tables.filter(({ state }) => state === 'partly_equal').length;
  const equal = tables.filter(({ state }) => state === 'equal' || state === 'partly_equal');
  const rows = equal.reduce((total, { rows_target: count }) => total + (count ?? 0), 0);
  const left = tables.length - equal.length;
  const others = [
    partly === 0 ? '' : `, ${countOf(partly, 'table')} except generated columns`,
    left === 0 ? '' : `; ${countOf(left, 'table')} could not be compared`,
  ].join('');
  const took = `in ${seconds.toFixed(1)} s`;
  const how = method === 'dump' ? 'dump' : 'migration';
  if (failures.length === 0 && unproven.length > 0)
    return `Not proven: no failure of the ${how} was found, and no data was found equal, ${took}.`;
  if (ok && engine === 'redis') {
    const keys = tables.reduce((total, one) => total + (one.rows_equal ?? 0), 0);
    return `The ${how} would have succeeded: ${formatCount(keys)} of ${countOf(sum(tables, 'rows_source'), 'key')} are equal on both servers, ${took}.`;
  }
  return ok
    ? `The ${how} would have succeeded: ${countOf(rows, 'row')} of ${countOf(equal.length, 'table')} are equal on both servers${others}, ${took}.`
    : `The ${how} would have failed: ${countOf(failures.length, 'reason')}, ${took}.`;
}

export function formatServers({
  engine,
  source,
  target,
}: Pick<RehearsalReport, 'engine' | 'source' | 'target'>): string {
  const name = engine === 'redis' ? 'Redis' : 'PostgreSQL';
  return sanitizeReportLine(
    `${source.host}:${source.port}, ${name} ${source.version} -> ${target.host}:${target.port}, ${name} ${target.version}`,
  );
}

/** The text gives the number of equal tables, and one line for each table that is not equal. */
function databaseLines({ name, method, seconds, tables, sequences }: RehearsedDatabase): string {
  const [rows, onTarget] = [sum(tables, 'rows_source'), sum(tables, 'rows_target')];
  const what =
    tables.length > 0 && tables.every((table) => table.name === 'keys')
      ? `${formatCount(rows)} keys on the source, ${formatCount(onTarget)} on the target`
      : `${countOf(tables.length, 'table')}, ${countOf(rows, 'row')} on the source, ${formatCount(onTarget)} on the target`;
  const equal = sequences.filter(({ state }) => state === 'equal').length;
  const unknown = sequences.filter(({ state }) => state === 'not_compared').length;
  const counted =
    sequences.length === 0
      ? ''
      : `, ${equal} of ${countOf(sequences.length, 'sequence')} equal${unknown === 0 ? '' : `, ${unknown} not used yet and not compared`}`;
  const how = method === null ? '' : `  ${method}`;
  const unequal = tables.filter(({ state }) => state !== 'equal').map(formatTable);
  return [sanitizeReportLine(`${name}${how}  ${what}${counted}, ${seconds.toFixed(1)} s`), ...unequal].join('\n');
}

/** One line for a table that is not equal: its name, and the difference. */
export function formatTable({ name, ...table }: TableComparison): string {
  const { state, error, columns_not_compared: columns = [], accepted } = table;
  if (accepted === true) return `  ${sanitizeReportLine(`not compared, accepted: ${name}: ${error}`)}`;
  const [source, target] = [table.rows_source, table.rows_target].map((rows) =>
    rows === null ? undefined : formatCount(rows),
  );
  const onBoth = `${source === undefined ? 'no table' : `${source} rows`} on the source, ${target ?? 'no table with these columns'} on the target`;
  const words = {
    equal: '',
    partly_equal: `${source} rows on both servers; not compared: ${formatGenerated(columns)}`,
    not_comparable: `${table.acceptable === true ? 'not compared' : 'the rows could not be compared'}: ${error ?? 'they changed during the comparison'} (${onBoth})`,
    differs: `${source === target ? `${source} rows on both servers, with other values on the target` : onBoth}${error === undefined ? '' : ` (${error})`}`,
    not_carried: `${source ?? 'unknown'} rows are not replicated, because the table is unlogged`,
    not_copied: 'not copied',
  } satisfies Record<TableComparison['state'], string>;
  return `  ${sanitizeReportLine(`${name}: ${words[state]}`)}`;
}

function formatGenerated(columns: readonly string[]): string {
  return `the generated column${columns.length === 1 ? '' : 's'} ${columns.join(', ')}`;
}

function failureLine({ database, object, reason }: RehearsalFailure): string {
  return `${[database, object].filter((part) => part !== undefined).join(': ')}${database === undefined && object === undefined ? '' : ': '}${reason}`;
}

function section(title: string, lines: readonly string[], ink: (text: string) => string): readonly string[] {
  return lines.length === 0
    ? []
    : [[ink(title), ...lines.map((line) => `  ${sanitizeReportLine(line, 2000)}`)].join('\n')];
}

function inDatabase(database: string | undefined): string {
  return database === undefined || database === '' ? '' : ` in ${database}`;
}

function sum(tables: readonly TableComparison[], side: 'rows_source' | 'rows_target'): number {
  return tables.reduce((total, table) => total + (table[side] ?? 0), 0);
}
