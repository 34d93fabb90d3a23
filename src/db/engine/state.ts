import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import type { StopReason } from './input.ts';

type EngineStatus = 'running' | 'syncing' | 'done' | 'canceled' | 'error';

/**
 * `pg_subscription_rel.srsubstate`: initialize, data copy, finished copy, synchronized, ready. A table in a dump has
 * the states i, d and r.
 */
export const tableSyncStates = ['i', 'd', 'f', 's', 'r'] as const;

export type TableSyncState = (typeof tableSyncStates)[number];

export interface TableProgress {
  /** `schema.table`, not quoted. */
  readonly name: string;
  readonly stage: TableSyncState;
  /** Number of rows on the target; an estimate after the copy has ended. */
  readonly rows: number;
}

/** Phases in which nothing is transferred until the cause, the `reason` of the database, is removed. */
export type StalledPhase =
  | 'source_unreachable'
  | 'target_unreachable'
  | 'server_busy'
  | 'publication_missing'
  | 'apply_stopped'
  | 'link_down';

export type DatabasePhase =
  | 'waiting'
  | 'schema'
  | 'connecting'
  | 'copying'
  | 'streaming'
  | StalledPhase
  | 'finishing'
  | 'done'
  | 'stopped'
  | 'error';

export type TransferMethod = 'continuous' | 'dump';

export interface DatabaseState {
  readonly name: string;
  readonly phase: DatabasePhase;
  /** The migration method; undefined until it is chosen. */
  readonly method: TransferMethod | undefined;
  readonly tables: readonly TableProgress[];
  /** Bytes of replicated changes that the target has not confirmed yet. */
  readonly lagBytes: number | undefined;
  /** Why the migration transfers no data at present. */
  readonly reason: string | undefined;
  /** Why it failed. */
  readonly error: string | undefined;
  readonly warnings: readonly string[];
}

/** An object that the engine created and could not remove. */
export interface Leftover {
  readonly side: 'source' | 'target';
  readonly database: string;
  /** Type and name of the object: `replication slot cloudctl_…`. */
  readonly object: string;
  /** SQL that removes the object, to be run in the database of the object. */
  readonly statement: string;
  readonly reason: string;
}

export interface EngineState {
  readonly status: EngineStatus;
  /** Why the migration ended, failed or is about to stop. */
  readonly reason: string | undefined;
  /** How the migration copies; `mixed`: some databases are replicated, and others are copied by dump. */
  readonly method: TransferMethod | 'mixed' | undefined;
  readonly databases: readonly DatabaseState[];
  /** Warnings about the whole server, for example roles that could not be created. */
  readonly warnings: readonly string[];
  readonly leftovers: readonly Leftover[];
}

/** The progress of one database, as the engine updates it. */
export interface DatabaseProgress {
  readonly name: string;
  phase: DatabasePhase;
  method: TransferMethod | undefined;
  tables: readonly TableProgress[];
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

export function initialDatabase(name: string): DatabaseProgress {
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

function snapshotDatabase({
  name,
  phase,
  method,
  tables,
  lagBytes,
  reason,
  error,
  warnings,
}: DatabaseProgress): DatabaseState {
  return { name, phase, method, tables, lagBytes, reason, error, warnings: [...warnings] };
}

/** The migration method of all databases together; undefined until the method of one database is chosen. */
function overallMethod(databases: readonly Pick<DatabaseProgress, 'method'>[]): TransferMethod | 'mixed' | undefined {
  const methods = new Set(databases.flatMap(({ method }) => method ?? []));
  return methods.size > 1 ? 'mixed' : [...methods][0];
}

const endedPhases: readonly DatabasePhase[] = ['done', 'stopped', 'error'];

export function isEnded({ phase }: Pick<DatabaseProgress, 'phase'>): boolean {
  return endedPhases.includes(phase);
}

/** Records why the migration transfers no data of this database at present. */
export function recordOutage(progress: DatabaseProgress, phase: StalledPhase, reason: string): void {
  progress.phase = phase;
  progress.reason = reason;
  progress.idleSince = undefined;
  progress.idlePolls = 0;
}

/** True when the initial copy of every running database has ended. */
export function allStreaming(databases: readonly Pick<DatabaseProgress, 'phase'>[]): boolean {
  const active = databases.filter((one) => !isEnded(one));
  return active.length > 0 && active.every(({ phase }) => phase === 'streaming' || phase === 'finishing');
}

/** The state of a running migration, as the engine updates it. */
export interface Progress {
  readonly databases: DatabaseProgress[];
  readonly leftovers: Leftover[];
  /** Warnings about the whole source or target server. */
  readonly warnings: string[];
  /** Why the migration could not start. */
  failure: string | undefined;
  /** Why the migration was told to stop; undefined if it was not. */
  stopReason: StopReason | undefined;
  isOver: boolean;
}

export function emptyProgress(): Progress {
  return { databases: [], leftovers: [], warnings: [], failure: undefined, stopReason: undefined, isOver: false };
}

export function snapshotProgress(progress: Progress): EngineState {
  const { status, reason } = overallStatus(progress);
  return {
    status,
    reason,
    method: overallMethod(progress.databases),
    databases: progress.databases.map(snapshotDatabase),
    warnings: [...progress.warnings],
    leftovers: [...progress.leftovers],
  };
}

function overallStatus(progress: Progress): Pick<EngineState, 'status' | 'reason'> {
  const { databases, stopReason, failure, isOver } = progress;
  // A database that is finishing still has its slot on the source, and the target lacks data.
  const hasEnded = isOver || (databases.length > 0 && databases.every(isEnded));
  if (stopReason !== undefined && hasEnded) return { status: 'canceled', reason: stopReason };
  if (failure !== undefined) return { status: 'error', reason: failure };
  const reasons = databases.flatMap(({ name, error, reason }) => {
    const text = error ?? reason;
    return text === undefined ? [] : [`${name}: ${text}`];
  });
  const reason = stopReason ?? (reasons.length === 0 ? undefined : reasons.join('; '));
  // Databases without tables, such as postgres, do not count for the method, because they say nothing about the other
  // databases.
  const withTables = databases.filter(({ hasTables }) => hasTables !== false);
  const counted = withTables.length === 0 ? databases : withTables;
  // A failed database does not stop the others. The status is that of the worst database when all have ended.
  if (hasEnded) return { status: counted.some(({ error }) => error !== undefined) ? 'error' : 'done', reason };
  const active = counted.every(isEnded) ? databases : counted;
  return { status: allStreaming(active) ? 'syncing' : 'running', reason };
}
