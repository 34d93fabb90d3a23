import type { ProfileReference } from '../config/settings.ts';
import { CliError } from '../errors.ts';
import type { HeldLock } from '../platform/file-lock.ts';
import type { KeychainUnavailable } from '../platform/host.ts';
import type { Secret } from '../secret.ts';
import type { RefreshJournal } from './refresh-journal.ts';
import { profileCommand } from './suggested-commands.ts';

/** The two items of a profile: its session, and the client secret of its registered application. */
export type CredentialItemName = 'credential' | 'client';

/** The store failed: `file` is an error of a file in the state folder, `too_long` an item that exceeds the keychain's limit. */
export interface StoreUnavailable {
  readonly kind: 'unavailable';
  readonly why: KeychainUnavailable['why'] | 'file' | 'too_long';
  readonly reason: string;
  /** In place of the hint for `why`. */
  readonly hint?: string;
}

export type ItemReadResult =
  | { readonly kind: 'found'; readonly value: Secret }
  | { readonly kind: 'absent' }
  | StoreUnavailable;
export type ItemWriteResult = { readonly kind: 'done' } | StoreUnavailable;

/** The items of a profile while the store is open. */
export interface CredentialItems {
  read(item: CredentialItemName): Promise<ItemReadResult>;
  /** `done` means that the item was read back and is equal. */
  write(item: CredentialItemName, value: Secret): Promise<ItemWriteResult>;
  remove(item: CredentialItemName): Promise<ItemWriteResult>;
}

export interface CredentialStore {
  readonly profile: ProfileReference;
  readonly kind: 'keychain' | 'file';
  /** Where the store keeps the session, for `auth status`. */
  readonly location: string;
  /** Longest item in UTF-16 units; undefined: no limit. */
  readonly maxLength: number | undefined;
  /** The reason why the store cannot take a record; absent where only a write can tell. */
  readonly checkWritable?: () => StoreUnavailable | undefined;
  /** The files beside the item during a refresh. */
  readonly journal: RefreshJournal;
  /**
   * Opens the store for `work`. The keychain's helper process serves all operations and has ended when the promise settles.
   * For a write the caller passes the profile's lock. The helper inherits it, so that a write that continues after this
   * process was killed still excludes other writers.
   */
  withItems<T>(work: (items: CredentialItems) => Promise<T>, lock?: HeldLock): Promise<T>;
}

/** Throws `keychain_unavailable` for a store that failed: it must not be mistaken for an empty one. */
export function requireAvailable<T extends { readonly kind: string }>(
  result: T | StoreUnavailable,
  profile: ProfileReference,
): Exclude<T, StoreUnavailable> {
  if (isUnavailable(result)) throw storeUnavailableError(result, profile);
  return result as Exclude<T, StoreUnavailable>;
}

export function isUnavailable(result: { readonly kind: string }): result is StoreUnavailable {
  return result.kind === 'unavailable';
}

/** The error `keychain_unavailable` (exit 1) with the hint for the reason. */
export function storeUnavailableError(
  { why, reason, hint: other }: StoreUnavailable,
  profile: ProfileReference,
): CliError {
  const { message, hint } = storeErrorTexts[why];
  const usual = typeof hint === 'string' ? hint : hint(profileCommand(profile, 'config set credential_store file'));
  return new CliError('keychain_unavailable', message, {
    detail: reason,
    hint: other ?? usual,
  });
}

/** A hint that is a function gets the command that selects the file store. */
interface StoreErrorText {
  readonly message: string;
  readonly hint: string | ((fileStoreCommand: string) => string);
}

const fileStoreHint = (command: string): string => `store sessions in files of mode 0600 with ${command}`;

const storeErrorTexts: Readonly<Record<StoreUnavailable['why'], StoreErrorText>> = {
  locked: {
    message: 'could not use the keychain: it is locked',
    hint: 'unlock it (on a server: `gnome-keyring-daemon --unlock`), then run the command again',
  },
  missing: { message: 'could not use the keychain: this machine has none', hint: fileStoreHint },
  hung: {
    message: 'could not use the keychain: it did not answer in time',
    hint: 'unlock the keychain or restart its service, then run the command again',
  },
  failed: { message: 'could not use the keychain', hint: fileStoreHint },
  too_long: {
    message: 'could not store the session: its tokens are too long for a keychain item',
    hint: (command) => `store sessions in files of mode 0600 with ${command}, then log in again`,
  },
  file: {
    message: 'could not use the credential file',
    hint: 'make the state folder writable for your user',
  },
};
