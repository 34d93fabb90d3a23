import type { CredentialStore } from '../auth/session/credential-store.ts';
import { createFileCredentialStore } from '../auth/session/file-store.ts';
import { createKeychainStore } from '../auth/session/keychain-store.ts';
import { type ProfilePaths, readOrCreateKeychainAccount } from '../auth/session/profile-paths.ts';
import { createWriteAheadFileJournal } from '../auth/session/write-ahead-journal.ts';
import type { Prompts } from '../cli/prompts.ts';
import type { ResolvedProfileSettings } from '../config/settings.ts';
import type { HostSystem, OutputSink } from '../platform/host.ts';
import { requireOwnFolder } from '../platform/own-folder.ts';

export interface ProfileCredentialStoreDeps {
  readonly host: HostSystem;
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
  { profile, values }: ResolvedProfileSettings,
  limit: number = prompts.interactive ? 60_000 : 3_000,
): CredentialStore {
  for (const folder of [host.folders.state, place.folder]) requireOwnFolder(folder);
  if (values.credential_store === 'file') return createFileCredentialStore(place, undefined, profile);
  let account: string | undefined;
  return createKeychainStore({
    profile,
    keychain: host.keychain,
    account: () => (account ??= readOrCreateKeychainAccount(place, host.random)),
    limit,
    onWaiting: () => {
      if (prompts.interactive) void stderr.write('waiting for the keychain to be unlocked\n');
    },
    platform: host.platform,
    journal: createWriteAheadFileJournal(place),
  });
}
