import { CliError, usageError } from '../errors.ts';
import type { ProcessEnvironment } from '../platform/host.ts';
import { decodeShareKeys, encodeShareKeys, type ShareKeys } from '../shared-store/share-keys.ts';
import {
  type CredentialStore,
  credentialStoreUnavailableError,
  isCredentialStoreUnavailable,
  requireCredentialStoreAvailable,
} from './credential-store.ts';
import { formatProfileCommand } from './suggested-commands.ts';

/** The variable with the keys of the share, for machines that keep nothing, such as containers of a CI system. */
export const storeKeyVariable = 'CLOUDCTL_STORE_KEY';

/** Where this machine may have the keys of a share. */
export interface ShareKeyPlaces {
  readonly env: ProcessEnvironment;
  readonly file: CredentialStore;
  /** undefined if this state folder has never used a keychain. */
  readonly keychain: CredentialStore | undefined;
}

export interface FoundShareKeys {
  readonly keys: ShareKeys;
  readonly from: 'variable' | 'file' | 'keychain';
}

/** The keys of the share: from the variable, the file or the keychain. Throws a CliError when this machine has none. */
export async function readShareKeys(places: ShareKeyPlaces): Promise<FoundShareKeys> {
  const found = await findShareKeys(places);
  if (found !== undefined) return found;
  const { profile } = places.file;
  throw new CliError('not_logged_in', `profile "${profile.name}" has no keys of a share on this machine`, {
    detail: `the profile uses a shared credential store, and ${storeKeyVariable} is not set`,
    hint: `join the share: ${formatProfileCommand(profile, 'auth share join')} < KEYFILE`,
  });
}

/** Like `readShareKeys`; undefined when this machine has none. */
export async function findShareKeys({ env, file, keychain }: ShareKeyPlaces): Promise<FoundShareKeys | undefined> {
  const variable = env[storeKeyVariable]?.trim();
  if (variable !== undefined && variable !== '') {
    const keys = decodeShareKeys(variable);
    if (keys !== undefined) return { keys, from: 'variable' };
    throw usageError(`${storeKeyVariable} is not the key of a share`, 'set it to the text of the key file');
  }
  for (const [from, store] of [['file', file] as const, ['keychain', keychain] as const]) {
    const item = await store?.withItems((items) => items.read('share'));
    if (item === undefined || item.kind === 'absent') continue;
    if (isCredentialStoreUnavailable(item)) throw credentialStoreUnavailableError(item, file.profile);
    const keys = decodeShareKeys(item.value.reveal());
    if (keys !== undefined) return { keys, from };
    throw new CliError('config_invalid', `the keys of the share in the ${from} are damaged`, {
      hint: `join the share again: ${formatProfileCommand(file.profile, 'auth share join')} < KEYFILE`,
    });
  }
  return undefined;
}

/** Stores the keys of the share. Throws `keychain_unavailable`. */
export async function writeShareKeys(store: CredentialStore, keys: ShareKeys): Promise<void> {
  const written = await store.withItems((items) => items.write('share', encodeShareKeys(keys)));
  requireCredentialStoreAvailable(written, store.profile);
}

/** Removes the keys of the share from this machine. Throws `keychain_unavailable`. */
export async function removeShareKeys({ file, keychain }: ShareKeyPlaces): Promise<void> {
  for (const store of [file, keychain]) {
    const removed = await store?.withItems((items) => items.remove('share'));
    if (removed !== undefined) requireCredentialStoreAvailable(removed, file.profile);
  }
}
