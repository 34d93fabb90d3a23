import { join } from 'node:path';
import type { HeldFileLock } from '../../platform/file-lock.ts';
import { listFolder, removeFileDurably } from '../../platform/files.ts';
import { type CredentialStore, requireCredentialStoreAvailable } from './credential-store.ts';
import { listRefreshJournalFiles, listTemporaryRefreshJournalFiles, type ProfilePaths } from './profile-paths.ts';

/** Deletes the client secret of the profile if it has one. Throws `keychain_unavailable`. */
export async function removeStoredClientSecret(store: CredentialStore, lock: HeldFileLock): Promise<void> {
  await store.withItems(async (items) => {
    const item = requireCredentialStoreAvailable(await items.read('client'), store.profile);
    if (item.kind === 'found') requireCredentialStoreAvailable(await items.remove('client'), store.profile);
  }, lock);
}

/**
 * Deletes the write-ahead files of token refreshes and the temporary files that interrupted commands have left. Profile names contain no dot, so the
 * pattern matches no file of another profile. The lock files are not deleted: they contain no secret, and another process may
 * have locked them.
 */
export function removeJournalAndTemporaryFiles(place: ProfilePaths): void {
  const { folder, profile } = place;
  const journal = [
    ...listRefreshJournalFiles(place).map(({ path }) => path),
    ...listTemporaryRefreshJournalFiles(place),
  ];
  for (const path of journal) removeFileDurably(path);
  for (const name of listFolder(folder)) {
    const isTemporary = name.startsWith(`.${profile}.`) && name.endsWith('.tmp');
    if (isTemporary) removeFileDurably(join(folder, name));
  }
}
