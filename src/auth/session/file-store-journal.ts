import { ensureFolder, removeFileDurably } from '../../platform/files.ts';
import {
  type PreparedSecretFileReplacement,
  prepareSecretFileReplacement,
  readSecretFile,
} from '../../platform/secret-file.ts';
import { decodeTokenResponse } from '../oauth/index.ts';
import {
  type CredentialRecord,
  computeRefreshJournalReservationBytes,
  decodeCredentialRecord,
  encodeCredentialRecord,
} from './credential-record.ts';
import { reachFailpoint } from './failpoints.ts';
import { listProbeFiles, listTemporaryCredentialFiles, type ProfilePaths } from './profile-paths.ts';
import type {
  PreparedRefreshJournalFile,
  RefreshJournal,
  RefreshJournalReservationOptions,
  RefreshJournalState,
} from './refresh-journal.ts';
import { buildCredentialRecordOfResponse, canRefreshReplaceCredentialRecord } from './renewed-credential-record.ts';

/** Creates the temporary file that replaces the session file; tests pass a function that fails. */
export type SecretFileReplacementFactory = (path: string, reserve: number) => PreparedSecretFileReplacement;

/**
 * The refresh journal of the file store. The file store needs no write-ahead file: the temporary file that replaces the session
 * file exists on the disk before a refresh is sent, and later commands find it after an interruption.
 */
export function createFileStoreRefreshJournal(
  place: ProfilePaths,
  prepare: SecretFileReplacementFactory = prepareSecretFileReplacement,
): RefreshJournal {
  return {
    inspect: (item) => inspectTemporaries(place, item),
    isOrphaned: () => false,
    reserve(record, options) {
      ensureFolder(place.folder);
      // Throws when a temporary file cannot be read, because this file may contain the newest session record.
      for (const path of listTemporaryCredentialFiles(place)) readSecretFile(path);
      return reservationOf(
        place,
        prepare(place.credentialFile, computeRefreshJournalReservationBytes(record)),
        record,
        options,
      );
    },
    removeObsolete(stored) {
      // The reserved file of a refresh with an unknown result is kept. Because this process has the lock, every other temporary
      // file belongs to a killed process.
      const { inDoubt: isInDoubt } = inspectTemporaries(place, stored);
      removeTemporaries(place, (content) => isObsolete(content, stored) && !(isInDoubt && content.kind === 'reserved'));
    },
    removeCommitted: (stored) => removeTemporaries(place, (content) => isObsolete(content, stored)),
    removeSession() {
      removeTemporaries(place, () => true);
      // The test file of a killed login or `auth doctor` can be a hard link to the session file, with both tokens.
      for (const path of listProbeFiles(place)) unlessFailed(() => removeFileDurably(path));
    },
  };
}

/** Temporary files that contain the whole text because the commit failed after the write. */
export function findTemporaryCredentialFilesWithText(place: ProfilePaths, text: string): readonly string[] {
  return listTemporaryCredentialFiles(place).filter(
    (path) => unlessFailed(() => readSecretFile(path)?.replace(/\0+$/, '') === text) === true,
  );
}

function inspectTemporaries(place: ProfilePaths, item: CredentialRecord): RefreshJournalState {
  const contents = listTemporaryCredentialFiles(place).map(readTemporary);
  const records = contents.flatMap((content) => (content.kind === 'record' ? [content.record] : []));
  const next = records.filter(({ sid, gen }) => sid === item.sid && gen > item.gen).sort((a, b) => b.gen - a.gen)[0];
  return {
    record: next ?? item,
    pending: next !== undefined,
    inDoubt: next === undefined && item.refreshToken !== undefined && contents.some(isUnanswered),
    hasObsoleteFiles: contents.some(({ kind }) => kind === 'other') || records.length > (next === undefined ? 0 : 1),
  };
}

type TemporaryContent =
  | { readonly kind: 'record'; readonly record: CredentialRecord }
  /** The file has zero bytes that no response has filled completely. */
  | { readonly kind: 'reserved' }
  /** The temporary file cannot be read, and may contain the newest session record. */
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'other' };

function readTemporary(path: string): TemporaryContent {
  const text = unlessFailed(() => readSecretFile(path) ?? '');
  if (text === undefined) return { kind: 'unreadable' };
  const record = decodeCredentialRecord(text.replace(/\0+$/, ''));
  if (record !== undefined) return { kind: 'record', record };
  return { kind: text.endsWith('\0') ? 'reserved' : 'other' };
}

function isUnanswered({ kind }: TemporaryContent): boolean {
  return kind === 'reserved' || kind === 'unreadable';
}

/** A newer record of the session is never removed, because the file may contain the only copy of it. */
function isObsolete(content: TemporaryContent, stored: CredentialRecord): boolean {
  if (content.kind !== 'record') return content.kind !== 'unreadable';
  return content.record.sid !== stored.sid || content.record.gen <= stored.gen;
}

function removeTemporaries(place: ProfilePaths, isRemoved: (content: TemporaryContent) => boolean): void {
  for (const path of listTemporaryCredentialFiles(place)) {
    // A file that cannot be removed now is removed by a later command.
    unlessFailed(() => isRemoved(readTemporary(path)) && removeFileDurably(path));
  }
}

function reservationOf(
  place: ProfilePaths,
  replacement: PreparedSecretFileReplacement,
  old: CredentialRecord,
  options: RefreshJournalReservationOptions,
): PreparedRefreshJournalFile {
  let state: 'prepared' | 'committed' | 'failed' = 'prepared';
  const put = (record: CredentialRecord): void => {
    const text = `${encodeCredentialRecord(record).reveal()}\n`;
    state = 'failed';
    // The stored record is compared only after the text was written to the disk, so that the text is not lost if the record
    // cannot be read.
    const isReplaced = replacement.commit(
      text,
      (stage) => reachFailpoint(options, stage === 'written' ? 'K7-written' : 'K8-sealed'),
      () => canRefreshReplaceCredentialRecord(readStoredRecord(place), old),
    );
    if (isReplaced) state = 'committed';
    else replacement.abandon();
  };
  return {
    path: replacement.path,
    // In the file store, storing the response already commits the refresh: the session record is stored before the
    // connection of the request is closed.
    persistResponse(body) {
      const next = buildCredentialRecordOfResponse(
        old,
        decodeTokenResponse({ status: 200, contentType: '', body }),
        options.now,
      );
      if (next === undefined) return false;
      try {
        put(next);
      } catch {
        // After a failed write, `commit` writes the grant again from memory.
      }
      return state === 'committed' || replacement.hasText();
    },
    // If the first write failed, the new record is written again, because the server has invalidated the tokens of the old
    // record.
    commit: async (write) => (state === 'committed' ? { kind: 'done' } : write()),
    hasRival: () =>
      listTemporaryCredentialFiles(place).some(
        (path) => path !== replacement.path && isRival(readTemporary(path), old),
      ),
    discard() {
      if (state === 'prepared') replacement.abandon();
    },
    close: () => undefined,
  };
}

function isRival(content: TemporaryContent, old: CredentialRecord): boolean {
  return isUnanswered(content) || (content.kind === 'record' && !isObsolete(content, old));
}

function readStoredRecord(place: ProfilePaths): CredentialRecord | undefined {
  const text = readSecretFile(place.credentialFile);
  return text === undefined ? undefined : decodeCredentialRecord(text);
}

/** Returns the result of `work`, or undefined when a file operation failed. */
function unlessFailed<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
