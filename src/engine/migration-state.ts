import type { PostgresqlSource } from '../postgresql/source.ts';

export type MigrationJobStatus = 'running' | 'syncing' | 'done' | 'canceled' | 'error';

/** `pg_subscription_rel.srsubstate`: initialize, data copy, finished copy, synchronized, ready. A dump uses i, d and r. */
export type TableSyncState = 'i' | 'd' | 'f' | 's' | 'r';

export interface TableProgress {
  /** `schema.table`, not quoted. */
  readonly name: string;
  readonly stage: TableSyncState;
  /** Rows on the target; an estimate once the copy has ended. */
  readonly rows: number;
}

/** Phases in which nothing is transferred until their cause, the `reason` of the database, is gone. */
export type OutagePhase =
  | 'source_unreachable'
  | 'target_unreachable'
  | 'server_busy'
  | 'publication_missing'
  | 'link_down';

export type DatabaseMigrationPhase =
  | 'waiting'
  | 'schema'
  | 'connecting'
  | 'copying'
  | 'streaming'
  | OutagePhase
  | 'finishing'
  | 'done'
  | 'stopped'
  | 'error';

export type TransferMethod = 'continuous' | 'dump';

export interface DatabaseMigrationState {
  readonly name: string;
  readonly phase: DatabaseMigrationPhase;
  /** undefined until the method is chosen. */
  readonly method: TransferMethod | undefined;
  readonly tables: readonly TableProgress[];
  /** Bytes of changes that the target has not confirmed yet. */
  readonly lagBytes: number | undefined;
  /** Why nothing is transferred at the moment. */
  readonly reason: string | undefined;
  /** Why it failed. */
  readonly error: string | undefined;
  readonly warnings: readonly string[];
}

/** An object that the engine created and could not remove. */
export interface LeftoverObject {
  readonly side: 'source' | 'target';
  readonly database: string;
  /** Type and name: `replication slot cloudctl_…`. */
  readonly object: string;
  /** SQL that removes it, to be run in that database. */
  readonly statement: string;
  readonly reason: string;
}

export interface MigrationState {
  readonly status: MigrationJobStatus;
  /** Why the migration ended or failed. */
  readonly reason: string | undefined;
  /** `mixed`: some databases are replicated and some are dumped. */
  readonly method: TransferMethod | 'mixed' | undefined;
  readonly databases: readonly DatabaseMigrationState[];
  /** Warnings about the whole server, for example roles that could not be created. */
  readonly warnings: readonly string[];
  readonly leftovers: readonly LeftoverObject[];
}

/** The progress of one database, as the engine updates it. */
export interface DatabaseProgress {
  readonly name: string;
  phase: DatabaseMigrationPhase;
  method: TransferMethod | undefined;
  tables: readonly TableProgress[];
  lagBytes: number | undefined;
  reason: string | undefined;
  error: string | undefined;
  /** False: the source has no table to copy; undefined: not known yet. */
  hasTables: boolean | undefined;
  /** Every table was copied; replication may be impeded since. */
  isCopied: boolean;
  readonly warnings: string[];
  /** The role that writes to the database of the target, while the migration runs. */
  targetLogin: PostgresqlSource | undefined;
  /** Milliseconds of the virtual clock at which nothing was left to replicate for the first time. */
  idleSince: number | undefined;
  /** Consecutive polls after the idle time in which nothing was left to replicate. */
  idlePolls: number;
}

export function createDatabaseProgress(name: string): DatabaseProgress {
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

export function toDatabaseState({
  name,
  phase,
  method,
  tables,
  lagBytes,
  reason,
  error,
  warnings,
}: DatabaseProgress): DatabaseMigrationState {
  return { name, phase, method, tables, lagBytes, reason, error, warnings: [...warnings] };
}

/** Method of all databases together; undefined until one database has a method. */
export function methodOfAllDatabases(
  databases: readonly Pick<DatabaseProgress, 'method'>[],
): TransferMethod | 'mixed' | undefined {
  const methods = new Set(databases.flatMap(({ method }) => method ?? []));
  return methods.size > 1 ? 'mixed' : [...methods][0];
}

const endedPhases: readonly DatabaseMigrationPhase[] = ['done', 'stopped', 'error'];

export function hasMigrationEnded({ phase }: Pick<DatabaseProgress, 'phase'>): boolean {
  return endedPhases.includes(phase);
}

/** Records why nothing is transferred at the moment. */
export function recordDatabaseOutage(progress: DatabaseProgress, phase: OutagePhase, reason: string): void {
  progress.phase = phase;
  progress.reason = reason;
  progress.idleSince = undefined;
  progress.idlePolls = 0;
}

/** True when the initial copy of every running database has ended. */
export function areAllStreaming(databases: readonly Pick<DatabaseProgress, 'phase'>[]): boolean {
  const active = databases.filter((one) => !hasMigrationEnded(one));
  return active.length > 0 && active.every(({ phase }) => phase === 'streaming' || phase === 'finishing');
}
