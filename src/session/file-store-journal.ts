import { processTokenResponse } from '../oauth/token-endpoint.ts';
import { ensureFolder, removeDurably } from '../platform/files.ts';
import { type FileReplacement, prepareFileReplacement, readSecretText } from '../platform/secret-file.ts';
import { type CredentialRecord, decodeRecord, encodeRecord, journalReservationBytes } from './credential-record.ts';
import { reachFailpoint } from './failpoints.ts';
import { listCredentialTemporaries, type ProfilePaths } from './profile-paths.ts';
import type { JournalReservation, JournalState, RefreshJournal, ReservationOptions } from './refresh-journal.ts';
import { canReplaceRecord, recordFromAnswer } from './renewed-record.ts';

/** Creates the temporary file that becomes the record; a test replaces it to make it fail. */
export type PrepareFileReplacement = (path: string, reserve: number) => FileReplacement;

/**
 * The journal of the file store. It needs no write-ahead file: the temporary file that becomes the record is on the disk
 * before a refresh is sent, and after an interruption it is found again.
 */
export function createFileJournal(
  place: ProfilePaths,
  prepare: PrepareFileReplacement = prepareFileReplacement,
): RefreshJournal {
  return {
    inspect: (item) => inspectTemporaries(place, item),
    isOrphaned: () => false,
    reserve(record, options) {
      ensureFolder(place.folder);
      // Throws for a file that cannot be read: it may contain the newest record.
      for (const path of listCredentialTemporaries(place)) readSecretText(path);
      return reservationOf(place, prepare(place.credentialFile, journalReservationBytes(record)), record, options);
    },
    removeObsolete(stored) {
      // The reserved file of a refresh in doubt stays. Under the lock every other one belongs to a killed process.
      const { inDoubt: isInDoubt } = inspectTemporaries(place, stored);
      removeTemporaries(place, (content) => isObsolete(content, stored) && !(isInDoubt && content.kind === 'reserved'));
    },
    removeCommitted: (stored) => removeTemporaries(place, (content) => isObsolete(content, stored)),
    removeSession: () => removeTemporaries(place, () => true),
  };
}

/** The temporary files that contain the whole text, as a failed commit leaves them. */
export function temporariesWithText(place: ProfilePaths, text: string): readonly string[] {
  return listCredentialTemporaries(place).filter(
    (path) => unlessFailed(() => readSecretText(path)?.replace(/\0+$/, '') === text) === true,
  );
}

function inspectTemporaries(place: ProfilePaths, item: CredentialRecord): JournalState {
  const contents = listCredentialTemporaries(place).map(readTemporary);
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
  /** Zeros that no response has filled completely. */
  | { readonly kind: 'reserved' }
  /** It may contain the newest record. */
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'other' };

function readTemporary(path: string): TemporaryContent {
  const text = unlessFailed(() => readSecretText(path) ?? '');
  if (text === undefined) return { kind: 'unreadable' };
  const record = decodeRecord(text.replace(/\0+$/, ''));
  if (record !== undefined) return { kind: 'record', record };
  return { kind: text.endsWith('\0') ? 'reserved' : 'other' };
}

function isUnanswered({ kind }: TemporaryContent): boolean {
  return kind === 'reserved' || kind === 'unreadable';
}

/** Never a newer record of the session: it may be its only copy. */
function isObsolete(content: TemporaryContent, stored: CredentialRecord): boolean {
  if (content.kind !== 'record') return content.kind !== 'unreadable';
  return content.record.sid !== stored.sid || content.record.gen <= stored.gen;
}

function removeTemporaries(place: ProfilePaths, isRemoved: (content: TemporaryContent) => boolean): void {
  for (const path of listCredentialTemporaries(place)) {
    // A file that cannot be removed stays: a later command removes it.
    unlessFailed(() => isRemoved(readTemporary(path)) && removeDurably(path));
  }
}

function reservationOf(
  place: ProfilePaths,
  replacement: FileReplacement,
  old: CredentialRecord,
  options: ReservationOptions,
): JournalReservation {
  let state: 'prepared' | 'committed' | 'failed' = 'prepared';
  const put = (record: CredentialRecord): void => {
    const text = `${encodeRecord(record).reveal()}\n`;
    state = 'failed';
    // Compared when the text is on the disk: an item that cannot be read must not lose it.
    const isReplaced = replacement.commit(
      text,
      (stage) => reachFailpoint(options, stage === 'written' ? 'K7-written' : 'K8-sealed'),
      () => canReplaceRecord(readDropletOrAction(place), old),
    );
    if (isReplaced) state = 'committed';
    else replacement.abandon();
  };
  return {
    path: replacement.path,
    // This is already the commit: the record is stored before the connection has ended.
    persistResponse(body) {
      const next = recordFromAnswer(old, processTokenResponse({ status: 200, contentType: '', body }), options.now);
      if (next === undefined) return false;
      try {
        put(next);
      } catch {
        // commit() writes the grant again from memory.
      }
      return state === 'committed' || replacement.hasText();
    },
    // Written again if the first write failed, because the old record is no longer valid.
    commit: async (_next, write) => (state === 'committed' ? { kind: 'done' } : write()),
    hasRival: () =>
      listCredentialTemporaries(place).some((path) => path !== replacement.path && isRival(readTemporary(path), old)),
    discard() {
      if (state === 'prepared') replacement.abandon();
    },
    close: () => undefined,
  };
}

function isRival(content: TemporaryContent, old: CredentialRecord): boolean {
  return isUnanswered(content) || (content.kind === 'record' && !isObsolete(content, old));
}

function readDropletOrAction(place: ProfilePaths): CredentialRecord | undefined {
  const text = readSecretText(place.credentialFile);
  return text === undefined ? undefined : decodeRecord(text);
}

/** The result, or undefined when the file system failed. */
function unlessFailed<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
