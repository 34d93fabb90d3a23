import { processTokenResponse } from '../oauth/token-endpoint.ts';
import {
  ensureFolder,
  type FileReplacement,
  prepareFileReplacement,
  readTextIfReadable,
  removeDurably,
} from '../platform/files.ts';
import { type CredentialRecord, decodeRecord, encodeRecord, reservedBytes } from './credential-record.ts';
import { reachFailpoint } from './failpoints.ts';
import { listCredentialTemporaries, type ProfilePaths } from './profile-paths.ts';
import type { JournalReservation, JournalState, RefreshJournal, ReservationOptions } from './refresh-journal.ts';
import { renewedRecord } from './renewed-record.ts';

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
      const replacement = prepare(place.credentialFile, reservedBytes(record));
      return reservationOf(replacement, record, options);
    },
    removeObsolete(stored) {
      const state = inspectTemporaries(place, stored);
      // The reserved file of a refresh in doubt stays. Under the lock every other one belongs to a killed process.
      for (const path of listCredentialTemporaries(place))
        if (!state.inDoubt || readTemporary(path).kind !== 'reserved') removeQuietly(path);
    },
    removeCommitted() {
      for (const path of listCredentialTemporaries(place)) removeQuietly(path);
    },
    removeSession() {
      for (const path of listCredentialTemporaries(place)) removeQuietly(path);
    },
  };
}

function inspectTemporaries(place: ProfilePaths, item: CredentialRecord): JournalState {
  const contents = listCredentialTemporaries(place).map(readTemporary);
  const records = contents.flatMap((content) => (content.kind === 'record' ? [content.record] : []));
  const next = records.filter(({ sid, gen }) => sid === item.sid && gen > item.gen).sort((a, b) => b.gen - a.gen)[0];
  return {
    record: next ?? item,
    pending: next !== undefined,
    inDoubt: next === undefined && item.refreshToken !== undefined && contents.some(({ kind }) => kind === 'reserved'),
    hasObsoleteFiles: contents.some(({ kind }) => kind === 'other') || records.length > (next === undefined ? 0 : 1),
  };
}

type TemporaryContent =
  | { readonly kind: 'record'; readonly record: CredentialRecord }
  /** Zeros that no response has filled completely. */
  | { readonly kind: 'reserved' }
  | { readonly kind: 'other' };

function readTemporary(path: string): TemporaryContent {
  const text = readTextIfReadable(path);
  if (text === undefined) return { kind: 'other' };
  const record = decodeRecord(text.replace(/\0+$/, ''));
  if (record !== undefined) return { kind: 'record', record };
  return { kind: text.endsWith('\0') ? 'reserved' : 'other' };
}

function reservationOf(
  replacement: FileReplacement,
  old: CredentialRecord,
  options: ReservationOptions,
): JournalReservation {
  let state: 'prepared' | 'committed' | 'refused' = 'prepared';
  const put = (record: CredentialRecord): void => {
    // commit() removes the temporary file also when it fails.
    state = 'refused';
    const text = `${encodeRecord(record).reveal()}\n`;
    replacement.commit(text, (stage) => reachFailpoint(options, stage === 'written' ? 'K7-written' : 'K8-sealed'));
    state = 'committed';
  };
  return {
    // This is already the commit: the record is stored before the connection has ended.
    persistResponse(body) {
      const answer = processTokenResponse({ status: 200, contentType: '', body });
      if (answer.kind !== 'granted') return false;
      try {
        put(renewedRecord(old, answer.grant, options.now));
      } catch {
        // commit() writes the grant again from memory.
      }
      return state === 'committed';
    },
    // Written again if the first write failed, because the old record is no longer valid.
    commit: async (_next, write) => (state === 'committed' ? { kind: 'done' } : write()),
    discard() {
      if (state === 'prepared') replacement.abandon();
    },
    close: () => undefined,
  };
}

function removeQuietly(path: string): void {
  try {
    removeDurably(path);
  } catch {
    // An obsolete file may stay: a later command removes it.
  }
}
