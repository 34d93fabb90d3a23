import { processTokenAnswer } from '../oauth/token-endpoint.ts';
import {
  createWithRoom,
  ensureFolder,
  type RoomyFile,
  readBytesIfAny,
  removeDurably,
  renameDurably,
} from '../platform/files.ts';
import type { Journal, ReserveOptions, Room, Seen } from './journal.ts';
import { draftPath, draftsOf, type Place, type WalName, walPath, walsOf } from './place.ts';
import { pass } from './points.ts';
import { type CredentialRecord, encodeRecord } from './record.ts';
import { renewed } from './renew.ts';
import { encodeHead, isSeal, type Opened, open, proofOf, seal } from './sealed.ts';

/** The disk as far as write-ahead files go; a test swaps it to let it fail. */
export interface WalDisk {
  readonly create: typeof createWithRoom;
  readonly read: (path: string) => Buffer | undefined;
  readonly rename: (from: string, to: string) => void;
  readonly remove: (path: string) => void;
}

const realDisk: WalDisk = {
  create: createWithRoom,
  read: readBytesIfAny,
  rename: renameDurably,
  remove: removeDurably,
};

/** Days after which a write-ahead file of another session is removed: no token it could hold lives longer than 30. */
const keepDays = 35;

/** The keychain's journal: `<profile>.<sid>.<gen>.wal` beside the locks (docs/sessions.md). */
export function createWalJournal(place: Place, disk: WalDisk = realDisk): Journal {
  const remove = (path: string): void => {
    try {
      disk.remove(path);
    } catch {
      // What is worthless may stay: it is seen again, and removed, by the next command that can.
    }
  };
  return {
    look: (item) => look(place, disk, item),
    isOrphaned: () => walsOf(place).length > 0,
    reserve: (record, options) => reserve({ place, disk, remove }, record, options),
    tidy(stored, nowMs) {
      for (const wal of walsOf(place)) if (isWorthless(disk, wal, stored, nowMs)) remove(wal.path);
      for (const path of draftsOf(place)) remove(path);
    },
    clear(stored) {
      for (const wal of walsOf(place)) if (wal.sid === stored.sid && wal.gen <= stored.gen) remove(wal.path);
    },
    forget(sid) {
      for (const wal of walsOf(place)) if (wal.sid === sid) remove(wal.path);
    },
  };
}

function look(place: Place, disk: WalDisk, item: CredentialRecord): Seen {
  const wals = walsOf(place);
  const ours = wals.filter(({ sid }) => sid === item.sid);
  let record = item;
  let doubtful: Opened | undefined;
  for (const wal of ours.filter(({ gen }) => gen > item.gen)) {
    const opened = openWal(disk, wal, item);
    const next = nextOf(record, wal, opened);
    if (next === undefined) {
      if (wal.gen === record.gen + 1) doubtful = opened;
    } else {
      record = next;
      doubtful = undefined;
    }
  }
  return {
    record,
    pending: record !== item,
    inDoubt: doubtful !== undefined && isAbout(doubtful, record),
    untidy: ours.some(({ gen }) => gen <= item.gen),
  };
}

/** The record an answer makes of the one before it; undefined when the file holds none that can be understood. */
function nextOf(old: CredentialRecord, { gen }: WalName, opened: Opened): CredentialRecord | undefined {
  if (opened.kind !== 'opens') return undefined;
  const answer = processTokenAnswer({ status: 200, contentType: '', body: opened.body.reveal() });
  return answer.kind === 'granted' ? { ...renewed(old, answer.grant, opened.head.at), gen } : undefined;
}

function isAbout({ head }: Opened, { refreshToken }: CredentialRecord): boolean {
  return refreshToken !== undefined && (head === undefined || head.proof === proofOf(refreshToken));
}

/** A file that cannot be read is as good as a torn one, and so is one under another's name. */
function openWal(disk: WalDisk, { path, sid, gen }: WalName, { seal }: CredentialRecord): Opened {
  const torn = { kind: 'torn', head: undefined } as const;
  try {
    const bytes = disk.read(path);
    const opened = bytes === undefined ? torn : open(bytes, seal);
    return opened.head?.sid === sid && opened.head.gen === gen ? opened : torn;
  } catch {
    return torn;
  }
}

function isWorthless(disk: WalDisk, wal: WalName, stored: CredentialRecord, nowMs: number): boolean {
  if (wal.sid === stored.sid) return wal.gen <= stored.gen;
  // Its key is nowhere in this store; but another keychain may share the folder.
  const { head } = openWal(disk, wal, stored);
  return head !== undefined && nowMs / 1000 - head.at > keepDays * 86_400;
}

interface Ground {
  readonly place: Place;
  readonly disk: WalDisk;
  readonly remove: (path: string) => void;
}

function reserve({ place, disk, remove }: Ground, record: CredentialRecord, options: ReserveOptions): Room {
  if (record.refreshToken === undefined || !isSeal(record.seal)) throw new Error('the session has no seal');
  const path = walPath(place, record.sid, record.gen + 1);
  const [proof, pid] = [proofOf(record.refreshToken), process.pid];
  const head = encodeHead({ sid: record.sid, gen: record.gen + 1, proof, at: options.now, pid });
  const room = roomFor(record);
  ensureFolder(place.folder);
  const file = make(disk, path, head, room, isThere(place, path));
  // Whatever a first use of the cipher costs is spent now, and not between the last byte of the answer and the disk.
  seal(head, record.seal, '', room, options.random(12));
  const nonce = options.random(12);
  return {
    keep(body) {
      try {
        const bytes = seal(head, record.seal, body, room, nonce);
        file.fill(bytes, () => pass(options, 'K7-written'));
        pass(options, 'K8-sealed');
        return true;
      } catch {
        // The grant is in memory still, and the store is asked at once.
        return false;
      }
    },
    commit(_next, write) {
      pass(options, 'K9-storing');
      return write();
    },
    drop() {
      file.close();
      remove(path);
    },
    leave: () => file.close(),
  };
}

/** What an earlier attempt has left is only replaced by a file that is whole. */
function make(disk: WalDisk, path: string, head: string, room: number, again: boolean): RoomyFile {
  if (!again) return disk.create(path, head, room);
  const draft = draftPath(path);
  disk.remove(draft);
  const file = disk.create(draft, head, room);
  try {
    disk.rename(draft, path);
    return file;
  } catch (error) {
    file.close();
    disk.remove(draft);
    throw error;
  }
}

function isThere(place: Place, path: string): boolean {
  return walsOf(place).some((wal) => wal.path === path);
}

/** 4 KiB; more where the tokens of this session have shown to be long. */
function roomFor(record: CredentialRecord): number {
  const block = 4096;
  return block * Math.ceil((2 * encodeRecord(record).reveal().length) / block);
}
