import { sanitizeLine } from '../cli/sanitize.ts';
import type { DatabaseRehearsal, Leftover, RehearsalFailure, RehearsalReport, TableCount } from './rehearsal-report.ts';

/** Styles of the terminal; each gives its text back where there is no colour. */
export interface RehearsalTextStyles {
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** The report for a person: the outcome first, then the databases, then what would have failed. */
export function rehearsalText(report: RehearsalReport, ink: RehearsalTextStyles): string {
  const { failures, violations, warnings, left, databases, kept } = report;
  const parts = [
    [ink.bold(outcome(report)), serversLine(report)].join('\n'),
    databases.map(databaseLines).join('\n'),
    ...section('Would have failed', failures.map(failureLine), ink.red),
    ...section(
      'Rules that were broken while it ran',
      violations.map(({ rule, database, observed, hint }) => `${rule}${inDatabase(database)}: ${observed}; ${hint}`),
      ink.red,
    ),
    ...section(
      'Warnings',
      [...warnings, ...databases.flatMap(({ name, warnings: own }) => own.map((one) => `${name}: ${one}`))],
      ink.yellow,
    ),
    ...section('Could not be removed', left.map(leftoverLine), ink.red),
    left.length > 0
      ? 'Give these statements where they are named, or run the same command again: it removes first what is left.'
      : kept
        ? 'Nothing is left on the source; the copies stay on the target (--keep).'
        : 'Nothing of it is left, neither on the source nor on the target.',
  ];
  return `${parts.join('\n\n')}\n`;
}

/** One line of what is left and what removes it. */
export function leftoverLine({ side, database, object, statement, reason }: Leftover): string {
  return `${object} on the ${side}${inDatabase(database)} (${reason}): ${statement}`;
}

function outcome({ ok, method, failures, databases, seconds }: RehearsalReport): string {
  const tables = databases.flatMap((one) => one.tables);
  const rows = tables.reduce((sum, { rows_target: count }) => sum + (count ?? 0), 0);
  const took = `in ${seconds.toFixed(1)} s`;
  const how = method === 'dump' ? 'dump' : 'migration';
  return ok
    ? `The ${how} would have succeeded: ${formatQuantity(rows, 'row')} of ${formatQuantity(tables.length, 'table')} arrived and are equal, ${took}.`
    : `The ${how} would have failed: ${formatQuantity(failures.length, 'reason')}, ${took}.`;
}

function serversLine({ engine, source, target }: RehearsalReport): string {
  const name = engine === 'redis' ? 'Redis' : 'PostgreSQL';
  return sanitizeLine(
    `${source.host}:${source.port}, ${name} ${source.version} -> ${target.host}:${target.port}, ${name} ${target.version}`,
  );
}

/** Tables that are equal are counted; every other is named. */
function databaseLines({ name, method, seconds, tables, sequences }: DatabaseRehearsal): string {
  const [rows, there] = [sum(tables, 'rows_source'), sum(tables, 'rows_target')];
  const what =
    tables.length > 0 && tables.every((table) => table.name === 'keys')
      ? `${rows.toLocaleString('en')} keys on the source, ${there.toLocaleString('en')} on the target`
      : `${formatQuantity(tables.length, 'table')}, ${formatQuantity(rows, 'row')} on the source, ${there.toLocaleString('en')} on the target`;
  const equal = sequences.filter(({ state }) => state !== 'differs').length;
  const counted = sequences.length === 0 ? '' : `, ${equal} of ${formatQuantity(sequences.length, 'sequence')} equal`;
  const how = method === null ? '' : `  ${method}`;
  const odd = tables.filter(({ state }) => state !== 'equal').map(unequalTableLine);
  return [sanitizeLine(`${name}${how}  ${what}${counted}, ${seconds.toFixed(1)} s`), ...odd].join('\n');
}

function unequalTableLine({ name, state, rows_source: source, rows_target: target }: TableCount): string {
  const words = {
    equal: '',
    moving: `written to meanwhile: ${source} on the source, ${target} on the target between two counts`,
    differs: `${source} on the source, ${target ?? 'none'} on the target`,
    not_carried: `${source} rows are not carried over: the table is unlogged`,
    not_copied: 'not copied',
  } satisfies Record<TableCount['state'], string>;
  return `  ${sanitizeLine(`${name}: ${words[state]}`)}`;
}

function failureLine({ database, object, reason }: RehearsalFailure): string {
  return `${[database, object].filter((part) => part !== undefined).join(': ')}${database === undefined && object === undefined ? '' : ': '}${reason}`;
}

function section(title: string, lines: readonly string[], ink: (text: string) => string): readonly string[] {
  return lines.length === 0 ? [] : [[ink(title), ...lines.map((line) => `  ${sanitizeLine(line, 2000)}`)].join('\n')];
}

function inDatabase(database: string | undefined): string {
  return database === undefined || database === '' ? '' : ` in ${database}`;
}

function sum(tables: readonly TableCount[], side: 'rows_source' | 'rows_target'): number {
  return tables.reduce((total, table) => total + (table[side] ?? 0), 0);
}

function formatQuantity(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
}
