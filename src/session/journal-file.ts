import { processTokenAnswer } from '../oauth/token-endpoint.ts';
import {
  ensureFolder,
  prepareReplacement,
  type Replacement,
  readTextIfPossible,
  removeDurably,
} from '../platform/files.ts';
import type { Journal, ReserveOptions, Room, Seen } from './journal.ts';
import { type Place, temporariesOf } from './place.ts';
import { pass } from './points.ts';
import { type CredentialRecord, decodeRecord, encodeRecord } from './record.ts';
import { renewed } from './renew.ts';

/** Creates the temporary that becomes the record; a test swaps it to let it fail. */
export type Prepare = (path: string, reserve: number) => Replacement;

/**
 * The file store's journal: no write-ahead file, but the temporary is on the disk before a refresh is sent, and what an
 * interrupted one left of it is found again.
 */
export function createFileJournal(place: Place, prepare: Prepare = prepareReplacement): Journal {
  return {
    look: (item) => look(place, item),
    isOrphaned: () => false,
    reserve(record, options) {
      ensureFolder(place.folder);
      const replacement = prepare(place.credentialFile, roomFor(record));
      return roomOf(replacement, record, options);
    },
    tidy(stored) {
      const seen = look(place, stored);
      // A refresh in doubt keeps its trace; under the lock every other temporary is somebody's who was killed.
      for (const path of temporariesOf(place)) if (!seen.inDoubt || contentOf(path).kind !== 'room') remove(path);
    },
    clear() {
      for (const path of temporariesOf(place)) remove(path);
    },
    forget() {
      for (const path of temporariesOf(place)) remove(path);
    },
  };
}

function look(place: Place, item: CredentialRecord): Seen {
  const contents = temporariesOf(place).map(contentOf);
  const records = contents.flatMap((content) => (content.kind === 'record' ? [content.record] : []));
  const next = records.filter(({ sid, gen }) => sid === item.sid && gen > item.gen).sort((a, b) => b.gen - a.gen)[0];
  return {
    record: next ?? item,
    pending: next !== undefined,
    inDoubt: next === undefined && item.refreshToken !== undefined && contents.some(({ kind }) => kind === 'room'),
    untidy: contents.some(({ kind }) => kind === 'other') || records.length > (next === undefined ? 0 : 1),
  };
}

type Content =
  | { readonly kind: 'record'; readonly record: CredentialRecord }
  /** Zeros that no answer has filled, or not wholly. */
  | { readonly kind: 'room' }
  | { readonly kind: 'other' };

function contentOf(path: string): Content {
  const text = readTextIfPossible(path);
  if (text === undefined) return { kind: 'other' };
  const record = decodeRecord(text.replace(/\0+$/, ''));
  if (record !== undefined) return { kind: 'record', record };
  return { kind: text.endsWith('\0') ? 'room' : 'other' };
}

function roomOf(replacement: Replacement, old: CredentialRecord, options: ReserveOptions): Room {
  let state: 'prepared' | 'committed' | 'refused' = 'prepared';
  const put = (record: CredentialRecord): void => {
    // However it ends, the temporary is gone.
    state = 'refused';
    const text = `${encodeRecord(record).reveal()}\n`;
    replacement.commit(text, (stage) => pass(options, stage === 'written' ? 'K7-written' : 'K8-sealed'));
    state = 'committed';
  };
  return {
    // Nothing has to be sealed here, so the commit itself need not wait until the connection tells its end.
    keep(body) {
      const answer = processTokenAnswer({ status: 200, contentType: '', body });
      if (answer.kind !== 'granted') return false;
      try {
        put(renewed(old, answer.grant, options.now));
      } catch {
        // The grant is in memory still, and is written once more.
      }
      return state === 'committed';
    },
    // What could not be kept is written once more: what is stored decides, and the old record is worthless now.
    commit: async (_next, write) => (state === 'committed' ? { kind: 'done' } : write()),
    drop() {
      if (state === 'prepared') replacement.abandon();
    },
    leave: () => undefined,
  };
}

function remove(path: string): void {
  try {
    removeDurably(path);
  } catch {
    // What is worthless may stay: the next command that can removes it.
  }
}

function roomFor(record: CredentialRecord): number {
  return 4096 * Math.ceil((2 * encodeRecord(record).reveal().length) / 4096);
}
