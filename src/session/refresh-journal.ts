import type { CredentialRecord } from './credential-record.ts';
import type { FailpointObserver } from './failpoints.ts';

/**
 * What lies beside a store's item while a refresh is on its way: for the keychain write-ahead files, for the file store
 * the temporary that becomes the record. Reading needs no lock; everything else happens under the profile's lock.
 */
export interface RefreshJournal {
  /** The newest record there is of the item's session (the rule of the current record). Never throws for a damaged file. */
  inspect(item: CredentialRecord): JournalState;
  /** Files of a session are here although the store has no item. */
  isOrphaned(): boolean;
  /** Room for the answer to a refresh of `record`, on the disk. Throws what the disk says; then nothing may be sent. */
  reserve(record: CredentialRecord, options: ReservationOptions): JournalReservation;
  /** Removes what is of no use to the item `stored`; a trace of doubt stays. */
  removeObsolete(stored: CredentialRecord, nowMs: number): void;
  /** `stored` was just committed: whatever led to it, or is older, goes. */
  removeCommitted(stored: CredentialRecord): void;
  /** Removes everything of a session that has ended. */
  removeSession(sid: string): void;
}

export interface JournalState {
  readonly record: CredentialRecord;
  /** `record` is newer than the item. */
  readonly pending: boolean;
  /** A refresh of `record` was prepared and perhaps sent, and no answer is known. */
  readonly inDoubt: boolean;
  /** There is something to tidy. */
  readonly hasObsoleteFiles: boolean;
}

export interface ReservationOptions extends FailpointObserver {
  /** Seconds since the epoch. */
  readonly now: number;
  readonly random: (bytes: number) => Uint8Array;
}

export interface JournalReservation {
  /** Makes the body of a success safe at its last byte, before anything else is done; false when that could not be. */
  persistResponse(body: string): boolean;
  /** The commit, for which the keychain's journal uses `write` alone. `unavailable` leaves what was kept. */
  commit<T>(record: CredentialRecord, write: () => Promise<T>): Promise<T | { readonly kind: 'done' }>;
  /** The server still holds what it held before: there is nothing to remember. */
  discard(): void;
  /** Nobody knows what the server holds: the trace stays for later commands. */
  close(): void;
}
