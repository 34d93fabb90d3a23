import { usageError } from '../../../base/errors.ts';
import type { ResolvedProfileSettings } from '../../../config/settings.ts';
import type { SharedProfileStoreAndKeys } from '../../../context/shared-profile.ts';
import type { CommandContext } from '../../../context.ts';
import { catchSharedStoreUnavailable } from '../../../session/catch-shared-store-unavailable.ts';
import { credentialStoreUnavailableError, requireCredentialStoreAvailable } from '../../../session/credential-store.ts';
import {
  type FoundShareEncryptionKeys,
  findShareEncryptionKeys,
  readShareEncryptionKeys,
  removeShareEncryptionKeyFile,
  writeShareEncryptionKeys,
} from '../../../session/share-key-items.ts';
import { formatCommandForProfile } from '../../../session/suggested-commands.ts';
import type { ShareEncryptionKeys } from '../../../shared-store/share-encryption-keys.ts';
import type { SharedSessionStore } from '../../../shared-store/shared-session.ts';

/**
 * The settings of the profile and its shared credential store. Throws a usage error if the profile uses another credential
 * store.
 */
export async function requireSharedProfile(
  context: CommandContext,
  settings = context.settings(),
): Promise<{ readonly settings: ResolvedProfileSettings; readonly share: SharedProfileStoreAndKeys }> {
  if (settings.values.credential_store !== 'shared')
    throw usageError(
      `the credential store of profile "${settings.profileName}" is not shared`,
      `change it: ${formatCommandForProfile(settings.profile, 'config set credential_store shared')}`,
    );
  return { settings, share: await context.share(settings) };
}

export interface OpenedShare {
  readonly settings: ResolvedProfileSettings;
  readonly share: SharedProfileStoreAndKeys;
  readonly found: FoundShareEncryptionKeys;
  readonly store: SharedSessionStore;
}

/**
 * Opens the shared store with the keys of this machine. Errors of the database server become a CliError with the code
 * `unreachable`.
 */
export async function withOpenSharedStore<T>(
  context: CommandContext,
  work: (open: OpenedShare) => Promise<T>,
  settings = context.settings(),
): Promise<T> {
  const { share } = await requireSharedProfile(context, settings);
  const found = await readShareEncryptionKeys(share.keyPlaces);
  const store = await share.open({ share: found.keys.share, profile: settings.profileName });
  try {
    const result = await catchSharedStoreUnavailable(store.location, async () => ({
      kind: 'done' as const,
      value: await work({ settings, share, found, store }),
    }));
    return requireCredentialStoreAvailable(result, settings.profile).value;
  } finally {
    await store.close();
  }
}

/** The keys of the share on this machine, while the profile is locked. */
export interface LockedShareKeys {
  /** Undefined if this machine has no keys of a share. */
  readonly existing: FoundShareEncryptionKeys | undefined;
  /** Replaces the stored keys. A key file is removed after the keys were stored in the keychain. */
  readonly store: (keys: ShareEncryptionKeys, isInKeychain: boolean) => Promise<void>;
}

/**
 * Runs `work` with the lock of the profile and the keys that are stored now. A command that has read the keys before, for
 * example to connect, changes them here, so that a key which another command has added since is kept. `work` must not wait for
 * a server. Throws `busy` if the lock is not free in time.
 */
export async function withLockedShareKeys<T>(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  work: (locked: LockedShareKeys) => Promise<T>,
): Promise<T> {
  const lock = await context.lock(context.profilePaths(settings.profileName).lock);
  try {
    // Another command may have used the keychain for the first time since this one began.
    const { keyPlaces, keychain } = await context.share(settings);
    const existing = await findShareEncryptionKeys(keyPlaces);
    const store = async (keys: ShareEncryptionKeys, isInKeychain: boolean): Promise<void> => {
      await writeShareEncryptionKeys(isInKeychain ? keychain : keyPlaces.file, keys, lock);
      if (isInKeychain && existing?.from === 'file') await removeShareEncryptionKeyFile(keyPlaces, lock);
    };
    return await work({ existing, store });
  } finally {
    lock.release();
  }
}

/** Runs `work`. When the server of the shared store is not available, throws a CliError with the code `unreachable`. */
export async function rethrowShareErrorsAsUnreachable<T>(
  settings: ResolvedProfileSettings,
  work: () => Promise<T>,
): Promise<T> {
  const result = await catchSharedStoreUnavailable('the server of CLOUDCTL_STORE_URL', async () => ({
    kind: 'done' as const,
    value: await work(),
  }));
  if (result.kind === 'unavailable') throw credentialStoreUnavailableError(result, settings.profile);
  return result.value;
}

/** Warns if the server would store sessions without adding entries to the log. */
export async function warnOfLogFailure({ output }: CommandContext, store: SharedSessionStore): Promise<void> {
  const reason = await store.findLogFailure?.();
  if (reason !== undefined)
    await output.warn(
      `sessions can be stored, but nothing is added to the log of the share: ${store.location}: ${reason}`,
    );
}
