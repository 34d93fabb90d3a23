import type { CredentialRecord } from './credential-record.ts';
import type { FailpointObserver } from './failpoints.ts';

/**
 * The files beside a store's item during a refresh: write-ahead files for the keychain, the temporary file that becomes the
 * record for the file store. `inspect` and `isOrphaned` need no lock; everything else requires the profile's lock.
 */
export interface RefreshJournal {
  /** Finds the newest record of the item's session. A damaged file is never an error. */
  inspect(item: CredentialRecord): JournalState;
  /** Journal files exist although the store has no item. */
  isOrphaned(): boolean;
  /** Reserves disk space for the response to a refresh of `record`. Throws the error of the disk, also for a file that may contain a newer record and cannot be read; nothing may be sent then. */
  reserve(record: CredentialRecord, options: ReservationOptions): JournalReservation;
  /** Removes files that are obsolete for the item `stored`; newer records and the file of a refresh in doubt stay. */
  removeObsolete(stored: CredentialRecord, nowMs: number): void;
  /** After `stored` was committed: removes its journal files and older ones. */
  removeCommitted(stored: CredentialRecord): void;
  /** Removes all files of a session that has ended. */
  removeSession(sid: string): void;
}

export interface JournalState {
  readonly record: CredentialRecord;
  /** `record` is newer than the item in the store. */
  readonly pending: boolean;
  /** A refresh of `record` was prepared and possibly sent, and no response is known. */
  readonly inDoubt: boolean;
  /** `removeObsolete` has something to remove. */
  readonly hasObsoleteFiles: boolean;
}

export interface ReservationOptions extends FailpointObserver {
  /** Seconds since the epoch. */
  readonly now: number;
  readonly random: (bytes: number) => Uint8Array;
}

export interface JournalReservation {
  /** The file that keeps the response. */
  readonly path: string;
  /**
   * Another process has prepared a refresh of the same record at the same time: the locks of the folder are not shared (a
   * network file system), or a process was killed.
   */
  hasRival(): boolean;
  /** Writes the body of a successful response to the disk as soon as its last byte was read; false when that failed. */
  persistResponse(body: string): boolean;
  /** Stores the record by `write`, unless it is stored already. After `unavailable` the persisted response stays. */
  commit<T>(record: CredentialRecord, write: () => Promise<T>): Promise<T | { readonly kind: 'done' }>;
  /** Removes the reservation: the server certainly did not process the refresh. */
  discard(): void;
  /** Keeps the file for later commands: it is not known whether the server processed the refresh. */
  close(): void;
}
