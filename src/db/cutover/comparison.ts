import { usageError } from '../../base/errors.ts';
import type { Clock } from '../../platform/host.ts';
import type { TableDigest } from '../../postgresql/table-rows.ts';
import type { ComparisonResult, RehearsalServer, SequenceComparison, TableComparison } from './rehearse/report.ts';

export interface DatabaseComparisonOptions {
  readonly clock: Clock;
  /** The signal that aborts the comparison; the comparison then rejects. */
  readonly signal: AbortSignal;
  /** The maximum number of readings of tables that are not equal, because their rows may be changing. */
  readonly maxRounds: number;
  /** Milliseconds to wait until the target has received what the source wrote (PostgreSQL). */
  readonly catchUpTimeout: number;
  /**
   * Whether the caller proves, with counters of the source, that nothing was written during the comparison: one reading of both
   * sides at once is enough then.
   */
  readonly isQuiet?: boolean;
  /** Whether a table (`schema.table`) is compared (PostgreSQL; default: all). */
  readonly isChosen?: (database: string, table: string) => boolean;
  /** Called before each database is compared. */
  readonly onProgress: (progress: DatabaseComparisonProgress) => void;
}

interface DatabaseComparisonProgress {
  readonly database: string;
  /** The number of databases that are compared. */
  readonly done: number;
  readonly total: number;
}

/** `equal`: all compared data is equal; the report lists what was not compared. */
export type DatabaseComparisonResult = 'equal' | 'differs' | 'not_comparable';

export interface DatabaseComparisonEntry {
  readonly name: string;
  readonly state: DatabaseComparisonResult;
  /**
   * The tables of both servers; for Redis one entry named `keys`. `rows_source` or `rows_target` is null where the
   * table does not exist.
   */
  readonly tables: readonly TableComparison[];
  readonly sequences: readonly SequenceComparison[];
  /** What the end of a migration will still copy, as nouns; empty when none runs. */
  readonly left_to_stop?: readonly string[];
  /** What was not compared in this database, as nouns. */
  readonly not_compared: readonly string[];
  /** Why the whole database differs, or why it cannot be compared. */
  readonly error?: string;
}

/** The result of `compareDatabases` (schema_version 1), for `-o json`. */
export interface DatabaseComparisonReport {
  readonly schema_version: 1;
  readonly state: DatabaseComparisonResult;
  readonly engine: 'postgresql' | 'redis';
  readonly source: RehearsalServer;
  readonly target: RehearsalServer;
  readonly databases: readonly DatabaseComparisonEntry[];
  /** Kinds of data that no comparison includes, as nouns. */
  readonly not_compared: readonly string[];
  readonly started_at: string;
  readonly seconds: number;
}

/** Kinds of data that no comparison reads, as nouns. */
export const dataExcludedFromComparison: Readonly<Record<DatabaseComparisonReport['engine'], readonly string[]>> = {
  postgresql: [
    'roles, privileges and settings',
    'definitions of tables, indexes, constraints, views, functions and types',
  ],
  redis: ['ACL users, functions, scripts and settings', 'expiry of hash fields, and consumers of stream groups'],
};

/**
 * The report without large objects that differ: the end of the migration copies them, so they are compared after it. The table of
 * large objects has the only name without a dot.
 */
export function withoutLargeObjects(report: DatabaseComparisonReport): DatabaseComparisonReport {
  const databases = report.databases.map((one) => {
    const { state: _, ...parts } = one;
    const tables = one.tables.filter(({ name, state }) => name !== 'large objects' || state === 'equal');
    return tables.length === one.tables.length ? one : buildDatabaseComparisonEntry({ ...parts, tables });
  });
  return { ...report, databases, state: pickWorstComparisonResult(databases.map(({ state }) => state)) };
}

/** The worst of the comparison results: `differs` if there is one, else `not_comparable`. */
export function pickWorstComparisonResult(states: readonly DatabaseComparisonResult[]): DatabaseComparisonResult {
  return states.find((state) => state === 'differs') ?? states.find((state) => state === 'not_comparable') ?? 'equal';
}

/**
 * Derives the state of a database from the states of its tables and sequences. A sequence that neither server can read
 * has no state: the report lists it as not compared.
 */
export function buildDatabaseComparisonEntry(parts: Omit<DatabaseComparisonEntry, 'state'>): DatabaseComparisonEntry {
  const states = [...parts.tables, ...parts.sequences].map(({ state, accepted }): DatabaseComparisonResult => {
    if (accepted === true) return 'equal';
    if (state === 'differs' || state === 'not_copied' || state === 'not_carried') return 'differs';
    return state === 'not_comparable' ? 'not_comparable' : 'equal';
  });
  const { name, ...rest } = parts;
  return {
    name,
    state: pickWorstComparisonResult(parts.error === undefined ? states : [...states, 'not_comparable']),
    ...rest,
  };
}

/** Row counts by table name. */
type RowCounts = ReadonlyMap<string, number>;

/** The row count of each table: of the source before and after the count of the target. */
interface RowCountReadings {
  readonly before: RowCounts;
  readonly target: RowCounts;
  readonly after: RowCounts;
}

/** Whether another comparison may find the table equal. */
export function canTableBecomeEqual({ state }: Pick<TableComparison, 'state'>): boolean {
  return state === 'differs' || state === 'not_comparable';
}

export function compareRowCounts({ before, target, after }: RowCountReadings): readonly TableComparison[] {
  return [...before].map(([name, first]) => {
    const targetRows = target.get(name) ?? null;
    const last = after.get(name) ?? null;
    return {
      name,
      rows_source: last ?? first,
      rows_target: targetRows,
      state: comparisonState(first, targetRows, last),
    };
  });
}

/**
 * Compares like `compareRowCounts`, but a table is equal only if its rows are equal and did not change between the two
 * readings of the source.
 * @param isConfirmed the target has received all rows of the first reading, so rows that are missing on the target are
 * lost
 */
export function compareTableContents(
  { before, target, after }: TableContentReadings,
  isConfirmed: boolean,
): readonly TableComparison[] {
  const counts = { before: rowCounts(before), target: rowCounts(target), after: rowCounts(after) };
  return compareRowCounts(counts).map((one): TableComparison => {
    const [first, there, last] = [before, target, after].map((round) => round.get(one.name)?.digest);
    if (!isConfirmed && there !== undefined && first !== last) return { ...one, state: 'not_comparable' };
    if (one.state !== 'equal') return one;
    if (first !== last) return { ...one, state: 'not_comparable' };
    return there === first ? one : { ...one, state: 'differs' };
  });
}

export interface TableContentReadings {
  readonly before: ReadonlyMap<string, TableDigest>;
  readonly target: ReadonlyMap<string, TableDigest>;
  readonly after: ReadonlyMap<string, TableDigest>;
}

function rowCounts(contents: ReadonlyMap<string, TableDigest>): RowCounts {
  return new Map([...contents].map(([name, { rows }]) => [name, rows]));
}

function comparisonState(before: number, target: number | null, after: number | null): ComparisonResult {
  if (target === null) return 'differs';
  if (after === null) return 'not_comparable';
  if (after === before) return target === before ? 'equal' : 'differs';
  return target >= Math.min(before, after) && target <= Math.max(before, after) ? 'not_comparable' : 'differs';
}

/**
 * On the target, a sequence in use has the value from the time of the copy, or a value between that and the current
 * value on the source.
 */
export function compareSequences(
  before: SequenceStates,
  target: SequenceStates,
  after: SequenceStates,
): readonly SequenceComparison[] {
  return [...before].map(([name, first]) => {
    const there = target.get(name);
    const last = after.get(name) ?? first;
    if ([first, there, last].includes(unreadableSequenceState)) {
      const [source = null, target = null] = [last, there].map((value) =>
        value === unreadableSequenceState ? null : value,
      );
      return { name, source, target, state: 'not_comparable', acceptable: true };
    }
    return { name, source: last, target: there ?? null, state: sequenceComparison(first, there, last) };
  });
}

/** The state of a sequence that the role has no privilege to read. */
export const unreadableSequenceState = 'unreadable';

/** `last_value`, with a dot if `is_called` is false; null when it is not known; or `unreadableSequenceState`. */
type SequenceStates = ReadonlyMap<string, string | null>;

/** @param target the state on the target; undefined if the target has no such sequence */
function sequenceComparison(before: string | null, target: string | null | undefined, after: string | null) {
  if (target === undefined) return 'differs';
  // A sequence that was used on only one of the servers is not equal, even if its values are not known.
  if (after === null) return target === null || target.endsWith('.') ? 'not_compared' : 'differs';
  if (target === after) return 'equal';
  // Whether the sequence was used for the first time during the comparison.
  if (before === null) return 'not_comparable';
  if (target === null) return after.endsWith('.') ? 'not_compared' : 'differs';
  return isBetween(before, target, after) ? 'not_comparable' : 'differs';
}

/** Compares two states of a sequence: `last_value`, with a dot if `is_called` is false. */
function isBetween(one: string, value: string, other: string): boolean {
  if (one === other) return false;
  const [a, x, b] = [one, value, other].map((text) => BigInt(text.replace('.', '')));
  if (a === undefined || x === undefined || b === undefined) return false;
  return (a <= x && x <= b) || (b <= x && x <= a);
}

type Contents = Pick<DatabaseComparisonReport, 'state' | 'databases'>;

/**
 * Marks the tables and sequences that the user accepts without a comparison. What differs is never accepted, nor what another
 * comparison may still settle.
 */
export function acceptTables<Report extends Contents>(report: Report, accepted: readonly string[]): Report {
  if (accepted.length === 0) return report;
  const databases = report.databases.map((entry) => {
    const mark = <One extends Open>(one: One): One =>
      isAcceptable(one) && accepted.includes(`${entry.name}:${one.name}`) ? { ...one, accepted: true } : one;
    const { state: _, ...parts } = entry;
    return buildDatabaseComparisonEntry({
      ...parts,
      tables: entry.tables.map(mark),
      sequences: entry.sequences.map(mark),
    });
  });
  return { ...report, databases, state: pickWorstComparisonResult(databases.map(({ state }) => state)) };
}

type Open = DatabaseComparisonEntry['tables'][number] | DatabaseComparisonEntry['sequences'][number];

function isAcceptable({ state, acceptable }: Open): boolean {
  return state === 'not_comparable' && acceptable === true;
}

/**
 * The tables, as values of `--accept`, whose acceptance makes the comparison equal; none if something differs, or may be settled by
 * another comparison.
 */
export function listAcceptable({ state, databases }: Contents): readonly string[] {
  if (state !== 'not_comparable') return [];
  const open = databases.flatMap(({ name, state: own, error, tables, sequences }) => {
    if (own !== 'not_comparable') return [];
    if (error !== undefined) return [undefined];
    return [...tables, ...sequences]
      .filter((one) => one.state === 'not_comparable' && one.accepted !== true)
      .map((one) => (isAcceptable(one) ? `${name}:${one.name}` : undefined));
  });
  const known = open.filter((one) => one !== undefined);
  return known.length === open.length ? known : [];
}

/** What was accepted, with the reason why it was not compared. */
export function listAccepted({ databases }: Pick<Contents, 'databases'>): readonly string[] {
  return databases.flatMap(({ name, tables, sequences }) =>
    [...tables, ...sequences]
      .filter(({ accepted }) => accepted === true)
      .map((one) => `${name}:${one.name}${reasonOf(one)}`),
  );
}

/** Why it differs or was not compared, as far as it is known, behind its name. */
export function reasonOf(one: Open): string {
  return 'error' in one && one.error !== undefined ? ` (${one.error})` : '';
}

const acceptedForms = 'a table as DATABASE:SCHEMA.TABLE (Redis: db0:keys)';

/** Divides the values of `--accept`: one with a colon is a table, any other must be the id of a line. */
export function divideAccepted(
  values: readonly string[],
  lines: readonly string[],
): { readonly lines: readonly string[]; readonly tables: readonly string[] } {
  const tables = values.filter((value) => value.includes(':'));
  const unknown = values.find((value) => !value.includes(':') && !lines.includes(value));
  if (unknown !== undefined)
    throw usageError(
      `the value of --accept is wrong: ${unknown}`,
      lines.length === 0 ? `name ${acceptedForms}` : `name ${acceptedForms}, or a line: ${lines.join(', ')}`,
    );
  return { lines: values.filter((value) => lines.includes(value)), tables };
}
