export type MigrationJobStatus = 'running' | 'syncing' | 'done' | 'canceled' | 'error';

/** `pg_subscription_rel.srsubstate`: not begun, copying, copied, caught up, ready. A dump goes from i over d to r. */
export type TableSyncState = 'i' | 'd' | 'f' | 's' | 'r';

export interface TableProgress {
  /** `schema.table`, as the server holds both names. */
  readonly name: string;
  readonly stage: TableSyncState;
  /** Rows that have arrived; an estimate once the copy is over. */
  readonly rows: number;
}

export type DatabaseMigrationPhase =
  | 'waiting'
  | 'schema'
  | 'connecting'
  | 'copying'
  | 'streaming'
  | 'finishing'
  | 'done'
  | 'stopped'
  | 'error';

export type TransferMethod = 'continuous' | 'dump';

export interface DatabaseMigrationState {
  readonly name: string;
  readonly phase: DatabaseMigrationPhase;
  /** undefined until it is known which one is possible. */
  readonly method: TransferMethod | undefined;
  readonly tables: readonly TableProgress[];
  /** What the source has written and the target has not taken yet. */
  readonly lagBytes: number | undefined;
  /** Why it ended. */
  readonly error: string | undefined;
  readonly warnings: readonly string[];
}

/** An object of ours that could not be removed. */
export interface LeftoverObject {
  readonly side: 'source' | 'target';
  readonly database: string;
  /** `replication slot x`. */
  readonly object: string;
  /** Removes it, given in that database. */
  readonly statement: string;
  readonly reason: string;
}

export interface MigrationState {
  readonly status: MigrationJobStatus;
  /** Why it ended, or what stands in the way. */
  readonly reason: string | undefined;
  /** `mixed`: of several databases some are dumped. */
  readonly method: TransferMethod | 'mixed' | undefined;
  readonly databases: readonly DatabaseMigrationState[];
  /** Of the whole server, such as roles that could not be made. */
  readonly warnings: readonly string[];
  readonly leftovers: readonly LeftoverObject[];
}

/** A database that is on its way: the engine writes here what others read. */
export interface DatabaseProgress {
  readonly name: string;
  phase: DatabaseMigrationPhase;
  method: TransferMethod | undefined;
  tables: readonly TableProgress[];
  lagBytes: number | undefined;
  error: string | undefined;
  readonly warnings: string[];
  /** Milliseconds of the virtual clock since when nothing was left to replicate. */
  idleSince: number | undefined;
  /** Looks in a row that have found it so for long enough. */
  idleLooks: number;
}

export function createDatabaseProgress(name: string): DatabaseProgress {
  return {
    name,
    phase: 'waiting',
    method: undefined,
    tables: [],
    lagBytes: undefined,
    error: undefined,
    warnings: [],
    idleSince: undefined,
    idleLooks: 0,
  };
}

export function toDatabaseState({
  name,
  phase,
  method,
  tables,
  lagBytes,
  error,
  warnings,
}: DatabaseProgress): DatabaseMigrationState {
  return { name, phase, method, tables, lagBytes, error, warnings: [...warnings] };
}

/** Of all databases that have a method; undefined while none has. */
export function combinedMethod(
  databases: readonly Pick<DatabaseProgress, 'method'>[],
): TransferMethod | 'mixed' | undefined {
  const methods = new Set(databases.flatMap(({ method }) => method ?? []));
  return methods.size > 1 ? 'mixed' : [...methods][0];
}

const endedPhases: readonly DatabaseMigrationPhase[] = ['done', 'stopped', 'error'];

export function hasEnded({ phase }: Pick<DatabaseProgress, 'phase'>): boolean {
  return endedPhases.includes(phase);
}

/** Every table that is still on its way is ready: what is left is to follow the source. */
export function areAllStreaming(databases: readonly Pick<DatabaseProgress, 'phase'>[]): boolean {
  const living = databases.filter((one) => !hasEnded(one));
  return living.length > 0 && living.every(({ phase }) => phase === 'streaming' || phase === 'finishing');
}
