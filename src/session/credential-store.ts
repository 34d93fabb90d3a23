import { CliError, type CliErrorCode } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { ProfileReference } from '../config/settings.ts';
import { interruptedError } from '../platform/defer-signals.ts';
import type { HeldFileLock } from '../platform/file-lock.ts';
import type { Clock, KeychainUnavailable, SignalName } from '../platform/host.ts';
import type { CredentialRecord } from './credential-record.ts';
import type { RefreshClaimOptions, RefreshClaimResult } from './refresh-claim.ts';
import type { RefreshJournal } from './refresh-journal.ts';
import { formatCommandForProfile, type StoreErrorHint } from './suggested-commands.ts';

/**
 * The items of a profile in the credential store: the session, the client secret of the registered application, and the keys of
 * a share.
 */
export type CredentialStoreItemName = 'credential' | 'client' | 'share';

/**
 * The failure of a credential store: `file` means an error of a file in the state folder, `too_long` an item that exceeds the
 * size limit of the keychain, `shared` that the server of a shared store could not be used.
 */
export interface CredentialStoreUnavailable {
  readonly kind: 'unavailable';
  readonly why: KeychainUnavailable['why'] | 'file' | 'too_long' | 'shared';
  readonly reason: string;
  /** A hint that replaces the general hint for the reason `why`; a function if it suggests a command for the profile. */
  readonly hint?: StoreErrorHint;
  /** Present if a shared store may have applied the login or logout nevertheless. */
  readonly unconfirmed?: UnconfirmedLoginOrLogout;
}

/** A login or logout that a shared store may or may not have stored. */
export interface UnconfirmedLoginOrLogout {
  readonly event: 'login' | 'logout';
  /** Whether this machine keeps the record as its copy, which a later command publishes. */
  readonly isKept: boolean;
  /** The signal that ended the repetition of the commit. */
  readonly interruptedBy: SignalName | undefined;
  readonly replaced: ReplacedSession | undefined;
}

/** The session that a login or a logout has replaced in a shared store. */
export interface ReplacedSession {
  readonly record: CredentialRecord;
  /** Whether another login or logout has ended the session, and revokes its tokens. */
  readonly isEndedElsewhere: boolean;
}

export type CredentialItemReadResult =
  | { readonly kind: 'found'; readonly value: Secret }
  /** `isEnded` is true if a shared store says that a logout has ended the session. */
  | { readonly kind: 'absent'; readonly isEnded?: true }
  | CredentialStoreUnavailable;
export type CredentialItemWriteResult =
  | {
      readonly kind: 'done';
      /** Only of a shared store: the session that a login or a logout has replaced. */
      readonly replaced?: ReplacedSession | undefined;
      /** Only of a shared store: another logout has already ended the session, and revokes it. */
      readonly wasEnded?: true;
      /** Only of a shared store: the signal that arrived during the commit, which ends the command after its work. */
      readonly interruptedBy?: SignalName | undefined;
      /** False if a shared store has the record, but the copy on this machine could not be written. */
      readonly hasCopy?: boolean;
    }
  | CredentialStoreUnavailable;
/**
 * `superseded` means that the store contains a newer grant, another session or no session, and was not changed. With `isEnded`,
 * it is known that the session was replaced by a login or ended by a logout.
 */
export type ConditionalCredentialWriteResult =
  | CredentialItemWriteResult
  | { readonly kind: 'superseded'; readonly isEnded?: boolean };

/** The credential store items of a profile, accessible while the store is open. */
export interface OpenCredentialStore {
  read(item: CredentialStoreItemName): Promise<CredentialItemReadResult>;
  /** The result `done` means that the item was read back and has the written value. */
  write(item: CredentialStoreItemName, value: Secret): Promise<CredentialItemWriteResult>;
  remove(item: CredentialStoreItemName): Promise<CredentialItemWriteResult>;
  /** Operations of a store that several machines share; absent in a store of this machine. */
  readonly shared?: SharedCredentialOperations;
}

export interface SharedCredentialOperations {
  /** The record of the copy on this machine; undefined if there is none. */
  knownRecord(): CredentialRecord | undefined;
  /**
   * Stores the next generation of a session unless the store has a newer one. `isRefresh` is false for a record that an earlier
   * command has left in a journal.
   */
  commit(next: CredentialRecord, isRefresh: boolean): Promise<ConditionalCredentialWriteResult>;
  /**
   * Announces the refresh of this record to the other machines, and waits while one of them refreshes it.
   */
  claim(record: CredentialRecord, options: RefreshClaimOptions): Promise<RefreshClaimResult>;
}

export type CredentialStoreKind = 'keychain' | 'file' | 'shared';

export interface CredentialStore {
  readonly profile: ProfileReference;
  readonly kind: CredentialStoreKind;
  /** The place where the store keeps the session, which `auth status` shows. */
  readonly location: string;
  /** Maximum length of an item in UTF-16 units; undefined if the store has no limit. */
  readonly maxLength: number | undefined;
  /**
   * Returns the reason why the store cannot write the record of a login; a shared store knows it after `synchronize`. Absent
   * for a store in which only the attempt to write shows whether it is writable.
   */
  readonly checkWritable?: () => CredentialStoreUnavailable | undefined;
  /** The files that protect the item of the store during a refresh. */
  readonly journal: RefreshJournal;
  /** The clock that measures the expiry of session records (default: the clock of this machine). */
  readonly clock?: Clock;
  /**
   * Reads the newest record from the shared store, so that a later read returns it. Without a call, a read without the lock
   * returns the copy on this machine as long as its access token is valid. If the store cannot be reached, that is a failure
   * only without a copy that the store has confirmed, or if `isForLogin` is true: a login needs the store.
   */
  synchronize?(options?: { readonly isForLogin: boolean }): Promise<CredentialStoreUnavailable | undefined>;
  /**
   * Opens the credential store for the function `work`. One helper process of the keychain performs all operations; it has
   * ended when the returned promise settles. To write, the caller passes the lock of the profile. The helper process inherits
   * the lock, so that a write that continues after this process was killed still excludes other writers.
   */
  withItems<T>(work: (items: OpenCredentialStore) => Promise<T>, lock?: HeldFileLock): Promise<T>;
}

/** Throws `keychain_unavailable` for a store that failed, so that callers do not treat it as an empty store. */
export function requireCredentialStoreAvailable<T extends { readonly kind: string }>(
  result: T | CredentialStoreUnavailable,
  profile: ProfileReference,
): Exclude<T, CredentialStoreUnavailable> {
  if (isCredentialStoreUnavailable(result)) throw credentialStoreUnavailableError(result, profile);
  return result as Exclude<T, CredentialStoreUnavailable>;
}

/** The name of the store in a sentence. */
export function describeCredentialStore({ kind }: Pick<CredentialStore, 'kind'>): string {
  return { file: 'credential file', keychain: 'keychain', shared: 'shared store' }[kind];
}

export function isCredentialStoreUnavailable(result: { readonly kind: string }): result is CredentialStoreUnavailable {
  return result.kind === 'unavailable';
}

/** The error for a login or logout that the store may have stored, so that its tokens must not be revoked. */
export class UnconfirmedLoginOrLogoutError extends CliError {}

/** Creates the error `keychain_unavailable` (exit code 1), or `unreachable` (6) for a shared store, with the hint for the reason. */
export function credentialStoreUnavailableError(
  { why, reason, hint: given, unconfirmed }: CredentialStoreUnavailable,
  profile: ProfileReference,
): CliError {
  if (unconfirmed !== undefined) return unconfirmedWriteError(unconfirmed, reason, profile);
  const { message, hint: usual, code = 'keychain_unavailable' } = storeErrorTexts[why];
  const hint = given ?? usual;
  return new CliError(code, message, {
    detail: reason,
    hint: typeof hint === 'string' ? hint : hint(profile),
  });
}

function unconfirmedWriteError(
  { event, isKept, interruptedBy }: UnconfirmedLoginOrLogout,
  reason: string,
  profile: ProfileReference,
): UnconfirmedLoginOrLogoutError {
  const message = `the shared credential store did not confirm the ${event}`;
  const check = `run ${formatCommandForProfile(profile, 'auth status --check')}`;
  const repeat = event === 'login' ? 'log in again' : `repeat it: ${formatCommandForProfile(profile, 'auth logout')}`;
  const parts = isKept
    ? {
        detail: `it may be stored, and this machine keeps it (${reason})`,
        hint: `${check}, which reads the store and publishes the ${event}`,
      }
    : {
        detail: `it may be stored, and this machine could not keep it (${reason})`,
        hint: `${check}; if the store does not have the ${event}, ${repeat}`,
      };
  if (interruptedBy === undefined) return new UnconfirmedLoginOrLogoutError('unreachable', message, parts);
  const { code, message: interruption, exitCode } = interruptedError(interruptedBy);
  return new UnconfirmedLoginOrLogoutError(code, interruption, {
    ...parts,
    detail: `${message}; ${parts.detail}`,
    exitCode,
  });
}

interface StoreErrorText {
  readonly message: string;
  /** Default: `keychain_unavailable`. */
  readonly code?: CliErrorCode;
  readonly hint: StoreErrorHint;
}

const fileStoreHint = (profile: ProfileReference): string =>
  `store sessions in files of mode 0600 with ${formatCommandForProfile(profile, 'config set credential_store file')}`;

const storeErrorTexts: Readonly<Record<CredentialStoreUnavailable['why'], StoreErrorText>> = {
  locked: {
    message: 'could not use the keychain: it is locked',
    hint: 'unlock the keychain (on a server: `gnome-keyring-daemon --unlock`), then run the command again',
  },
  missing: { message: 'could not use the keychain: this machine has none', hint: fileStoreHint },
  hung: {
    message: 'could not use the keychain: it did not answer in time',
    hint: 'unlock the keychain or restart its service, then run the command again',
  },
  failed: { message: 'could not use the keychain', hint: fileStoreHint },
  too_long: {
    message: 'could not store the session: its tokens are too long for a keychain item',
    hint: (profile) => `${fileStoreHint(profile)}, then log in again`,
  },
  file: {
    message: 'could not use the credential file',
    hint: 'make the state folder writable for your user',
  },
  shared: {
    message: 'could not use the shared credential store',
    code: 'unreachable',
    hint: (profile) =>
      `check the server and the network, then run ${formatCommandForProfile(profile, 'auth share status')}`,
  },
};
