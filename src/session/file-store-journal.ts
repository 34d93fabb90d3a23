import { processTokenResponse } from '../oauth/token-endpoint.ts';
import {
  ensureFolder,
  type FileReplacement,
  prepareFileReplacement,
  readTextIfReadable,
  removeDurably,
} from '../platform/files.ts';
import { type CredentialRecord, decodeRecord, encodeRecord } from './credential-record.ts';
import { reachFailpoint } from './failpoints.ts';
import { listCredentialTemporaries, type ProfilePaths } from './profile-paths.ts';
import type { JournalReservation, JournalState, RefreshJournal, ReservationOptions } from './refresh-journal.ts';
import { renewedRecord } from './renewed-record.ts';

/** Creates the temporary that becomes the record; a test swaps it to let it fail. */
export type PrepareFileReplacement = (path: string, reserve: number) => FileReplacement;

/**
 * The file store's journal: no write-ahead file, but the temporary is on the disk before a refresh is sent, and what an
 * interrupted one left of it is found again.
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
      const seen = inspectTemporaries(place, stored);
      // A refresh in doubt keeps its trace; under the lock every other temporary is somebody's who was killed.
      for (const path of listCredentialTemporaries(place))
        if (!seen.inDoubt || readTemporary(path).kind !== 'room') removeQuietly(path);
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
    inDoubt: next === undefined && item.refreshToken !== undefined && contents.some(({ kind }) => kind === 'room'),
    hasObsoleteFiles: contents.some(({ kind }) => kind === 'other') || records.length > (next === undefined ? 0 : 1),
  };
}

type TemporaryContent =
  | { readonly kind: 'record'; readonly record: CredentialRecord }
  /** Zeros that no answer has filled, or not wholly. */
  | { readonly kind: 'room' }
  | { readonly kind: 'other' };

function readTemporary(path: string): TemporaryContent {
  const text = readTextIfReadable(path);
  if (text === undefined) return { kind: 'other' };
  const record = decodeRecord(text.replace(/\0+$/, ''));
  if (record !== undefined) return { kind: 'record', record };
  return { kind: text.endsWith('\0') ? 'room' : 'other' };
}

function reservationOf(
  replacement: FileReplacement,
  old: CredentialRecord,
  options: ReservationOptions,
): JournalReservation {
  let state: 'prepared' | 'committed' | 'refused' = 'prepared';
  const put = (record: CredentialRecord): void => {
    // However it ends, the temporary is gone.
    state = 'refused';
    const text = `${encodeRecord(record).reveal()}\n`;
    replacement.commit(text, (stage) => reachFailpoint(options, stage === 'written' ? 'K7-written' : 'K8-sealed'));
    state = 'committed';
  };
  return {
    // Nothing has to be sealed here, so the commit itself need not wait until the connection tells its end.
    persistResponse(body) {
      const answer = processTokenResponse({ status: 200, contentType: '', body });
      if (answer.kind !== 'granted') return false;
      try {
        put(renewedRecord(old, answer.grant, options.now));
      } catch {
        // The grant is in memory still, and is written once more.
      }
      return state === 'committed';
    },
    // What could not be kept is written once more: what is stored decides, and the old record is worthless now.
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
    // What is worthless may stay: the next command that can removes it.
  }
}

function reservedBytes(record: CredentialRecord): number {
  return 4096 * Math.ceil((2 * encodeRecord(record).reveal().length) / 4096);
}
