import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';

export type EngineMigrationStatus = 'running' | 'syncing' | 'done' | 'canceled' | 'error';

/**
 * `pg_subscription_rel.srsubstate`: initialize, data copy, finished copy, synchronized, ready. A table in a dump has
 * the states i, d and r.
 */
export const tableSyncStates = ['i', 'd', 'f', 's', 'r'] as const;

export type TableSyncState = (typeof tableSyncStates)[number];

export interface TableMigrationProgress {
  /** `schema.table`, not quoted. */
  readonly name: string;
  readonly stage: TableSyncState;
  /** Number of rows on the target; an estimate after the copy has ended. */
  readonly rows: number;
}

/** Phases in which nothing is transferred until the cause, the `reason` of the database, is removed. */
export type StalledMigrationPhase =
  | 'source_unreachable'
  | 'target_unreachable'
  | 'server_busy'
  | 'publication_missing'
  | 'apply_stopped'
  | 'link_down';

export type DatabaseMigrationPhase =
  | 'waiting'
  | 'schema'
  | 'connecting'
  | 'copying'
  | 'streaming'
  | StalledMigrationPhase
  | 'finishing'
  | 'done'
  | 'stopped'
  | 'error';

export type MigrationTransferMethod = 'continuous' | 'dump';

export interface DatabaseMigrationState {
  readonly name: string;
  readonly phase: DatabaseMigrationPhase;
  /** The migration method; undefined until it is chosen. */
  readonly method: MigrationTransferMethod | undefined;
  readonly tables: readonly TableMigrationProgress[];
  /** Bytes of replicated changes that the target has not confirmed yet. */
  readonly lagBytes: number | undefined;
  /** Why the migration transfers no data at present. */
  readonly reason: string | undefined;
  /** Why it failed. */
  readonly error: string | undefined;
  readonly warnings: readonly string[];
}

/** An object that the engine created and could not remove. */
export interface MigrationLeftoverObject {
  readonly side: 'source' | 'target';
  readonly database: string;
  /** Type and name of the object: `replication slot cloudctl_…`. */
  readonly object: string;
  /** SQL that removes the object, to be run in the database of the object. */
  readonly statement: string;
  readonly reason: string;
}

export interface EngineMigrationState {
  readonly status: EngineMigrationStatus;
  /** Why the migration ended, failed or is about to stop. */
  readonly reason: string | undefined;
  /** How the migration copies; `mixed`: some databases are replicated, and others are copied by dump. */
  readonly method: MigrationTransferMethod | 'mixed' | undefined;
  readonly databases: readonly DatabaseMigrationState[];
  /** Warnings about the whole server, for example roles that could not be created. */
  readonly warnings: readonly string[];
  readonly leftovers: readonly MigrationLeftoverObject[];
}

/** The progress of one database, as the engine updates it. */
export interface DatabaseMigrationProgress {
  readonly name: string;
  phase: DatabaseMigrationPhase;
  method: MigrationTransferMethod | undefined;
  tables: readonly TableMigrationProgress[];
  lagBytes: number | undefined;
  reason: string | undefined;
  error: string | undefined;
  /** False if the source has no table to copy; undefined if not known yet. */
  hasTables: boolean | undefined;
  /** Whether every table was copied; the replication may have failed since. */
  isCopied: boolean;
  readonly warnings: string[];
  /** The role that writes to the target database while the migration runs. */
  targetLogin: PostgresqlEndpoint | undefined;
  /** Time of the virtual clock, in milliseconds, since which nothing is left to replicate. */
  idleSince: number | undefined;
  /** Number of consecutive polls after the idle time in which nothing was left to replicate. */
  idlePolls: number;
}

export function createInitialDatabaseMigrationState(name: string): DatabaseMigrationProgress {
  return {
    name,
    phase: 'waiting',
    method: undefined,
    tables: [],
    lagBytes: undefined,
    reason: undefined,
    error: undefined,
    hasTables: undefined,
    isCopied: false,
    warnings: [],
    targetLogin: undefined,
    idleSince: undefined,
    idlePolls: 0,
  };
}

export function snapshotDatabaseMigrationProgress({
  name,
  phase,
  method,
  tables,
  lagBytes,
  reason,
  error,
  warnings,
}: DatabaseMigrationProgress): DatabaseMigrationState {
  return { name, phase, method, tables, lagBytes, reason, error, warnings: [...warnings] };
}

/** The migration method of all databases together; undefined until the method of one database is chosen. */
export function determineOverallTransferMethod(
  databases: readonly Pick<DatabaseMigrationProgress, 'method'>[],
): MigrationTransferMethod | 'mixed' | undefined {
  const methods = new Set(databases.flatMap(({ method }) => method ?? []));
  return methods.size > 1 ? 'mixed' : [...methods][0];
}

const endedPhases: readonly DatabaseMigrationPhase[] = ['done', 'stopped', 'error'];

export function hasDatabaseMigrationEnded({ phase }: Pick<DatabaseMigrationProgress, 'phase'>): boolean {
  return endedPhases.includes(phase);
}

/** Records why the migration transfers no data of this database at present. */
export function recordDatabaseMigrationOutage(
  progress: DatabaseMigrationProgress,
  phase: StalledMigrationPhase,
  reason: string,
): void {
  progress.phase = phase;
  progress.reason = reason;
  progress.idleSince = undefined;
  progress.idlePolls = 0;
}

/** True when the initial copy of every running database has ended. */
export function areAllDatabasesStreaming(databases: readonly Pick<DatabaseMigrationProgress, 'phase'>[]): boolean {
  const active = databases.filter((one) => !hasDatabaseMigrationEnded(one));
  return active.length > 0 && active.every(({ phase }) => phase === 'streaming' || phase === 'finishing');
}
