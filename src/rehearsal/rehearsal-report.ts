/** `moving`: written to at every try, and the target lay between two counts of the source. */
export type ComparisonState = 'equal' | 'moving' | 'differs' | 'not_carried' | 'not_copied';

export interface TableCount {
  /** `schema.table`; of a Redis database `keys`. */
  readonly name: string;
  readonly rows_source: number | null;
  readonly rows_target: number | null;
  readonly state: ComparisonState;
  /** What the target said to its rows. */
  readonly error?: string;
}

export interface SequenceComparison {
  readonly name: string;
  readonly source: string;
  readonly target: string | null;
  readonly state: ComparisonState;
}

export interface DatabaseRehearsal {
  readonly name: string;
  readonly method: 'continuous' | 'dump' | null;
  /** Until every row had arrived, or until it was given up. */
  readonly seconds: number;
  readonly tables: readonly TableCount[];
  readonly sequences: readonly SequenceComparison[];
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** Something that would have failed in the migration. */
export interface RehearsalFailure {
  readonly database?: string;
  readonly object?: string;
  readonly reason: string;
}

/** What a rehearsal made and could not remove; the statement does. */
export interface Leftover {
  readonly side: 'source' | 'target';
  readonly database: string;
  readonly object: string;
  readonly statement: string;
  readonly reason: string;
}

export interface ObservedViolation {
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

/** The report of one rehearsal (schema_version 1), as `-o json` and `--report FILE` have it. */
export interface RehearsalReport {
  readonly schema_version: 1;
  readonly ok: boolean;
  readonly engine: 'postgresql' | 'redis';
  readonly method: 'continuous' | 'dump';
  readonly source: RehearsalServer;
  readonly target: RehearsalServer;
  readonly databases: readonly DatabaseRehearsal[];
  readonly failures: readonly RehearsalFailure[];
  /** Rules of the service that were broken while it ran, seen from the source. */
  readonly violations: readonly ObservedViolation[];
  readonly warnings: readonly string[];
  /** Empty: nothing of the rehearsal is left. */
  readonly left: readonly Leftover[];
  /** The copies stay on the target. */
  readonly kept: boolean;
  /** As `db preflight -o json` prints it. */
  readonly preflight: object;
  readonly started_at: string;
  readonly seconds: number;
}

/** Everything that would have failed, in the order of the databases. */
export function failuresOf(databases: readonly DatabaseRehearsal[]): readonly RehearsalFailure[] {
  return databases.flatMap(({ name: database, errors, tables, sequences }) => [
    ...errors.map((reason) => ({ database, reason })),
    ...tables.flatMap((table) => failureOf(database, table)),
    ...sequences
      .filter(({ state }) => state === 'differs')
      .map(({ name, source, target }) => ({
        database,
        object: name,
        reason: `the sequence is at ${source} on the source and ${target === null ? 'not there' : `at ${target}`} on the target`,
      })),
  ]);
}

function failureOf(
  database: string,
  { name: object, state, rows_source, rows_target, error }: TableCount,
): RehearsalFailure[] {
  if (state === 'not_copied') {
    return [{ database, object, reason: error ?? 'its rows were not copied' }];
  }
  if (state !== 'differs') return [];
  const there = rows_target === null ? 'is not there' : `has ${rows_target}`;
  return [{ database, object, reason: `the source has ${rows_source} rows, the target ${there}` }];
}
