import { join } from 'node:path';
import { CliError } from '../../base/errors.ts';
import { isJsonRecord, readStringField, tryParseJson } from '../../base/json.ts';
import { Secret } from '../../base/secret.ts';
import { isDiskFull } from '../../base/storage-error.ts';
import { commandFor, type ProfileReference, type ProfileSettings } from '../../config/settings.ts';
import { ensureFolder, fileErrorCode, listFolder, removeDurably } from '../../platform/files.ts';
import type { HostSystem, Keychain, KeychainUnavailable } from '../../platform/host.ts';
import type { HeldLock } from '../../platform/locks.ts';
import { accessCommand, requireOwnFolder } from '../../platform/own-folder.ts';
import {
  InsecureFileError,
  readSecretBytes,
  readSecretFile,
  requireReplaceable,
  writeSecretFile,
} from '../../platform/secret-file.ts';
import { createFileJournal, type Journal, openEntries } from './journal.ts';
import { journalPath, keychainAccount, listJournals, listTemporary, type ProfilePaths } from './paths.ts';
import { maxRecordLength } from './record.ts';

/** The items of a profile in the credential store: the session, and the client secret of the registered application. */
type StoreItem = 'credential' | 'client';

/**
 * The failure of a credential store: `file` means an error of a file in the state folder, `too_long` an item that exceeds the
 * size limit of the keychain.
 */
export interface StoreUnavailable {
  readonly kind: 'unavailable';
  readonly why: KeychainUnavailable['why'] | 'file' | 'too_long';
  readonly reason: string;
  /** A hint that replaces the general hint for the reason `why`. */
  readonly hint?: string;
  /** The error of the operating system. */
  readonly cause?: unknown;
}

type ItemRead = { readonly kind: 'found'; readonly value: Secret } | { readonly kind: 'absent' } | StoreUnavailable;
export type ItemWritten = { readonly kind: 'done' } | StoreUnavailable;

/** The credential store items of a profile, accessible while the store is open. */
export interface OpenStore {
  read(item: StoreItem): Promise<ItemRead>;
  /** The result `done` means that the item was read back and has the written value. */
  write(item: StoreItem, value: Secret): Promise<ItemWritten>;
  remove(item: StoreItem): Promise<ItemWritten>;
}

export type StoreKind = 'keychain' | 'file';

export interface CredentialStore {
  readonly profile: ProfileReference;
  readonly kind: StoreKind;
  /** The name of the store in a sentence. */
  readonly name: 'keychain' | 'credential file';
  /** The place where the store keeps the session, which `auth status` shows. */
  readonly location: string;
  /** Maximum length of an item in UTF-16 units; undefined if the store has no limit. */
  readonly maxLength: number | undefined;
  /** The folder of the locks and journals. */
  readonly place: ProfilePaths;
  /** The journal of one session. */
  readonly journal: (sid: string, onStage?: (stage: 'written' | 'synced') => void) => Journal;
  /**
   * Returns the reason why the store cannot write a record. Of a keychain, only the attempt to write shows whether it is
   * writable.
   */
  readonly checkWritable: () => StoreUnavailable | undefined;
  /**
   * Opens the credential store for the function `work`. One helper process of the keychain performs all operations; it has
   * ended when the returned promise settles. To write, the caller passes the lock of the profile. The helper process inherits
   * the lock, so that a write that continues after this process was killed still excludes other writers.
   */
  withItems<T>(work: (items: OpenStore) => Promise<T>, lock?: HeldLock): Promise<T>;
}

interface StoreOptions {
  /** Time limit of one keychain operation in milliseconds. */
  readonly limit: number;
  /** Called when the keychain waits for a person. */
  readonly onWaiting: () => void;
}

/** The credential store of a profile: the file store or the keychain, as its settings say. */
export function openStore(
  host: Pick<HostSystem, 'folders' | 'keychain' | 'platform' | 'random'>,
  place: ProfilePaths,
  { profile, values }: ProfileSettings,
  { limit, onWaiting }: StoreOptions,
): CredentialStore {
  for (const folder of [host.folders.state, place.folder]) requireOwnFolder(folder);
  if (values.credential_store === 'file') return createFileStore(place, profile);
  const { keychain, platform } = host;
  let known: string | undefined;
  const account = (): string => (known ??= keychainAccount(place, host.random));
  return createKeychainStore({ profile, place, keychain, platform, limit, onWaiting, account });
}

interface KeychainStoreOptions extends StoreOptions {
  readonly profile: ProfileReference;
  readonly place: ProfilePaths;
  readonly keychain: Keychain;
  /** `<profile>#<id>` (paths.ts). */
  readonly account: () => string;
  readonly platform: NodeJS.Platform;
}

/** The default store: the keychain of the operating system, accessed in a helper process that can be killed. */
export function createKeychainStore(options: KeychainStoreOptions): CredentialStore {
  const { profile, place } = options;
  const accountOf = (item: StoreItem): string =>
    item === 'credential' ? options.account() : `${options.account()}:${item}`;
  return {
    profile,
    place,
    kind: 'keychain',
    name: 'keychain',
    get location(): string {
      return `${keychainNames[options.platform] ?? 'Secret Service'}, service cloudctl, account ${options.account()}`;
    },
    maxLength: maxRecordLength,
    journal: (sid, onStage) => createFileJournal(journalPath(place, sid), { onStage }),
    checkWritable: () => undefined,
    withItems: async (work, lock) => {
      const { limit, onWaiting } = options;
      const session = options.keychain.open({ timeoutMs: limit, onWaiting, lockDescriptor: lock?.descriptor });
      try {
        return await work({
          read: async (item) => {
            const result = await session.read(accountOf(item));
            return result.kind === 'found' ? { kind: 'found', value: new Secret(result.value) } : result;
          },
          write: (item, value) => session.write(accountOf(item), value.reveal()),
          remove: (item) => session.remove(accountOf(item)),
        });
      } finally {
        await session.close();
      }
    },
  };
}

const keychainNames: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'Keychain',
  win32: 'Credential Manager',
};

/**
 * The optional credential store in files of mode 0600, in the folder of the lock files. A write syncs a temporary file, renames
 * it and syncs the folder; the rename commits the write.
 */
export function createFileStore(
  place: ProfilePaths,
  profile: ProfileReference = { name: place.profile, isDefault: false },
): CredentialStore {
  const pathOf = (item: StoreItem): string => (item === 'credential' ? place.credentialFile : place.clientFile);
  return {
    profile,
    place,
    kind: 'file',
    name: 'credential file',
    location: place.credentialFile,
    maxLength: undefined,
    journal: (sid, onStage) => createFileJournal(journalPath(place, sid), { onStage }),
    checkWritable: () => {
      const checked = catchFileErrors(() => {
        ensureFolder(place.folder);
        requireReplaceable(place.credentialFile, reservedForRecord, place.probeFile);
        return { kind: 'done' as const };
      });
      return checked.kind === 'unavailable' ? checked : undefined;
    },
    withItems: (work) =>
      work({
        read: async (item) =>
          catchFileErrors(() => {
            const text = readSecretFile(pathOf(item));
            return text === undefined
              ? { kind: 'absent' as const }
              : { kind: 'found' as const, value: new Secret(text.trimEnd()) };
          }),
        write: async (item, value) =>
          catchFileErrors(() => {
            ensureFolder(place.folder);
            writeFile(pathOf(item), `${value.reveal()}\n`);
            return { kind: 'done' as const };
          }),
        remove: async (item) =>
          catchFileErrors(() => {
            removeDurably(pathOf(item));
            return { kind: 'done' as const };
          }),
      }),
  };
}

/** Number of bytes that is larger than the session record of any login. */
const reservedForRecord = 8192;

/** After an error the content of the file determines the result. */
function writeFile(path: string, text: string, attempt = 1): void {
  try {
    writeSecretFile(path, text);
  } catch (error) {
    if (isStored(path, text)) return;
    // Another process has removed the temporary file as left over, on a file system that does not share locks.
    if (fileErrorCode(error) !== 'ENOENT' || attempt === 10) throw error;
    writeFile(path, text, attempt + 1);
  }
}

function isStored(path: string, text: string): boolean {
  try {
    return readSecretFile(path) === text;
  } catch {
    return false;
  }
}

/** A full disk or a missing permission makes the store unavailable; the reason is the message of the operating system. */
function catchFileErrors<T>(work: () => T): T | StoreUnavailable {
  try {
    return work();
  } catch (error) {
    return fileUnavailable(error);
  }
}

/** The error of a file as the failure of a store. */
export function fileUnavailable(error: unknown): StoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  const hint = hintOfFile(error);
  return { kind: 'unavailable', why: 'file', reason, ...(hint === undefined ? {} : { hint }), cause: error };
}

function hintOfFile(error: unknown): string | undefined {
  if (error instanceof InsecureFileError) return error.hint;
  return isDiskFull(error) ? 'free disk space, then run the command again' : accessCommand(error);
}

/** Throws `keychain_unavailable` for a store that failed, so that callers do not treat it as an empty store. */
export function requireAvailable<T extends { readonly kind: string }>(
  result: T | StoreUnavailable,
  profile: ProfileReference,
): Exclude<T, StoreUnavailable> {
  if (isUnavailable(result)) throw unavailableError(result, profile);
  return result as Exclude<T, StoreUnavailable>;
}

export function isUnavailable(result: { readonly kind: string }): result is StoreUnavailable {
  return result.kind === 'unavailable';
}

/** Creates the error `keychain_unavailable` with the hint for the reason. */
export function unavailableError(unavailable: StoreUnavailable, profile: ProfileReference): CliError {
  const { why, reason, hint: given } = unavailable;
  const { message, hint } = storeErrorTexts[why];
  return new CliError('keychain_unavailable', message, {
    detail: reason,
    hint: given ?? (typeof hint === 'string' ? hint : hint(profile)),
    cause: new StoreFailure(unavailable),
  });
}

/** The failure of a store as an error. */
export class StoreFailure extends Error {
  readonly unavailable: StoreUnavailable;

  constructor(unavailable: StoreUnavailable) {
    super(unavailable.reason, { cause: unavailable.cause });
    this.unavailable = unavailable;
  }
}

/** Whether the error means that this machine has no keychain. */
export function isKeychainMissing(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof StoreFailure && error.cause.unavailable.why === 'missing';
}

interface StoreErrorText {
  readonly message: string;
  readonly hint: string | ((profile: ProfileReference) => string);
}

const fileStoreHint = (profile: ProfileReference): string =>
  `store sessions in files of mode 0600 with ${commandFor(profile, 'config set credential_store file')}`;

const storeErrorTexts: Readonly<Record<StoreUnavailable['why'], StoreErrorText>> = {
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
    hint: 'set CLOUDCTL_STATE_DIR to a folder that you can write to, then log in again',
  },
};

/** The application for which a client secret was registered; the secret is sent only to the server of this application. */
export interface Application {
  readonly authOrigin: string;
  readonly clientId: string;
}

/** Reads the stored client secret of exactly this application; undefined when there is none. */
export async function readClientSecret(store: CredentialStore, binding: Application): Promise<Secret | undefined> {
  const item = requireAvailable(await store.withItems((items) => items.read('client')), store.profile);
  if (item.kind === 'absent') return undefined;
  const json = tryParseJson(item.value.reveal());
  if (!json.ok || !isJsonRecord(json.value)) return undefined;
  const secret = readStringField(json.value, 'client_secret');
  const isOurs =
    readStringField(json.value, 'client_id') === binding.clientId &&
    readStringField(json.value, 'auth_origin') === binding.authOrigin;
  return isOurs && secret !== undefined ? new Secret(secret) : undefined;
}

/** Stores the client secret and reads it back. Throws `keychain_unavailable` when the client secret cannot be stored. */
export async function writeClientSecret(
  store: CredentialStore,
  { clientId, authOrigin }: Application,
  secret: Secret,
): Promise<void> {
  const fields = { v: 1, client_id: clientId, auth_origin: authOrigin, client_secret: secret.reveal() };
  const text = new Secret(JSON.stringify(fields), '[client]');
  requireAvailable(await store.withItems((items) => items.write('client', text)), store.profile);
}

/** Deletes the client secret of the profile if it has one. Throws `keychain_unavailable`. */
export async function removeClientSecret(store: CredentialStore, lock: HeldLock): Promise<void> {
  await store.withItems(async (items) => {
    const item = requireAvailable(await items.read('client'), store.profile);
    if (item.kind === 'found') requireAvailable(await items.remove('client'), store.profile);
  }, lock);
}

/** Whether a client secret is stored, of whatever application; false if the store cannot be read. */
export async function hasClientSecret(store: CredentialStore): Promise<boolean> {
  return (await store.withItems((items) => items.read('client'))).kind === 'found';
}

/** Number of days after which the journal of another session is removed, because its tokens are valid for at most 30 days. */
const keepDays = 35;

/**
 * Removes what interrupted commands have left beside the session `sid`: temporary files, and journals of other sessions that are
 * too old to be of use. Several keychains may use the same folder, so a journal of another session may still be needed.
 * A file that cannot be removed now is removed by a later command.
 */
export function removeLeftovers({ place }: CredentialStore, sid: string, nowMs: number): void {
  for (const path of listTemporary(place)) unlessFailed(() => removeDurably(path));
  for (const other of listJournals(place))
    if (other.sid !== sid) unlessFailed(() => isOld(other.path, nowMs) && removeDurably(other.path));
}

function isOld(path: string, nowMs: number): boolean {
  const entries = openEntries(readSecretBytes(path) ?? Buffer.alloc(0), new Secret(''));
  return entries.every(({ head }) => head !== undefined && nowMs / 1000 - head.sentAt > keepDays * 86_400);
}

/**
 * Deletes the journals and the temporary files of a profile. Profile names contain no dot, so the pattern matches no file of
 * another profile.
 */
export function removeProfileFiles(place: ProfilePaths): void {
  const { folder, profile } = place;
  for (const name of listFolder(folder)) {
    const isJournal = name.startsWith(`${profile}.`) && /\.wal(\.\d+\.next)?$/.test(name);
    const isTemporary = name.startsWith(`.${profile}.`) && name.endsWith('.tmp');
    if (isJournal || isTemporary) removeDurably(join(folder, name));
  }
}

/** Returns the result of `work`, or undefined when a file operation failed. */
export function unlessFailed<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
