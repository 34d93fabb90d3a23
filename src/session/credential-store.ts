import { CliError } from '../errors.ts';
import type { HeldLock } from '../platform/file-lock.ts';
import type { KeychainUnavailable } from '../platform/host.ts';
import type { Secret } from '../secret.ts';
import type { RefreshJournal } from './refresh-journal.ts';
import { profileCommand } from './suggested-commands.ts';

/** The two items a profile keeps: its session, and the secret of its registered application. */
export type CredentialItemName = 'credential' | 'client';

/** The store could not be asked; `file` is trouble with the files of the state folder, `too_long` an item no keychain holds. */
export interface StoreUnavailable {
  readonly kind: 'unavailable';
  readonly why: KeychainUnavailable['why'] | 'file' | 'too_long';
  readonly reason: string;
}

export type ItemReadResult =
  | { readonly kind: 'found'; readonly value: Secret }
  | { readonly kind: 'absent' }
  | StoreUnavailable;
export type ItemWriteResult = { readonly kind: 'done' } | StoreUnavailable;

/** Items during one visit of the store. */
export interface CredentialItems {
  read(item: CredentialItemName): Promise<ItemReadResult>;
  /** `done` means it was read back equal. */
  write(item: CredentialItemName, value: Secret): Promise<ItemWriteResult>;
  remove(item: CredentialItemName): Promise<ItemWriteResult>;
}

export interface CredentialStore {
  readonly profile: string;
  readonly kind: 'keychain' | 'file';
  /** Where a person finds it, for `auth status`. */
  readonly location: string;
  /** UTF-16 units one item holds; undefined: as many as there are. */
  readonly maxLength: number | undefined;
  /** What lies beside the item while a refresh is on its way. */
  readonly journal: RefreshJournal;
  /**
   * A visit: the keychain's helper process serves all of it and has ended when the promise settles. Who writes a session
   * hands in the profile's lock, which the helper then holds as well: a write that outlives this process is excluded too.
   */
  withItems<T>(work: (items: CredentialItems) => Promise<T>, lock?: HeldLock): Promise<T>;
}

/** Throws the error a user should see; an unavailable store is never the same as an empty one. */
export function requireAvailable<T extends { readonly kind: string }>(
  result: T | StoreUnavailable,
  profile: string,
): Exclude<T, StoreUnavailable> {
  if (isUnavailable(result)) throw storeUnavailableError(result, profile);
  return result as Exclude<T, StoreUnavailable>;
}

export function isUnavailable(result: { readonly kind: string }): result is StoreUnavailable {
  return result.kind === 'unavailable';
}

/** Exit 1 with the cure for what is wrong with the keychain. */
export function storeUnavailableError({ why, reason }: StoreUnavailable, profile: string): CliError {
  const { message, hint } = storeErrorTexts[why];
  return new CliError('keychain_unavailable', message, {
    detail: reason,
    hint: typeof hint === 'string' ? hint : hint(profileCommand(profile, 'config set credential_store file')),
  });
}

/** `toFile` is the command that turns to the file store. */
interface StoreErrorText {
  readonly message: string;
  readonly hint: string | ((toFile: string) => string);
}

const fileStoreHint = (toFile: string): string => `${toFile} keeps sessions in files of mode 0600 instead`;

const storeErrorTexts: Readonly<Record<StoreUnavailable['why'], StoreErrorText>> = {
  locked: {
    message: 'could not use the keychain: it is locked',
    hint: 'unlock it (on a server: `gnome-keyring-daemon --unlock`) and run the command again',
  },
  missing: { message: 'could not use the keychain: there is none on this machine', hint: fileStoreHint },
  hung: {
    message: 'could not use the keychain: it did not answer in time',
    hint: 'look for an unlock window, or restart the keychain service, and run the command again',
  },
  failed: { message: 'could not use the keychain', hint: fileStoreHint },
  too_long: {
    message: 'could not store the session: its tokens are too long for a keychain item',
    hint: (toFile) => `keep sessions in files of mode 0600 with ${toFile}, then log in again`,
  },
  file: {
    message: 'could not use the credential file',
    hint: 'make the state folder writable for you',
  },
};
