import { hostname } from 'node:os';
import { normalizeEnvironmentVariableValue, type ResolvedProfileSettings } from '../config/settings.ts';
import { readTextIfPresent } from '../platform/files.ts';
import type { HostSystem } from '../platform/host.ts';
import type { CredentialStore } from '../session/credential-store.ts';
import { createFileCredentialStore } from '../session/file-store.ts';
import { buildSharedStoreMachineName } from '../session/machine-name.ts';
import { type ProfilePaths, readExistingKeychainAccount, readOrCreateStateFolderId } from '../session/profile-paths.ts';
import {
  type FoundShareEncryptionKeys,
  readShareEncryptionKeys,
  type ShareEncryptionKeyLocations,
} from '../session/share-key-items.ts';
import { createSharedCredentialStore } from '../session/shared-credential-store.ts';
import { openSharedStore } from '../shared-store/open-shared-store.ts';
import type { SharedSessionEntryKey, SharedSessionStore } from '../shared-store/shared-session.ts';
import { parseSharedStoreUrl, type SharedStoreAddress, storeUrlVariable } from '../shared-store/store-url.ts';

/** The parts of a profile that several machines share. */
export interface SharedProfileStoreAndKeys {
  readonly store: CredentialStore;
  readonly keyPlaces: ShareEncryptionKeyLocations;
  /** Reads the encryption keys of the shared store; throws a CliError when this machine has none. */
  readonly readKeys: () => Promise<FoundShareEncryptionKeys>;
  readonly keychain: CredentialStore;
  /** The path of the file with the keys of the shared store. */
  readonly keyFile: string;
  readonly machine: () => string;
  /** Throws a CliError (usage) for a missing or wrong CLOUDCTL_STORE_URL. */
  readonly address: () => SharedStoreAddress;
  readonly open: (key: SharedSessionEntryKey) => Promise<SharedSessionStore>;
}

export interface SharedProfileStoreAndKeysDeps {
  readonly host: HostSystem;
  readonly place: ProfilePaths;
  readonly keychain: CredentialStore;
  readonly warn: (text: string) => Promise<void>;
  readonly isSilent: boolean;
}

export function buildSharedProfileStoreAndKeys(
  { host, place, keychain, warn, isSilent }: SharedProfileStoreAndKeysDeps,
  { profile }: ResolvedProfileSettings,
): SharedProfileStoreAndKeys {
  const local = createFileCredentialStore(place, undefined, profile);
  const keyPlaces = {
    env: host.env,
    file: local,
    keychain: readExistingKeychainAccount(place) === undefined ? undefined : keychain,
  };
  const machine = (): string => {
    const given = normalizeEnvironmentVariableValue(host.env.CLOUDCTL_MACHINE_NAME);
    return buildSharedStoreMachineName(given, hostname(), readOrCreateStateFolderId(place, host.random));
  };
  const address = (): SharedStoreAddress =>
    parseSharedStoreUrl(normalizeEnvironmentVariableValue(host.env[storeUrlVariable]), readTextIfPresent);
  const open = async (key: SharedSessionEntryKey): Promise<SharedSessionStore> =>
    openSharedStore(address(), key, {
      onUnconfirmed: (missing) => void warn(`the shared store has not confirmed that the session is in ${missing}`),
    });
  const store = createSharedCredentialStore({
    profile,
    place,
    keys: async () => (await readShareEncryptionKeys(keyPlaces)).keys,
    open,
    local,
    location: `the shared store of ${storeUrlVariable}`,
    machine,
    clock: host.clock,
    random: host.random,
    warn,
    isSilent,
    signals: host.signals,
  });
  const readKeys = () => readShareEncryptionKeys(keyPlaces);
  return { store, keyPlaces, readKeys, keychain, keyFile: place.shareFile, machine, address, open };
}
