export type MigrationStatus = 'running' | 'syncing' | 'done' | 'canceled' | 'error';

/** `pg_subscription_rel.srsubstate`: not begun, copying, copied, caught up, ready. A dump goes from i over d to r. */
export type TableStage = 'i' | 'd' | 'f' | 's' | 'r';

export interface TableState {
  /** `schema.table`, as the server holds both names. */
  readonly name: string;
  readonly stage: TableStage;
  /** Rows that have arrived; an estimate once the copy is over. */
  readonly rows: number;
}

export type DatabasePhase =
  | 'waiting'
  | 'schema'
  | 'connecting'
  | 'copying'
  | 'streaming'
  | 'finishing'
  | 'done'
  | 'stopped'
  | 'error';

export type Method = 'continuous' | 'dump';

export interface DatabaseState {
  readonly name: string;
  readonly phase: DatabasePhase;
  /** undefined until it is known which one is possible. */
  readonly method: Method | undefined;
  readonly tables: readonly TableState[];
  /** What the source has written and the target has not taken yet. */
  readonly lagBytes: number | undefined;
  /** Why it ended. */
  readonly error: string | undefined;
  readonly warnings: readonly string[];
}

/** An object of ours that could not be removed. */
export interface Leftover {
  readonly side: 'source' | 'target';
  readonly database: string;
  /** `replication slot x`. */
  readonly object: string;
  /** Removes it, given in that database. */
  readonly statement: string;
  readonly reason: string;
}

export interface MigrationState {
  readonly status: MigrationStatus;
  /** Why it ended, or what stands in the way. */
  readonly reason: string | undefined;
  /** `mixed`: of several databases some are dumped. */
  readonly method: Method | 'mixed' | undefined;
  readonly databases: readonly DatabaseState[];
  /** Of the whole server, such as roles that could not be made. */
  readonly warnings: readonly string[];
  readonly leftovers: readonly Leftover[];
}

/** A database that is on its way: the engine writes here what others read. */
export interface Progress {
  readonly name: string;
  phase: DatabasePhase;
  method: Method | undefined;
  tables: readonly TableState[];
  lagBytes: number | undefined;
  error: string | undefined;
  readonly warnings: string[];
  /** Milliseconds of the virtual clock since when nothing was left to replicate. */
  idleSince: number | undefined;
  /** Looks in a row that have found it so for long enough. */
  idleLooks: number;
}

export function newProgress(name: string): Progress {
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

export function shown({ name, phase, method, tables, lagBytes, error, warnings }: Progress): DatabaseState {
  return { name, phase, method, tables, lagBytes, error, warnings: [...warnings] };
}

/** Of all databases that have a method; undefined while none has. */
export function methodOf(databases: readonly Pick<Progress, 'method'>[]): Method | 'mixed' | undefined {
  const methods = new Set(databases.flatMap(({ method }) => method ?? []));
  return methods.size > 1 ? 'mixed' : [...methods][0];
}

const over: readonly DatabasePhase[] = ['done', 'stopped', 'error'];

export function isOver({ phase }: Pick<Progress, 'phase'>): boolean {
  return over.includes(phase);
}

/** Every table that is still on its way is ready: what is left is to follow the source. */
export function isSyncing(databases: readonly Pick<Progress, 'phase'>[]): boolean {
  const living = databases.filter((one) => !isOver(one));
  return living.length > 0 && living.every(({ phase }) => phase === 'streaming' || phase === 'finishing');
}
