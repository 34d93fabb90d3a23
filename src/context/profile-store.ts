import type { Prompts } from '../cli/prompts.ts';
import type { ProfileSettings } from '../config/settings.ts';
import type { Host, OutputSink } from '../platform/host.ts';
import { requireOwnFolder } from '../platform/own-folder.ts';
import type { CredentialStore } from '../session/credential-store.ts';
import { createFileCredentialStore } from '../session/file-store.ts';
import { createKeychainStore } from '../session/keychain-store.ts';
import { keychainAccount, type ProfilePaths } from '../session/profile-paths.ts';
import { createKeychainRefreshJournal } from '../session/write-ahead-journal.ts';

export interface ProfileCredentialStoreDeps {
  readonly host: Host;
  readonly place: ProfilePaths;
  readonly prompts: Pick<Prompts, 'interactive'>;
  readonly stderr: Pick<OutputSink, 'write'>;
}

/**
 * The credential store of a profile: the file store or the keychain, as its settings say.
 * @param limit milliseconds to wait for the keychain (default: a minute on a terminal, where a person can unlock it)
 */
export function createProfileCredentialStore(
  { host, place, prompts, stderr }: ProfileCredentialStoreDeps,
  { profile, values }: ProfileSettings,
  limit: number = prompts.interactive ? 60_000 : 3_000,
): CredentialStore {
  for (const folder of [host.folders.state, place.folder]) requireOwnFolder(folder);
  if (values.credential_store === 'file') return createFileCredentialStore(place, undefined, profile);
  return createKeychainStore({
    profile,
    keychain: host.keychain,
    account: lazy(() => keychainAccount(place, host.random)),
    limit,
    onWaiting: () => {
      if (prompts.interactive) void stderr.write('waiting for the keychain to be unlocked\n');
    },
    platform: host.platform,
    journal: createKeychainRefreshJournal(place),
  });
}

function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
