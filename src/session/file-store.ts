import type { ProfileReference } from '../config/settings.ts';
import { ensureFolder, readTextIfPresent, removeDurably, writeAtomically } from '../platform/files.ts';
import { Secret } from '../secret.ts';
import type { CredentialItemName, CredentialStore, StoreUnavailable } from './credential-store.ts';
import { createFileJournal } from './file-store-journal.ts';
import type { ProfilePaths } from './profile-paths.ts';
import type { RefreshJournal } from './refresh-journal.ts';

/**
 * The opt-in store: files of mode 0600 beside the locks. A write syncs a temporary file, renames it and syncs the folder; the
 * rename is the commit.
 */
export function createFileStore(
  place: ProfilePaths,
  journal: RefreshJournal = createFileJournal(place),
  profile: ProfileReference = { name: place.profile, isDefault: false },
): CredentialStore {
  const pathOf = (item: CredentialItemName): string =>
    item === 'credential' ? place.credentialFile : place.clientFile;
  return {
    profile,
    kind: 'file',
    location: place.credentialFile,
    maxLength: undefined,
    journal,
    withItems: (work) =>
      work({
        read: async (item) =>
          catchFileErrors(() => {
            const text = readTextIfPresent(pathOf(item));
            return text === undefined
              ? { kind: 'absent' as const }
              : { kind: 'found' as const, value: new Secret(text.trimEnd()) };
          }),
        write: async (item, value) =>
          catchFileErrors(() => {
            ensureFolder(place.folder);
            writeAtomically(pathOf(item), `${value.reveal()}\n`);
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

/** A full disk or a missing permission is an unavailable store; the reason is the system's message. */
function catchFileErrors<T>(work: () => T): T | StoreUnavailable {
  try {
    return work();
  } catch (error) {
    return { kind: 'unavailable', why: 'file', reason: error instanceof Error ? error.message : String(error) };
  }
}
