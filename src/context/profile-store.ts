import type { Prompts } from '../cli/prompts.ts';
import type { ResolvedProfileSettings } from '../config/settings.ts';
import type { HostSystem, OutputSink } from '../platform/host.ts';
import { requireOwnFolder } from '../platform/own-folder.ts';
import type { CredentialStore } from '../session/credential-store.ts';
import { createFileCredentialStore } from '../session/file-store.ts';
import { createKeychainStore } from '../session/keychain-store.ts';
import { type ProfilePaths, readOrCreateKeychainAccount } from '../session/profile-paths.ts';
import { createWriteAheadFileJournal } from '../session/write-ahead-journal.ts';
import type { SharedProfileStoreAndKeys } from './shared-profile.ts';

export interface ProfileCredentialStoreDeps {
  readonly host: HostSystem;
  readonly place: ProfilePaths;
  readonly prompts: Pick<Prompts, 'interactive'>;
  readonly stderr: Pick<OutputSink, 'write'>;
  readonly warn: (text: string) => Promise<void>;
  /** Whether `warn` prints nothing. */
  readonly isSilent: boolean;
}

/**
 * The credential store of a profile: the file store, the shared store or the keychain, as its settings say.
 * @param limit milliseconds to wait for the keychain (default: a minute on a terminal, where a person can unlock it)
 */
export async function createProfileCredentialStore(
  deps: ProfileCredentialStoreDeps,
  settings: ResolvedProfileSettings,
  limit?: number,
): Promise<CredentialStore> {
  const { host, place } = deps;
  const { profile, values } = settings;
  for (const folder of [host.folders.state, place.folder]) requireOwnFolder(folder);
  if (values.credential_store === 'file') return createFileCredentialStore(place, undefined, profile);
  if (values.credential_store === 'shared') return (await createSharedProfileAccess(deps, settings)).store;
  return createProfileKeychainStore(deps, settings, limit);
}

/** Creates the shared part of a profile with `credential_store: shared`. */
export async function createSharedProfileAccess(
  deps: ProfileCredentialStoreDeps,
  settings: ResolvedProfileSettings,
): Promise<SharedProfileStoreAndKeys> {
  const { host, place, warn, isSilent } = deps;
  // The module is loaded only for a shared profile: few profiles are shared, and loading the module delays the start.
  const { buildSharedProfileStoreAndKeys } = await import('./shared-profile.ts');
  return buildSharedProfileStoreAndKeys(
    { host, place, warn, isSilent, keychain: createProfileKeychainStore(deps, settings) },
    settings,
  );
}

export function createProfileKeychainStore(
  { host, place, prompts, stderr }: ProfileCredentialStoreDeps,
  { profile }: ResolvedProfileSettings,
  limit: number = prompts.interactive ? 60_000 : 3_000,
): CredentialStore {
  return createKeychainStore({
    profile,
    keychain: host.keychain,
    account: lazy(() => readOrCreateKeychainAccount(place, host.random)),
    limit,
    onWaiting: () => {
      if (prompts.interactive) void stderr.write('waiting for the keychain to be unlocked\n');
    },
    platform: host.platform,
    journal: createWriteAheadFileJournal(place),
  });
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
