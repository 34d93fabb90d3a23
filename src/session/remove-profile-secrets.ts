import { join } from 'node:path';
import type { HeldLock } from '../platform/file-lock.ts';
import { listFolder, removeDurably } from '../platform/files.ts';
import { type CredentialStore, requireAvailable } from './credential-store.ts';
import { listTemporaryWriteAheadFiles, listWriteAheadFiles, type ProfilePaths } from './profile-paths.ts';

/** Deletes the client secret of the profile if it has one. Throws `keychain_unavailable`. */
export async function removeClientSecret(store: CredentialStore, lock: HeldLock): Promise<void> {
  await store.withItems(async (items) => {
    const item = requireAvailable(await items.read('client'), store.profile);
    if (item.kind === 'found') requireAvailable(await items.remove('client'), store.profile);
  }, lock);
}

/**
 * Deletes write-ahead files and temporary files that an interrupted command has left. Profile names contain no dot, so the
 * pattern matches no file of another profile. The lock files are not deleted: they contain no secret, and another process may
 * have locked them.
 */
export function removeSessionFiles(place: ProfilePaths): void {
  const { folder, profile } = place;
  const journal = [...listWriteAheadFiles(place).map(({ path }) => path), ...listTemporaryWriteAheadFiles(place)];
  for (const path of journal) removeDurably(path);
  for (const name of listFolder(folder)) {
    const isTemporary = name.startsWith(`.${profile}.`) && name.endsWith('.tmp');
    if (isTemporary) removeDurably(join(folder, name));
  }
}
