import { CliError, usageError } from '../base/errors.ts';
import type { ProfileReference } from '../config/settings.ts';
import type { HeldFileLock } from '../platform/file-lock.ts';
import type { ProcessEnvironment } from '../platform/host.ts';
import {
  decodeShareEncryptionKeys,
  encodeShareEncryptionKeys,
  type ShareEncryptionKeys,
} from '../shared-store/share-encryption-keys.ts';
import {
  type CredentialStore,
  credentialStoreUnavailableError,
  isCredentialStoreUnavailable,
  requireCredentialStoreAvailable,
} from './credential-store.ts';
import { formatCommandForProfile, formatShareJoinCommand } from './suggested-commands.ts';

/** The variable with the keys of the share, for machines that keep nothing, such as containers of a CI system. */
export const shareEncryptionKeyVariable = 'CLOUDCTL_STORE_KEY';

/** The places where this machine looks for the keys of a share. */
export interface ShareEncryptionKeyLocations {
  readonly env: ProcessEnvironment;
  readonly file: CredentialStore;
  /** The keychain; undefined if this state folder has never used a keychain. */
  readonly keychain: CredentialStore | undefined;
}

export interface FoundShareEncryptionKeys {
  readonly keys: ShareEncryptionKeys;
  readonly from: 'variable' | 'file' | 'keychain';
}

/** The hint that gives this machine a key of the share that it does not have. The keys in the variable win over stored keys. */
export function formatMissingShareKeyHint(profile: ProfileReference, isFromVariable = false): string {
  return isFromVariable
    ? `set ${shareEncryptionKeyVariable} to the keys of a machine that has this key; there, ${formatCommandForProfile(profile, 'auth share init --print-key')} prints them`
    : `give this machine the keys of the share: ${formatShareJoinCommand(profile)}`;
}

/** The keys of the share: from the variable, the file or the keychain. Throws a CliError when this machine has none. */
export async function readShareEncryptionKeys(places: ShareEncryptionKeyLocations): Promise<FoundShareEncryptionKeys> {
  const found = await findShareEncryptionKeys(places);
  if (found !== undefined) return found;
  const { profile } = places.file;
  throw new CliError(
    'not_logged_in',
    `profile "${profile.name}" has no keys of its shared credential store on this machine`,
    {
      detail: `the profile uses a shared credential store, and ${shareEncryptionKeyVariable} is not set`,
      hint: `join the share: ${formatShareJoinCommand(profile)}`,
    },
  );
}

/** Like `readShareEncryptionKeys`, but returns undefined when this machine has no keys of a share. */
export async function findShareEncryptionKeys({
  env,
  file,
  keychain,
}: ShareEncryptionKeyLocations): Promise<FoundShareEncryptionKeys | undefined> {
  const variable = env[shareEncryptionKeyVariable]?.trim();
  if (variable !== undefined && variable !== '') {
    const keys = decodeShareEncryptionKeys(variable);
    if (keys !== undefined) return { keys: { ...keys, isFromVariable: true }, from: 'variable' };
    throw usageError(
      `${shareEncryptionKeyVariable} is not the key of a share`,
      'set the variable to the text of the key file',
    );
  }
  for (const [from, store] of [['file', file] as const, ['keychain', keychain] as const]) {
    const item = await store?.withItems((items) => items.read('share'));
    if (item === undefined || item.kind === 'absent' || isMissingKeychain(item)) continue;
    if (isCredentialStoreUnavailable(item)) throw credentialStoreUnavailableError(item, file.profile);
    const keys = decodeShareEncryptionKeys(item.value.reveal());
    if (keys !== undefined) return { keys, from };
    throw new CliError('config_invalid', `the keys of the share in the ${from} are damaged`, {
      hint: `join the share again: ${formatShareJoinCommand(file.profile)}`,
    });
  }
  return undefined;
}

/** Stores the keys of the share; the caller has the lock of the profile. Throws `keychain_unavailable`. */
export async function writeShareEncryptionKeys(
  store: CredentialStore,
  keys: ShareEncryptionKeys,
  lock: HeldFileLock,
): Promise<void> {
  const written = await store.withItems((items) => items.write('share', encodeShareEncryptionKeys(keys)), lock);
  requireCredentialStoreAvailable(written, store.profile);
}

/**
 * Removes the keys of the share from this machine; the caller has the lock of the profile. Throws `keychain_unavailable`. The
 * keychain is first, so that the file is kept if the keychain is locked.
 */
export async function removeShareEncryptionKeys(
  { file, keychain }: ShareEncryptionKeyLocations,
  lock: HeldFileLock,
): Promise<void> {
  for (const store of [keychain, file]) {
    const removed = await store?.withItems((items) => items.remove('share'), lock);
    if (removed !== undefined && !isMissingKeychain(removed)) requireCredentialStoreAvailable(removed, file.profile);
  }
}

/**
 * Removes the key file after the keys were stored in the keychain, because the file would be read first; the caller has the lock
 * of the profile.
 */
export async function removeShareEncryptionKeyFile(
  { file }: ShareEncryptionKeyLocations,
  lock: HeldFileLock,
): Promise<void> {
  requireCredentialStoreAvailable(await file.withItems((items) => items.remove('share'), lock), file.profile);
}

/** A machine without a keychain, such as a server, has no key in it. */
function isMissingKeychain(result: { readonly kind: string; readonly why?: string }): boolean {
  return result.kind === 'unavailable' && result.why === 'missing';
}
