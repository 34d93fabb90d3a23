import type { Clock, ProcessEnvironment } from '../../../platform/host.ts';

/**
 * `partly_equal`: the compared columns are equal, and the table has generated columns, which COPY cannot read.
 * `not_comparable`: the source table was written to, the target had not received all changes, or the rows cannot be
 * read.
 */
export type ComparisonResult = 'equal' | 'partly_equal' | 'not_comparable' | 'differs' | 'not_carried' | 'not_copied';

/**
 * `not_comparable`: the sequence was used during the comparison, or the role may not read it. `not_compared`: a server
 * before PostgreSQL 18 does not return the value of a sequence that was not used yet.
 */
type SequenceComparisonResult = 'equal' | 'not_comparable' | 'differs' | 'not_compared';

export interface TableComparison {
  /** The name of the table as `schema.table`; `keys` for a Redis database. */
  readonly name: string;
  readonly rows_source: number | null;
  readonly rows_target: number | null;
  /** The number of keys that are equal, or were when they were read (Redis). */
  readonly rows_equal?: number;
  readonly state: ComparisonResult;
  /** The error message of the target for rows of the table, or the reason why the rows cannot be compared. */
  readonly error?: string;
  /** Whether nothing but the word of a user settles a `not_comparable`: another comparison reads no more. */
  readonly acceptable?: true;
  /** Whether the user has accepted that the table is not compared. */
  readonly accepted?: true;
  /** Generated columns. */
  readonly columns_not_compared?: readonly string[];
}

export interface SequenceComparison {
  readonly name: string;
  /** null: not known. */
  readonly source: string | null;
  /** The value of the sequence; null if it is not known, or if there is no such sequence. */
  readonly target: string | null;
  readonly state: SequenceComparisonResult;
  /** As of a table. */
  readonly acceptable?: true;
  readonly accepted?: true;
}

export interface RehearsedDatabase {
  readonly name: string;
  readonly method: 'continuous' | 'dump' | null;
  /** Seconds until all rows were replicated, or until the rehearsal failed. */
  readonly seconds: number;
  readonly tables: readonly TableComparison[];
  readonly sequences: readonly SequenceComparison[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** An error that would have made the real migration fail. */
export interface RehearsalFailure {
  readonly database?: string;
  readonly object?: string;
  readonly reason: string;
}

/** An object that the rehearsal created and could not remove. `statement` removes it. */
export interface RehearsalLeftover {
  readonly side: 'source' | 'target';
  readonly database: string;
  readonly object: string;
  readonly statement: string;
  readonly reason: string;
}

export interface BrokenRule {
  readonly rule: string;
  readonly database?: string;
  readonly observed: string;
  readonly hint: string;
}

export interface RehearsalServer {
  readonly host: string;
  readonly port: number;
  readonly version: string;
}

/** The report of a rehearsal (schema_version 1) for `-o json` and `--report FILE`. */
export interface RehearsalReport {
  readonly schema_version: 1;
  readonly ok: boolean;
  readonly engine: 'postgresql' | 'redis';
  readonly method: 'continuous' | 'dump';
  readonly source: RehearsalServer;
  readonly target: RehearsalServer;
  readonly databases: readonly RehearsedDatabase[];
  readonly failures: readonly RehearsalFailure[];
  /** The databases of which nothing was proven to be equal, with the reason. */
  readonly not_proven: readonly string[];
  /** As nouns. */
  readonly not_compared: readonly string[];
  /** Rules of the service that were violated during the rehearsal. */
  readonly violations: readonly BrokenRule[];
  readonly warnings: readonly string[];
  /** The objects of the rehearsal that could not be removed. */
  readonly left: readonly RehearsalLeftover[];
  /** Whether the copied data stays on the target (`--keep`). */
  readonly kept: boolean;
  /** The report of the preflight, as `db preflight -o json` prints it. */
  readonly preflight: object;
  readonly started_at: string;
  readonly seconds: number;
}

/** The failures that the rehearsal found and that a migration would have had, in the order of the databases. */
export function failuresOf(databases: readonly RehearsedDatabase[]): readonly RehearsalFailure[] {
  return databases.flatMap(({ name: database, errors, tables, sequences }) => [
    ...errors.map((reason) => ({ database, reason })),
    ...tables.flatMap((table) => failureOf(database, table)),
    ...sequences
      .filter(({ state }) => state === 'differs')
      .map(({ name, source, target }) => ({
        database,
        object: name,
        reason: `the sequence is ${source === null ? 'not used' : `at ${source}`} on the source, and ${target === null ? 'missing or not used' : `at ${target}`} on the target`,
      })),
  ]);
}

/**
 * Why nothing proves the copy of a database: it has data, of which nothing was found equal, and no difference either. That
 * no failure was found is no success then.
 */
export function unprovenOf(databases: readonly RehearsedDatabase[]): readonly string[] {
  return databases.flatMap(({ name, tables }) => {
    const open = tables.filter(({ state }) => state === 'not_comparable');
    const equal = tables.reduce(
      (sum, { state, rows_target: rows, rows_equal: keys = 0 }) =>
        sum + (state === 'equal' || state === 'partly_equal' ? (rows ?? 0) : keys),
      0,
    );
    const [first] = open;
    if (first === undefined || equal > 0) return [];
    return [`${name}: ${first.name} could not be compared: ${first.error ?? 'the rows changed during the comparison'}`];
  });
}

function failureOf(
  database: string,
  { name: object, state, rows_source, rows_target, error }: TableComparison,
): RehearsalFailure[] {
  if (state === 'not_copied') {
    return [{ database, object, reason: error ?? 'the rows were not copied' }];
  }
  if (state !== 'differs') return [];
  if (rows_source === rows_target)
    return [{ database, object, reason: error ?? 'rows have other values on the target' }];
  const onTarget = rows_target === null ? 'the table is missing on the target' : `the target has ${rows_target}`;
  return [{ database, object, reason: `the source has ${rows_source} rows, and ${onTarget}` }];
}

/** What a rehearsal waits for at present. */
export interface Wait {
  /** The same for all waits of one kind; a new one is shown at once. */
  readonly key: string;
  /** The state, with its facts, such as `1 of 3 tables is being copied`. */
  readonly state: string;
  /** What ends it, as a clause. */
  readonly ends: string;
  /** Whether the engine has reported that every row is copied, which the source alone may not show. */
  readonly isCopied?: true;
}

/** The parameters of a rehearsal that both engines share. */
export interface RehearsalParams {
  readonly clock: Clock;
  readonly env: ProcessEnvironment;
  readonly random: (bytes: number) => Uint8Array;
  /** The signal with which the user aborts the rehearsal. */
  readonly signal: AbortSignal;
  /** Milliseconds without progress after which the rehearsal fails. */
  readonly stallTimeout: number;
  /** The maximum number of times that rows are counted while applications write to the source. */
  readonly maxRounds: number;
  /** Whether objects of PostgreSQL that only a superuser can create are created on the target. */
  readonly allowSuperuserObjects: boolean;
  readonly onWait: (wait: Wait) => void;
  /** Called after all data is compared, before the migration of the rehearsal is stopped. */
  readonly onCompared: () => void;
}

export interface RehearsalResult {
  readonly databases: readonly RehearsedDatabase[];
  /** Why the migration of the rehearsal could not start. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}
