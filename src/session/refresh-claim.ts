import type { CredentialRecord } from './credential-record.ts';
import type { StoreErrorHint } from './suggested-commands.ts';

export interface RefreshClaimOptions {
  /** Whether the state folder has the file of an earlier refresh without a result. */
  readonly hasUnfinishedRefresh: boolean;
  /** Whether the refresh token may be sent once more after it was refused, if no machine may have the next one. */
  readonly maySendRefusedToken: boolean;
}

/** The result of announcing a refresh to the other machines that share the session. */
export type RefreshClaimResult =
  | { readonly kind: 'claimed'; readonly claim: RefreshClaim }
  /** The store has another record than the one that this machine wanted to refresh. */
  | { readonly kind: 'changed' }
  /** The server has refused the refresh token, and no machine has published the next record. */
  | ({ readonly kind: 'refused' } & MachinesWithUnreportedRefresh)
  | { readonly kind: 'busy'; readonly holder: string }
  | SharedStoreUnavailable;

/** The failure of a shared store: a CredentialStoreUnavailable. */
export interface SharedStoreUnavailable {
  readonly kind: 'unavailable';
  readonly why: 'shared';
  readonly reason: string;
  readonly hint?: StoreErrorHint;
  /** Whether the server refused the operation, so that it certainly had no effect. */
  readonly isRejected: boolean;
}

/** The machines that began a refresh and have not reported its result; empty if none did. */
export interface MachinesWithUnreportedRefresh {
  readonly machines: readonly string[];
  /** When the last of these machines began its refresh, in milliseconds since the epoch. */
  readonly sinceMs: number | undefined;
}

/** The intent to refresh a record, which the store has acknowledged. */
export interface RefreshClaim {
  /** Whether another refresh of the same generation was begun before and its result is not known. */
  readonly isInDoubt: boolean;
  /**
   * Extends the lease if more than half of its time has passed. Returns false if another machine holds the lease now, and
   * true if the store cannot be reached.
   */
  confirm(): Promise<boolean>;
  /** Extends the lease repeatedly until the returned function is called. */
  keepAlive(): () => void;
  /** Ends the lease. With `isUnsent` the intent is removed, because the server certainly did not process the refresh. */
  release(isUnsent: boolean): Promise<void>;
  /** Called when the server has refused the refresh token: no machine sends it again. */
  refuse(): Promise<RecordedRefreshRefusal | SharedStoreUnavailable>;
}

/** A refusal that the store knows. */
export interface RecordedRefreshRefusal {
  readonly kind: 'recorded';
  /** Waits for a machine that may still publish the next record. @returns `changed` when there is a newer record */
  readonly wait: () => Promise<RefreshRefusalWaitResult | SharedStoreUnavailable>;
}

export type RefreshRefusalWaitResult =
  | { readonly kind: 'changed' }
  | ({ readonly kind: 'refused' } & MachinesWithUnreportedRefresh);

/** The fields of a session record that a refresh claim names. */
export type CredentialVersionOfRefreshClaim = Required<Pick<CredentialRecord, 'epoch' | 'sid' | 'gen'>>;
