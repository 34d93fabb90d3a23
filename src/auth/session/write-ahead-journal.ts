import {
  createFileWithReservedSpace,
  ensureFolder,
  type FileWithReservedSpace,
  fileErrorCode,
  readBytesIfPresent,
  removeFileDurably,
  renameFileDurably,
} from '../../platform/files.ts';
import { decodeTokenResponse } from '../oauth/index.ts';
import { type CredentialRecord, computeRefreshJournalReservationBytes } from './credential-record.ts';
import {
  type DecryptedRefreshJournal,
  decryptRefreshJournal,
  encodeRefreshJournalHeader,
  encryptRefreshJournal,
  isValidRefreshJournalKey,
  refreshTokenFingerprint,
} from './encrypted-journal.ts';
import { reachFailpoint } from './failpoints.ts';
import {
  buildRefreshJournalDraftPath,
  buildRefreshJournalFilePath,
  listRefreshJournalFiles,
  listTemporaryRefreshJournalFiles,
  type ProfilePaths,
  type RefreshJournalFile,
} from './profile-paths.ts';
import type {
  PreparedRefreshJournalFile,
  RefreshJournal,
  RefreshJournalReservationOptions,
  RefreshJournalState,
} from './refresh-journal.ts';
import { buildCredentialRecordOfResponse } from './renewed-credential-record.ts';

/** The file operations for write-ahead files; tests replace them with functions that fail. */
export interface RefreshJournalFileOperations {
  readonly create: typeof createFileWithReservedSpace;
  readonly read: (path: string) => Buffer | undefined;
  readonly rename: (from: string, to: string) => void;
  readonly remove: (path: string) => void;
}

const realDisk: RefreshJournalFileOperations = {
  create: createFileWithReservedSpace,
  read: readBytesIfPresent,
  rename: renameFileDurably,
  remove: removeFileDurably,
};
/** Number of days after which a write-ahead file of another session is removed, because its tokens are valid for at most 30 days. */
const keepDays = 35;

/** The refresh journal of the keychain store: files `<profile>.<sid>.<gen>.wal` in the state folder (docs/sessions.md). */
export function createWriteAheadFileJournal(
  place: ProfilePaths,
  disk: RefreshJournalFileOperations = realDisk,
): RefreshJournal {
  const remove = (path: string): void => {
    try {
      disk.remove(path);
    } catch {
      // An obsolete file that cannot be removed is removed by a later command.
    }
  };
  return {
    inspect: (item) => inspectWriteAheadFiles(place, disk, item),
    isOrphaned: () => listRefreshJournalFiles(place).length > 0,
    reserve: (record, options) => reserve({ place, disk, remove }, record, options),
    removeObsolete(stored, nowMs) {
      for (const wal of listRefreshJournalFiles(place)) if (isObsolete(disk, wal, stored, nowMs)) remove(wal.path);
      for (const path of listTemporaryRefreshJournalFiles(place)) remove(path);
    },
    removeCommitted(stored) {
      for (const wal of listRefreshJournalFiles(place))
        if (wal.sid === stored.sid && wal.gen <= stored.gen) remove(wal.path);
    },
    removeSession(sid) {
      for (const wal of listRefreshJournalFiles(place)) if (wal.sid === sid) remove(wal.path);
    },
  };
}

function inspectWriteAheadFiles(
  place: ProfilePaths,
  disk: RefreshJournalFileOperations,
  item: CredentialRecord,
): RefreshJournalState {
  const wals = listRefreshJournalFiles(place);
  const ours = wals.filter(({ sid }) => sid === item.sid);
  let record = item;
  let interrupted: DecryptedRefreshJournal | undefined;
  for (const wal of ours.filter(({ gen }) => gen > item.gen)) {
    const opened = readWriteAheadFile(disk, wal, item);
    const next = recordFromResponse(record, wal, opened);
    if (next === undefined) {
      if (wal.gen === record.gen + 1) interrupted = opened;
    } else {
      record = next;
      interrupted = undefined;
    }
  }
  return {
    record,
    pending: record !== item,
    inDoubt: interrupted !== undefined && isRefreshOf(interrupted, record),
    hasObsoleteFiles: ours.some(({ gen }) => gen <= item.gen),
  };
}

/** The session record after a refresh of `old`, from the token response in the journal file; undefined without a valid one. */
function recordFromResponse(
  old: CredentialRecord,
  { gen }: RefreshJournalFile,
  opened: DecryptedRefreshJournal,
): CredentialRecord | undefined {
  if (opened.kind !== 'opens') return undefined;
  const answer = decodeTokenResponse({ status: 200, contentType: '', body: opened.body.reveal() });
  const next = buildCredentialRecordOfResponse(old, answer, opened.head.sentAt);
  return next === undefined ? undefined : { ...next, gen };
}

function isRefreshOf({ head }: DecryptedRefreshJournal, { refreshToken }: CredentialRecord): boolean {
  return (
    refreshToken !== undefined && (head === undefined || head.fingerprint === refreshTokenFingerprint(refreshToken))
  );
}

/**
 * A write-ahead file that cannot be read, or whose header does not match its name, is treated as damaged; `reserve` never
 * replaces a file that cannot be read.
 */
function readWriteAheadFile(
  disk: RefreshJournalFileOperations,
  { path, sid, gen }: RefreshJournalFile,
  { journalKey: seal }: CredentialRecord,
): DecryptedRefreshJournal {
  const torn = { kind: 'torn', head: undefined } as const;
  try {
    const bytes = disk.read(path);
    const opened = bytes === undefined ? torn : decryptRefreshJournal(bytes, seal);
    return opened.head?.sid === sid && opened.head.gen === gen ? opened : torn;
  } catch {
    return torn;
  }
}

function isObsolete(
  disk: RefreshJournalFileOperations,
  wal: RefreshJournalFile,
  stored: CredentialRecord,
  nowMs: number,
): boolean {
  if (wal.sid === stored.sid) return wal.gen <= stored.gen;
  // The key of a write-ahead file may be in another keychain, because several keychains may use the same folder.
  const { head } = readWriteAheadFile(disk, wal, stored);
  return head !== undefined && nowMs / 1000 - head.sentAt > keepDays * 86_400;
}

interface WriteAheadContext {
  readonly place: ProfilePaths;
  readonly disk: RefreshJournalFileOperations;
  readonly remove: (path: string) => void;
}

function reserve(
  { place, disk, remove }: WriteAheadContext,
  record: CredentialRecord,
  options: RefreshJournalReservationOptions,
): PreparedRefreshJournalFile {
  if (record.refreshToken === undefined || !isValidRefreshJournalKey(record.journalKey))
    throw new Error('the session has no key for its encrypted refresh journal');
  const path = buildRefreshJournalFilePath(place, record.sid, record.gen + 1);
  const [fingerprint, pid] = [refreshTokenFingerprint(record.refreshToken), process.pid];
  const head = encodeRefreshJournalHeader({
    sid: record.sid,
    gen: record.gen + 1,
    fingerprint,
    sentAt: options.now,
    pid,
  });
  const size = computeRefreshJournalReservationBytes(record);
  ensureFolder(place.folder);
  const isPrepared = hasWriteAheadFile(place, path);
  // Throws if an existing write-ahead file cannot be read, because it may contain the newest record.
  if (isPrepared) disk.read(path);
  const { file, hasReplaced } = createWriteAheadFile(disk, path, head, size, isPrepared);
  // The first use of the cipher is slow, so a test encryption is made before the request is sent.
  encryptRefreshJournal(head, record.journalKey, '', size, options.random(12));
  const nonce = options.random(12);
  return {
    path,
    hasRival: () => hasReplaced || !file.isAt(path),
    persistResponse(body) {
      try {
        const bytes = encryptRefreshJournal(head, record.journalKey, body, size, nonce);
        file.fill(bytes, () => reachFailpoint(options, 'K7-written'));
        reachFailpoint(options, 'K8-sealed');
        return true;
      } catch {
        // If the journal cannot be written, the tokens are still in memory, and the credential store is written next.
        return false;
      }
    },
    commit(write) {
      reachFailpoint(options, 'K9-storing');
      return write();
    },
    discard() {
      // Another process may have replaced the write-ahead file with its own, which must not be removed.
      const isFileAt = file.isAt(path);
      file.close();
      if (isFileAt) remove(path);
    },
    close: () => file.close(),
  };
}

/**
 * A write-ahead file of an earlier attempt, or of another process on a file system without shared locks, is replaced only with
 * a complete file.
 */
function createWriteAheadFile(
  disk: RefreshJournalFileOperations,
  path: string,
  head: string,
  size: number,
  again: boolean,
): { readonly file: FileWithReservedSpace; readonly hasReplaced: boolean } {
  try {
    if (!again) return { file: disk.create(path, head, size), hasReplaced: false };
  } catch (error) {
    if (fileErrorCode(error) !== 'EEXIST') throw error;
  }
  const draft = buildRefreshJournalDraftPath(path);
  disk.remove(draft);
  const file = disk.create(draft, head, size);
  try {
    disk.rename(draft, path);
    return { file, hasReplaced: true };
  } catch (error) {
    file.close();
    disk.remove(draft);
    throw error;
  }
}

function hasWriteAheadFile(place: ProfilePaths, path: string): boolean {
  return listRefreshJournalFiles(place).some((wal) => wal.path === path);
}
