import type { Clock } from '../platform/host.ts';
import type { RehearsalServer, SequenceComparison, TableCount } from './rehearsal-report.ts';

export interface ComparisonLimits {
  readonly clock: Clock;
  /** Ends the comparison, which then rejects. */
  readonly signal: AbortSignal;
  /** The largest number of readings of what is not equal, since it may have been changing. */
  readonly maxRounds: number;
  /** Milliseconds to wait until the target has received what the source wrote (PostgreSQL). */
  readonly catchUpTimeout: number;
  /** Called before each database. */
  readonly onProgress: (progress: ComparisonProgress) => void;
}

export interface ComparisonProgress {
  readonly database: string;
  /** Databases that are compared. */
  readonly done: number;
  readonly total: number;
}

/** `equal`: everything that was compared is equal; each report lists what was not compared. */
export type ComparisonResult = 'equal' | 'differs' | 'not_comparable';

export interface ComparedDatabase {
  readonly name: string;
  readonly state: ComparisonResult;
  /** Tables of both servers; for Redis one entry `keys`. `rows_source` or `rows_target` is null where the table does not exist. */
  readonly tables: readonly TableCount[];
  readonly sequences: readonly SequenceComparison[];
  /** What of this database was not compared, as nouns. */
  readonly not_compared: readonly string[];
  /** Why the whole database differs or cannot be compared. */
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
  /** What is never compared, as nouns. */
  readonly not_compared: readonly string[];
  readonly started_at: string;
  readonly seconds: number;
}

/** What no comparison reads, as nouns. */
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

/** The state of a database by its parts. Of a sequence that no server can read nothing is claimed: it is listed as not compared. */
export function comparedDatabase(parts: Omit<ComparedDatabase, 'state'>): ComparedDatabase {
  const states = [...parts.tables, ...parts.sequences].map(({ state }): ComparisonResult => {
    if (state === 'differs' || state === 'not_copied' || state === 'not_carried') return 'differs';
    return state === 'not_comparable' ? 'not_comparable' : 'equal';
  });
  const { name, ...rest } = parts;
  return { name, state: worstComparison(parts.error === undefined ? states : [...states, 'not_comparable']), ...rest };
}
