import type { CredentialRecord } from './credential-record.ts';
import type { FailpointObserver } from './failpoints.ts';

/**
 * The files that store the response to a refresh: write-ahead files for the keychain, and for the file store the temporary file
 * that replaces the session file. `inspect` and `isOrphaned` need no lock; every other function requires the lock of the
 * profile.
 */
export interface RefreshJournal {
  /** Finds the newest record of the session to which the item belongs. A damaged journal file is never an error. */
  inspect(item: CredentialRecord): RefreshJournalState;
  /** Whether journal files exist although the store has no item. */
  isOrphaned(): boolean;
  /**
   * Reserves disk space for the response to a refresh of `record`. Throws on a disk error, and when a file that may contain a
   * newer record cannot be read; the caller must then send no request.
   */
  reserve(record: CredentialRecord, options: RefreshJournalReservationOptions): PreparedRefreshJournalFile;
  /**
   * Removes the journal files that are obsolete once the record `stored` is in the store. The files of newer records, and
   * the file of a refresh with an unknown result, are kept.
   */
  removeObsolete(stored: CredentialRecord, nowMs: number): void;
  /** Called after `stored` was committed: removes its journal files and older ones. */
  removeCommitted(stored: CredentialRecord): void;
  /** Removes all journal files of a session that has ended. */
  removeSession(sid: string): void;
}

export interface RefreshJournalState {
  readonly record: CredentialRecord;
  /** Whether `record` is newer than the item in the store. */
  readonly pending: boolean;
  /** Whether a refresh of `record` was prepared and possibly sent, but has no known result. */
  readonly inDoubt: boolean;
  /** Whether there are files that `removeObsolete` would remove. */
  readonly hasObsoleteFiles: boolean;
}

export interface RefreshJournalReservationOptions extends FailpointObserver {
  /** The time of the refresh request in seconds since the epoch. */
  readonly now: number;
  readonly random: (bytes: number) => Uint8Array;
}

export interface PreparedRefreshJournalFile {
  /** The path of the file that will contain the token response. */
  readonly path: string;
  /**
   * Whether another process has prepared a refresh of the same record at the same time: either the file system does not share
   * locks (network file systems), or a process was killed.
   */
  hasRival(): boolean;
  /** Writes the body of a successful response to the disk as soon as its last byte was read; returns false when the write failed. */
  persistResponse(body: string): boolean;
  /**
   * Stores the record by calling `write`, unless the record is already stored. If the result is `unavailable`, the file with
   * the response is kept.
   */
  commit<T>(write: () => Promise<T>): Promise<T | { readonly kind: 'done' }>;
  /** Removes the reserved file, because the server certainly did not process the refresh. */
  discard(): void;
  /** Keeps the reserved file for later commands, because it is not known whether the server processed the refresh. */
  close(): void;
}
