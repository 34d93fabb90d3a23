import type { Clock } from '../../platform/host.ts';
import type { RehearsalServer, SequenceComparison, TableComparison } from './rehearse/report.ts';

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
