import { ensureFolder, readTextIfAny, removeDurably, writeAtomically } from '../platform/files.ts';
import { Secret } from '../secret.ts';
import type { Journal } from './journal.ts';
import { createFileJournal } from './journal-file.ts';
import type { Place } from './place.ts';
import type { CredentialStore, ItemName, StoreUnavailable } from './store.ts';

/** The opt-in store: files of mode 0600 beside the locks. Writing is temporary file, sync, rename, sync of the folder: the rename is the commit. */
export function createFileStore(place: Place, journal: Journal = createFileJournal(place)): CredentialStore {
  const pathOf = (item: ItemName): string => (item === 'credential' ? place.credentialFile : place.clientFile);
  return {
    profile: place.profile,
    kind: 'file',
    place: place.credentialFile,
    limit: undefined,
    journal,
    visit: (work) =>
      work({
        read: async (item) =>
          attempt(() => {
            const text = readTextIfAny(pathOf(item));
            return text === undefined
              ? { kind: 'absent' as const }
              : { kind: 'found' as const, value: new Secret(text.trimEnd()) };
          }),
        write: async (item, value) =>
          attempt(() => {
            ensureFolder(place.folder);
            writeAtomically(pathOf(item), `${value.reveal()}\n`);
            return { kind: 'done' as const };
          }),
        remove: async (item) =>
          attempt(() => {
            removeDurably(pathOf(item));
            return { kind: 'done' as const };
          }),
      }),
  };
}

/** A full disk or a missing permission is an unavailable store, with the system's words. */
function attempt<T>(work: () => T): T | StoreUnavailable {
  try {
    return work();
  } catch (error) {
    return { kind: 'unavailable', why: 'file', reason: error instanceof Error ? error.message : String(error) };
  }
}
