import { Secret } from '../../base/secret.ts';
import type { ProfileReference } from '../../config/settings.ts';
import { ensureFolder, removeFileDurably } from '../../platform/files.ts';
import {
  InsecureFileError,
  prepareSecretFileReplacement,
  readSecretFile,
  renameTemporarySecretFile,
  writeSecretFile,
} from '../../platform/secret-file.ts';
import type { CredentialStore, CredentialStoreItemName, CredentialStoreUnavailable } from './credential-store.ts';
import { createFileStoreRefreshJournal, findTemporaryCredentialFilesWithText } from './file-store-journal.ts';
import type { ProfilePaths } from './profile-paths.ts';
import type { RefreshJournal } from './refresh-journal.ts';

/**
 * The optional credential store in files of mode 0600, in the folder of the lock files. A write syncs a temporary file, renames
 * it and syncs the folder; the rename commits the write.
 */
export function createFileCredentialStore(
  place: ProfilePaths,
  journal: RefreshJournal = createFileStoreRefreshJournal(place),
  profile: ProfileReference = { name: place.profile, isDefault: false },
): CredentialStore {
  const pathOf = (item: CredentialStoreItemName): string =>
    item === 'credential' ? place.credentialFile : place.clientFile;
  return {
    profile,
    kind: 'file',
    location: place.credentialFile,
    maxLength: undefined,
    journal,
    checkWritable: () => {
      const checked = catchFileErrors(() => {
        ensureFolder(place.folder);
        // The lock is not held, so another command must not take the file for that of an interrupted refresh.
        prepareSecretFileReplacement(place.credentialFile, reservedForLogin, place.probeFile).abandon();
        return { kind: 'done' as const };
      });
      return checked.kind === 'unavailable' ? checked : undefined;
    },
    withItems: (work) =>
      work({
        read: async (item) =>
          catchFileErrors(() => {
            const text = readSecretFile(pathOf(item));
            return text === undefined
              ? { kind: 'absent' as const }
              : { kind: 'found' as const, value: new Secret(text.trimEnd()) };
          }),
        write: async (item, value) =>
          catchFileErrors(() => {
            ensureFolder(place.folder);
            writeItem(place, pathOf(item), `${value.reveal()}\n`);
            return { kind: 'done' as const };
          }),
        remove: async (item) =>
          catchFileErrors(() => {
            removeFileDurably(pathOf(item));
            return { kind: 'done' as const };
          }),
      }),
  };
}

/** Number of bytes that is larger than the session record of any login. */
const reservedForLogin = 8192;

/**
 * After an error the content of the store determines the result. A temporary file with the whole text is kept until the text is
 * stored in the target file.
 */
function writeItem(place: ProfilePaths, path: string, text: string): void {
  const kept = path === place.credentialFile ? findTemporaryCredentialFilesWithText(place, text) : [];
  for (const temporary of kept) {
    try {
      renameTemporarySecretFile(temporary, path, text);
      return;
    } catch {
      // If no temporary file can be renamed, a new file is written.
    }
  }
  try {
    writeSecretFile(path, text, kept.length > 0 || path !== place.credentialFile);
  } catch (error) {
    if (!isStored(path, text)) throw error;
  }
}

function isStored(path: string, text: string): boolean {
  try {
    return readSecretFile(path) === text;
  } catch {
    return false;
  }
}

/** A full disk or a missing permission makes the store unavailable; the reason is the message of the operating system. */
function catchFileErrors<T>(work: () => T): T | CredentialStoreUnavailable {
  try {
    return work();
  } catch (error) {
    return fileUnavailable(error);
  }
}

function fileUnavailable(error: unknown): CredentialStoreUnavailable {
  const reason = error instanceof Error ? error.message : String(error);
  const hint = error instanceof InsecureFileError ? { hint: error.hint } : {};
  return { kind: 'unavailable', why: 'file', reason, ...hint };
}
