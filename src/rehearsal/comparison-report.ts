import type { Clock } from '../platform/host.ts';
import type { RehearsalServer, SequenceComparison, TableCount } from './rehearsal-report.ts';

export interface ComparisonLimits {
  readonly clock: Clock;
  /** Aborts the comparison, which then rejects. */
  readonly signal: AbortSignal;
  /** The maximum number of readings of tables that are not equal, because their rows may be changing. */
  readonly maxRounds: number;
  /** Milliseconds to wait until the target has received what the source wrote (PostgreSQL). */
  readonly catchUpTimeout: number;
  /** Called before each database is compared. */
  readonly onProgress: (progress: ComparisonProgress) => void;
}

export interface ComparisonProgress {
  readonly database: string;
  /** The number of databases that are compared. */
  readonly done: number;
  readonly total: number;
}

/** `equal`: all compared data is equal; the report lists what was not compared. */
export type ComparisonResult = 'equal' | 'differs' | 'not_comparable';

export interface ComparedDatabase {
  readonly name: string;
  readonly state: ComparisonResult;
  /**
   * The tables of both servers; for Redis one entry named `keys`. `rows_source` or `rows_target` is null where the
   * table does not exist.
   */
  readonly tables: readonly TableCount[];
  readonly sequences: readonly SequenceComparison[];
  /** What was not compared in this database, as nouns. */
  readonly not_compared: readonly string[];
  /** Why the whole database differs, or why it cannot be compared. */
  readonly error?: string;
}

/** The result of `compareDatabases` (schema_version 1), for `-o json`. */
export interface ComparisonReport {
  readonly schema_version: 1;
  readonly state: ComparisonResult;
  readonly engine: 'postgresql' | 'redis';
  readonly source: RehearsalServer;
  readonly target: RehearsalServer;
  readonly databases: readonly ComparedDatabase[];
  /** Kinds of data that no comparison includes, as nouns. */
  readonly not_compared: readonly string[];
  readonly started_at: string;
  readonly seconds: number;
}

/** Kinds of data that no comparison reads, as nouns. */
export const excludedFromComparison: Readonly<Record<ComparisonReport['engine'], readonly string[]>> = {
  postgresql: [
    'roles, privileges and settings',
    'definitions of tables, indexes, constraints, views, functions and types',
  ],
  redis: ['ACL users, functions, scripts and settings', 'expiry of hash fields, and consumers of stream groups'],
};

/** The worst state: `differs`, then `not_comparable`. */
export function worstComparison(states: readonly ComparisonResult[]): ComparisonResult {
  return states.find((state) => state === 'differs') ?? states.find((state) => state === 'not_comparable') ?? 'equal';
}

/**
 * Derives the state of a database from the states of its tables and sequences. A sequence that neither server can read
 * has no state: the report lists it as not compared.
 */
export function comparedDatabase(parts: Omit<ComparedDatabase, 'state'>): ComparedDatabase {
  const states = [...parts.tables, ...parts.sequences].map(({ state }): ComparisonResult => {
    if (state === 'differs' || state === 'not_copied' || state === 'not_carried') return 'differs';
    return state === 'not_comparable' ? 'not_comparable' : 'equal';
  });
  const { name, ...rest } = parts;
  return { name, state: worstComparison(parts.error === undefined ? states : [...states, 'not_comparable']), ...rest };
}
