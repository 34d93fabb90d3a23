/**
 * The place of a record in the order of all records of a profile: first `epoch` (a login or a logout begins a new one), then
 * `gen`, the generation of the same session `sid`.
 */
export interface SharedSessionVersion {
  readonly epoch: number;
  readonly sid: string;
  readonly gen: number;
}

/** An encrypted record with its version, as the store and the copy on each machine contain it. */
export interface EncryptedSharedSession extends SharedSessionVersion {
  /** The id of the key with which the record is encrypted. */
  readonly kid: string;
  /** The encrypted record in base64. After a logout it is an encrypted tombstone, so that only a machine with the key can end a session. */
  readonly record: string;
}

/** The row of a profile in the shared store. All times are milliseconds since the epoch by the clock of the store. */
export interface SharedSessionEntry extends EncryptedSharedSession {
  /** The id of the key with which new records are encrypted. */
  readonly activeKid: string;
  /** The generation whose refresh token the authorization server has refused. */
  readonly refusedGen: number | undefined;
  readonly refusedMs: number | undefined;
  /** The machine that refreshes the session now; it has the lease until `leaseMs`. */
  readonly holder: string | undefined;
  readonly leaseMs: number | undefined;
  /** A refresh of `intentGen` was begun by `intentBy` at `intentMs` and has not been committed. */
  readonly intentGen: number | undefined;
  readonly intentBy: string | undefined;
  readonly intentMs: number | undefined;
  /** The machines that began an earlier refresh of the same generation, separated by commas. */
  readonly previousBy: string | undefined;
}

/** The result of an operation of the shared store. `row` is the row after the operation, read in the same transaction. */
export interface SharedSessionOperationResult {
  readonly applied: boolean;
  readonly nowMs: number;
  readonly row: SharedSessionEntry | undefined;
}

/** The events that the log of a shared store contains. */
export type SharedSessionEvent = 'login' | 'refresh' | 'publish' | 'logout' | 'claim' | 'refused' | 'rotate';

/**
 * The operations of the store. Each is one statement or one script; a repetition after a lost reply has no further effect.
 *
 * - `claim`: takes the lease unless another machine has it, and records the intent to send the refresh token of `gen`.
 * - `renew`: extends the lease of the attempt.
 * - `release`: ends the lease of the attempt; `unsent` also removes its intent.
 * - `commit`: stores a newer record. It is fenced by the version alone, never by the lease.
 * - `refuse`: records that the server refused the refresh token of `gen`, so that no machine sends it again, and removes the
 *   intent of this machine, which has no newer record.
 * - `reseal`: stores the same generation, encrypted with another key.
 */
export type SharedSessionOperation =
  | { readonly op: 'read' }
  | ({
      readonly op: 'claim';
      readonly by: string;
      readonly attempt: string;
      readonly leaseMs: number;
    } & SharedSessionVersion)
  | { readonly op: 'renew'; readonly attempt: string; readonly leaseMs: number }
  | { readonly op: 'release'; readonly attempt: string; readonly unsent: boolean }
  | ({ readonly op: 'commit'; readonly by: string; readonly event: SharedSessionEvent } & EncryptedSharedSession)
  | ({ readonly op: 'refuse'; readonly by: string } & SharedSessionVersion)
  | ({ readonly op: 'reseal'; readonly by: string; readonly oldKid: string } & EncryptedSharedSession);

/** The arguments of an operation, in the order in which the SQL functions and the Lua scripts take them. */
export function listSharedOperationArguments(
  operation: SharedSessionOperation,
): readonly (string | number | boolean)[] {
  switch (operation.op) {
    case 'read':
      return [];
    case 'claim': {
      const { epoch, sid, gen, by, attempt, leaseMs } = operation;
      return [epoch, sid, gen, by, attempt, leaseMs];
    }
    case 'renew':
      return [operation.attempt, operation.leaseMs];
    case 'release':
      return [operation.attempt, operation.unsent];
    case 'commit': {
      const { epoch, sid, gen, kid, record, by, event } = operation;
      return [epoch, sid, gen, kid, record, by, event];
    }
    case 'refuse': {
      const { epoch, sid, gen, by } = operation;
      return [epoch, sid, gen, by];
    }
    case 'reseal': {
      const { epoch, sid, gen, oldKid, kid, record, by } = operation;
      return [epoch, sid, gen, oldKid, kid, record, by];
    }
    default:
      return operation satisfies never;
  }
}

/** The length of the lease that a machine claims for a refresh. */
export const refreshLeaseMs = 15_000;

/** A lease that ends this much later than a new one would is of a clock that was set back, and counts as ended. */
export const maxLeaseExcessOverNewLeaseMs = 60_000;

export interface SharedSessionLogEntry {
  readonly atMs: number;
  readonly event: string;
  readonly by: string;
  readonly epoch: number;
  readonly gen: number;
}

/** The operations for one profile of one share, which a PostgreSQL or Redis server stores. */
export interface SharedSessionStore {
  /** Server and database without credentials. */
  readonly location: string;
  /** Throws DatabaseConnectError or DatabaseError. */
  run(operation: SharedSessionOperation): Promise<SharedSessionOperationResult>;
  /** The newest entries of the log, newest first. */
  readLog(limit: number): Promise<readonly SharedSessionLogEntry[]>;
  /**
   * Why the server would not add an entry to the log; undefined if it would. Absent if the server stores nothing without its
   * log entry.
   */
  findLogFailure?(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The key of a row in the shared store: the share and the profile. */
export interface SharedSessionEntryKey {
  readonly share: string;
  readonly profile: string;
}

/**
 * Compares two versions: `newer` if `one` is newer than `other`. Two sessions of the same epoch have no order (`conflict`): the
 * one in the store stays.
 */
export function compareSharedSessionVersions(
  one: SharedSessionVersion,
  other: SharedSessionVersion,
): 'newer' | 'older' | 'same' | 'conflict' {
  if (one.epoch !== other.epoch) return one.epoch > other.epoch ? 'newer' : 'older';
  if (one.sid !== other.sid) return 'conflict';
  if (one.gen !== other.gen) return one.gen > other.gen ? 'newer' : 'older';
  return 'same';
}

/**
 * Why the store did not apply a refresh claim for the session version `wanted`, and what the machine that sent the claim
 * does next.
 */
export type RefreshClaimObstacle =
  /** The store has another record: read it and begin again. */
  | 'changed'
  /** The refresh token was refused: wait for the machine that may still publish the next record. */
  | 'refused'
  /** Another machine refreshes the session: wait for it. */
  | 'held';

export function determineRefreshClaimObstacle(
  row: SharedSessionEntry | undefined,
  wanted: SharedSessionVersion,
): RefreshClaimObstacle {
  if (row === undefined || compareSharedSessionVersions(row, wanted) !== 'same') return 'changed';
  return row.refusedGen === row.gen ? 'refused' : 'held';
}

/**
 * Whether a machine has the lease at the time `nowMs` of the store. `newLeaseMs` is the length of a lease that another machine
 * would claim now. The claim in SQL and Lua decides the same way.
 */
export function isRefreshLeaseHeld(
  { holder, leaseMs }: Pick<SharedSessionEntry, 'holder' | 'leaseMs'>,
  nowMs: number,
  newLeaseMs: number = refreshLeaseMs,
): boolean {
  if (holder === undefined || leaseMs === undefined) return false;
  return leaseMs >= nowMs && leaseMs <= nowMs + newLeaseMs + maxLeaseExcessOverNewLeaseMs;
}

/** The machines that began a refresh of the current generation and have not reported. */
export function listMachinesWithUnreportedRefresh(row: SharedSessionEntry): readonly string[] {
  if (row.intentGen !== row.gen) return [];
  const names = [row.previousBy, row.intentBy].flatMap((text) => text?.split(',') ?? []);
  return [...new Set(names)];
}
