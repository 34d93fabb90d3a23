import { CliError } from '../../base/errors.ts';
import type { Secret } from '../../base/secret.ts';
import type { ProfileReference } from '../../config/settings.ts';
import type { HeldFileLock } from '../../platform/file-lock.ts';
import type { KeychainUnavailable } from '../../platform/host.ts';
import type { RefreshJournal } from './refresh-journal.ts';
import { formatCommandForProfile } from './suggested-commands.ts';

/** The items of a profile in the credential store: the session, and the client secret of the registered application. */
export type CredentialStoreItemName = 'credential' | 'client';

/**
 * The failure of a credential store: `file` means an error of a file in the state folder, `too_long` an item that exceeds the
 * size limit of the keychain.
 */
export interface CredentialStoreUnavailable {
  readonly kind: 'unavailable';
  readonly why: KeychainUnavailable['why'] | 'file' | 'too_long';
  readonly reason: string;
  /** A hint that replaces the general hint for the reason `why`. */
  readonly hint?: string;
}

export type CredentialItemReadResult =
  | { readonly kind: 'found'; readonly value: Secret }
  | { readonly kind: 'absent' }
  | CredentialStoreUnavailable;
export type CredentialItemWriteResult = { readonly kind: 'done' } | CredentialStoreUnavailable;

/** The credential store items of a profile, accessible while the store is open. */
export interface OpenCredentialStore {
  read(item: CredentialStoreItemName): Promise<CredentialItemReadResult>;
  /** The result `done` means that the item was read back and has the written value. */
  write(item: CredentialStoreItemName, value: Secret): Promise<CredentialItemWriteResult>;
  remove(item: CredentialStoreItemName): Promise<CredentialItemWriteResult>;
}

export type CredentialStoreKind = 'keychain' | 'file';

export interface CredentialStore {
  readonly profile: ProfileReference;
  readonly kind: CredentialStoreKind;
  /** The place where the store keeps the session, which `auth status` shows. */
  readonly location: string;
  /** Maximum length of an item in UTF-16 units; undefined if the store has no limit. */
  readonly maxLength: number | undefined;
  /**
   * Returns the reason why the store cannot write the record of a login. Absent for a store in which only the attempt to write
   * shows whether it is writable.
   */
  readonly checkWritable?: () => CredentialStoreUnavailable | undefined;
  /** The files that protect the item of the store during a refresh. */
  readonly journal: RefreshJournal;
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
  return kind === 'file' ? 'credential file' : 'keychain';
}

export function isCredentialStoreUnavailable(result: { readonly kind: string }): result is CredentialStoreUnavailable {
  return result.kind === 'unavailable';
}

/** Creates the error `keychain_unavailable` with the hint for the reason. */
export function credentialStoreUnavailableError(
  { why, reason, hint: given }: CredentialStoreUnavailable,
  profile: ProfileReference,
): CliError {
  const { message, hint } = storeErrorTexts[why];
  return new CliError('keychain_unavailable', message, {
    detail: reason,
    hint: given ?? (typeof hint === 'string' ? hint : hint(profile)),
  });
}

interface StoreErrorText {
  readonly message: string;
  readonly hint: string | ((profile: ProfileReference) => string);
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
};
