/** Number of additional locks that fit into the unused shared memory outside the lock table. */
const spare = 1000;

/** Number of additional locks that fit into the last huge page, which is seldom full. */
const spareOfHugePages = 8000;

/** How many locks of relations fit into the shared memory of a server. */
interface LockRoom {
  /** The processes for which the server allocates locks. */
  readonly processes: number;
  /** Of each process. */
  readonly perProcess: number;
  /** Of all sessions together. */
  readonly room: number;
  /** More than this number does not fit. */
  readonly limit: number;
}

const defaults = {
  max_locks_per_transaction: 64,
  max_connections: 100,
  max_prepared_transactions: 0,
  max_worker_processes: 8,
  max_wal_senders: 10,
  autovacuum_max_workers: 3,
} as const;

/**
 * Before PostgreSQL 12, WAL senders counted as connections; since PostgreSQL 18, autovacuum workers have slots of their
 * own.
 * @param setting returns undefined if the server does not show the setting
 */
export function lockRoomOf(setting: (name: LockSetting) => number | undefined, hugePages = false): LockRoom {
  const value = (name: keyof typeof defaults) => setting(name) ?? defaults[name];
  const workers = setting('autovacuum_worker_slots') ?? value('autovacuum_max_workers');
  const others = ['max_connections', 'max_prepared_transactions', 'max_worker_processes', 'max_wal_senders'] as const;
  const processes = workers + 1 + others.reduce((sum, name) => sum + value(name), 0);
  const perProcess = value('max_locks_per_transaction');
  const room = processes * perProcess;
  return { processes, perProcess, room, limit: room * 1.1 + spare + (hugePages ? spareOfHugePages : 0) };
}

type LockSetting = keyof typeof defaults | 'autovacuum_worker_slots';
