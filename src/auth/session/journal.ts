import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isJsonRecord, readNumberField, readStringField, tryParseJson } from '../../base/json.ts';
import { Secret } from '../../base/secret.ts';
import {
  ensureFolder,
  fileErrorCode,
  listFolder,
  type ReservedFile,
  removeDurably,
  renameDurably,
  reserveFile,
} from '../../platform/files.ts';
import { readSecretBytes } from '../../platform/secret-file.ts';

/**
 * The write-ahead journal of a session: it keeps a refreshed grant from the moment of its arrival until the store has it.
 * The journal is encrypted with a key that only the store has. Its methods are called with the lock of the session held, except
 * for `read`. `cloudctl/session` has the same interface for the stores of other programs (library/token-store.ts).
 */
export interface Journal {
  /** The content; undefined when there is no journal. */
  read(): Promise<Uint8Array | undefined>;
  /**
   * Replaces the content by `head` and `room` zeros, durably and atomically. The result is a function that replaces the zeros.
   * Rejects when there is no space.
   */
  begin(head: Uint8Array, room: number): Promise<GrantWriter>;
  remove(): Promise<void>;
}

/** Writes the grant; resolves when it is durable. */
export interface GrantWriter {
  (grant: Uint8Array): Promise<void>;
  /**
   * Whether this entry has replaced one that another process had begun: either that process was killed, or the file system does
   * not share locks (network file systems). Absent: no.
   */
  readonly hasReplaced?: boolean;
  /** Whether another process has replaced or removed this entry, on a file system that does not share locks. Absent: never. */
  isReplaced?(): boolean;
  /** Called once, when the refresh has ended. */
  close?(): void;
}

/** What the journal needs to know of a session record. */
export interface Journaled {
  /** The session id, which is new at every login. */
  readonly sid: string;
  /** The number of grants so far: 1 at the login, plus 1 for each refresh. */
  readonly gen: number;
  /** The encryption key of the journal: 32 bytes in base64url. */
  readonly journalKey: Secret;
  readonly refreshToken?: Secret;
}

/** The text of a record, in the store and in the journal. */
export interface RecordCodec<R> {
  encode(record: R): Secret;
  /** undefined for a text that is damaged or was written by a newer version. */
  decode(text: string): R | undefined;
}

/** The newest record of a session: in the store, or in its journal. */
export interface Newest<R> {
  readonly record: R;
  /** The journal entry of the record, if the store does not have it. */
  readonly onlyCopy?: Uint8Array;
  /** Whether a refresh of the record was begun, and has no known result. */
  readonly inDoubt: boolean;
  /** Whether the journal has nothing that is still needed. */
  readonly isObsolete: boolean;
}

/** Finds the newest record of the session to which the stored record belongs. A damaged entry is never an error. */
export function findNewest<R extends Journaled>(
  content: Uint8Array | undefined,
  stored: R,
  codec: RecordCodec<R>,
): Newest<R> {
  const entries = content === undefined ? [] : openEntries(Buffer.from(content), stored.journalKey).toReversed();
  let record = stored;
  let onlyCopy: Uint8Array | undefined;
  const unanswered: OpenedEntry[] = [];
  for (const entry of entries) {
    if (entry.head !== undefined && (entry.head.sid !== stored.sid || entry.head.gen <= stored.gen)) continue;
    const found = entry.kind === 'opens' ? codec.decode(entry.body.reveal()) : undefined;
    if (found === undefined) {
      unanswered.push(entry);
      continue;
    }
    record = found;
    onlyCopy = entry.bytes;
    break;
  }
  const inDoubt = unanswered.some((entry) => isRefreshOf(entry, record));
  const isObsolete = content !== undefined && onlyCopy === undefined && !inDoubt;
  return { record, ...(onlyCopy === undefined ? {} : { onlyCopy }), inDoubt, isObsolete };
}

/** A journal entry that was begun before the request of a refresh is sent. */
export interface BegunEntry<R> {
  /** Encrypts the record of the response and writes it; resolves with false when no later command can read it. */
  keep(next: R): Promise<boolean>;
  /** Whether another process has begun a refresh of the same record. */
  hasRival(): boolean;
  /** Removes the entry, because the server certainly did not process the refresh. An earlier record that is in no store stays. */
  discard(): Promise<void>;
  /** Removes the whole journal, because the store has the newest record. */
  remove(): Promise<void>;
  /** Ends the refresh; what is in the journal stays for later commands. Only the first call of the three has an effect. */
  close(): void;
}

export interface EntryOptions {
  /** The time of the refresh request in seconds since the epoch. */
  readonly sentAt: number;
  readonly random: (bytes: number) => Uint8Array;
}

/**
 * Reserves space for the response to a refresh of the newest record. Rejects when there is none, and when the journal, which
 * may have a newer record, cannot be read: the caller must then send no request.
 */
export async function beginEntry<R extends Journaled>(
  journal: Journal,
  { record, onlyCopy = new Uint8Array() }: Newest<R>,
  codec: RecordCodec<R>,
  { sentAt, random }: EntryOptions,
): Promise<BegunEntry<R>> {
  const { sid, gen, journalKey, refreshToken } = record;
  if (refreshToken === undefined) throw new Error('the session has no refresh token');
  await journal.read();
  const room = roomFor(codec.encode(record));
  const head = encodeHead({ sid, gen: gen + 1, proof: proofOf(refreshToken), sentAt, room });
  const write = await journal.begin(Buffer.concat([onlyCopy, Buffer.from(head)]), room);
  // The first use of the cipher is slow, so a test encryption is made before the request is sent.
  encrypt(head, journalKey, '', room, random(nonceLength));
  const nonce = random(nonceLength);
  let isOpen = true;
  const isOwn = (): boolean => isOpen && write.isReplaced?.() !== true;
  const close = (): void => {
    if (isOpen) write.close?.();
    isOpen = false;
  };
  /** The entry of another process must not be removed. An entry that cannot be removed now is removed by a later command. */
  const removeIfOwn = async (remove: () => Promise<void>): Promise<void> => {
    const canRemove = isOwn();
    close();
    if (canRemove) await remove().catch(() => undefined);
  };
  return {
    async keep(next) {
      try {
        await write(encrypt(head, journalKey, codec.encode(next).reveal(), room, nonce));
        return isOwn();
      } catch {
        // The tokens are still in memory, and the store is written next.
        return false;
      }
    },
    hasRival: () => write.hasReplaced === true || !isOwn(),
    discard: () =>
      removeIfOwn(async () => {
        if (onlyCopy.length === 0) await journal.remove();
        else (await journal.begin(onlyCopy, 0)).close?.();
      }),
    remove: () => removeIfOwn(() => journal.remove()),
    close,
  };
}

/** The first line of an entry: plain text without secrets, which the encryption of the body also authenticates. */
export interface EntryHead {
  readonly sid: string;
  /** The generation of the record that the response to the refresh will create. */
  readonly gen: number;
  /** The first 8 hexadecimal digits of the SHA-256 hash of the refresh token that was sent. */
  readonly proof: string;
  /** The time before the refresh request was sent, in seconds since the epoch. */
  readonly sentAt: number;
  /** The length of the body in bytes. */
  readonly room: number;
}

/** `torn`: the body is not encrypted with the key of the session, so it is partly written, damaged, or of another session. */
type OpenedEntry = { readonly bytes: Buffer } & (
  | { readonly kind: 'torn'; readonly head: EntryHead | undefined }
  | { readonly kind: 'zeros'; readonly head: EntryHead }
  | { readonly kind: 'opens'; readonly head: EntryHead; readonly body: Secret }
);

export function encodeHead({ sid, gen, proof, sentAt, room }: EntryHead): string {
  return `${JSON.stringify({ op: 'refresh', sid, gen, proof, t: sentAt, room })}\n`;
}

export function proofOf(refreshToken: Secret): string {
  return crypto().createHash('sha256').update(refreshToken.reveal()).digest('hex').slice(0, 8);
}

/**
 * The entries of a journal, the oldest first. There are two while the grant of the first entry is in no store and a later
 * refresh has begun. The rest of an entry is encrypted or zero, so that the start of a first line occurs nowhere else.
 */
export function openEntries(content: Buffer, key: Secret): readonly OpenedEntry[] {
  const starts = [0];
  for (let at = content.indexOf(headStart, 1); at !== -1; at = content.indexOf(headStart, at + 1)) starts.push(at);
  return starts.flatMap((start, index) => openBeforeDamage(content.subarray(start, starts[index + 1]), key));
}

const headStart = '{"op":"refresh",';

/** If the start of the next entry is damaged, this one ends after its room, unless its record was longer than its room. */
function openBeforeDamage(bytes: Buffer, key: Secret): readonly OpenedEntry[] {
  const whole = openEntry(bytes, key);
  if (whole.kind !== 'torn' || whole.head === undefined) return [whole];
  const end = bytes.indexOf('\n') + 1 + whole.head.room;
  if (end >= bytes.length) return [whole];
  const first = openEntry(bytes.subarray(0, end), key);
  return first.kind === 'torn' ? [whole] : [first, openEntry(bytes.subarray(end), key)];
}

export function openEntry(bytes: Buffer, key: Secret): OpenedEntry {
  const end = bytes.indexOf('\n') + 1;
  const head = end === 0 ? undefined : decodeHead(bytes.toString('utf8', 0, end));
  const rest = bytes.subarray(end);
  if (head === undefined) return { bytes, kind: 'torn', head };
  if (rest.every((byte) => byte === 0)) return { bytes, kind: 'zeros', head };
  const body = decrypt(bytes.subarray(0, end), rest, key);
  return body === undefined ? { bytes, kind: 'torn', head } : { bytes, kind: 'opens', head, body };
}

function decodeHead(line: string): EntryHead | undefined {
  const json = tryParseJson(line);
  if (!json.ok || !isJsonRecord(json.value) || json.value.op !== 'refresh') return undefined;
  const fields = json.value;
  const [sid, proof] = [readStringField(fields, 'sid'), readStringField(fields, 'proof')];
  const [gen, sentAt, room] = ['gen', 't', 'room'].map((name) => readNumberField(fields, name));
  if (sid === undefined || proof === undefined || gen === undefined || sentAt === undefined || room === undefined)
    return undefined;
  return Number.isSafeInteger(room) && room >= 0 ? { sid, gen, proof, sentAt, room } : undefined;
}

function isRefreshOf({ head }: OpenedEntry, { refreshToken }: Journaled): boolean {
  return refreshToken !== undefined && (head === undefined || head.proof === proofOf(refreshToken));
}

const [nonceLength, tagLength] = [12, 16];
const overhead = nonceLength + tagLength;

/** Twice the size of the present record, in whole blocks of 4 KiB, because the next tokens may be longer. */
function roomFor(text: Secret): number {
  return 4096 * Math.ceil((2 * Buffer.byteLength(text.reveal()) + overhead) / 4096);
}

/**
 * Encrypts the body of an entry with AES-256-GCM and the key of the session: nonce, tag and ciphertext, with the first line as
 * additional data. The body is padded with zero bytes to `room`, so that no length has to be stored and a partly written entry
 * cannot be decrypted.
 */
export function encrypt(head: string, key: Secret, body: string, room: number, nonce: Uint8Array): Buffer {
  const text = Buffer.from(body, 'utf8');
  const padding = Math.max(0, room - overhead - text.length);
  const cipher = crypto().createCipheriv('aes-256-gcm', keyBytes(key), nonce);
  cipher.setAAD(Buffer.from(head, 'utf8'));
  const encrypted = Buffer.concat([cipher.update(text), cipher.update(Buffer.alloc(padding)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

function decrypt(head: Buffer, encrypted: Buffer, key: Secret): Secret | undefined {
  if (encrypted.length <= overhead) return undefined;
  const decipher = crypto().createDecipheriv('aes-256-gcm', keyBytes(key), encrypted.subarray(0, nonceLength));
  decipher.setAAD(head);
  decipher.setAuthTag(encrypted.subarray(nonceLength, overhead));
  try {
    const text = Buffer.concat([decipher.update(encrypted.subarray(overhead)), decipher.final()]);
    return new Secret(text.toString('utf8').replace(/\0+$/, ''), '[response]');
  } catch {
    // The authentication tag does not match because the entry is partly written or damaged.
    return undefined;
  }
}

/** A key that a person has shortened still makes a journal; it protects as much as it has of chance. */
function keyBytes(key: Secret): Buffer {
  const bytes = Buffer.from(key.reveal(), 'base64url');
  return bytes.length === 32 ? bytes : crypto().createHash('sha256').update(key.reveal()).digest();
}

/** The encryption module is loaded on first use, because only a refresh needs it and loading it takes a millisecond. */
function crypto() {
  return process.getBuiltinModule('node:crypto');
}

/** The file operations of a journal; tests replace them with functions that fail. */
export interface JournalDisk {
  readonly create: typeof reserveFile;
  readonly read: (path: string) => Buffer | undefined;
  readonly rename: (from: string, to: string) => void;
  readonly remove: (path: string) => void;
}

const realDisk: JournalDisk = {
  create: reserveFile,
  read: readSecretBytes,
  rename: renameDurably,
  remove: removeDurably,
};

interface FileJournalOptions {
  /** Called between the write and the sync of a grant, and after the sync. */
  readonly onStage?: ((stage: 'written' | 'synced') => void) | undefined;
  readonly disk?: JournalDisk;
}

/**
 * A journal in one file. All its functions work synchronously until they return their promise, so that a grant is on the disk
 * before anything else happens.
 */
export function createFileJournal(
  path: string,
  { onStage = () => {}, disk = realDisk }: FileJournalOptions = {},
): Journal {
  const place = (head: Uint8Array, room: number): { file: ReservedFile; hasReplaced: boolean } => {
    try {
      // A new file needs no draft, because an incomplete journal counts as none.
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
        return { file: disk.create(path, head, room), hasReplaced: false };
    } catch (error) {
      if (fileErrorCode(error) !== 'EEXIST') throw error;
    }
    const draft = `${path}.${process.pid}.next`;
    const hasReplaced = !isStartOf(head, readIfPossible());
    const file = disk.create(draft, head, room);
    try {
      disk.rename(draft, path);
      return { file, hasReplaced };
    } catch (error) {
      file.close();
      disk.remove(draft);
      throw error;
    }
  };
  const readIfPossible = (): Buffer | undefined => {
    try {
      return disk.read(path);
    } catch {
      return undefined;
    }
  };
  return {
    read: async () => disk.read(path),
    async begin(head, room) {
      ensureFolder(dirname(path));
      for (const draft of listDrafts(path)) disk.remove(draft);
      const { file, hasReplaced } = place(head, room);
      const write = async (grant: Uint8Array): Promise<void> => {
        file.fill(grant, () => onStage('written'));
        onStage('synced');
      };
      return Object.assign(write, { hasReplaced, isReplaced: () => !file.isAt(path), close: () => file.close() });
    },
    async remove() {
      disk.remove(path);
      for (const draft of listDrafts(path)) disk.remove(draft);
    },
  };
}

/** Whether the earlier content is the entry of an only copy, which the new content begins with. */
function isStartOf(content: Uint8Array, earlier: Buffer | undefined): boolean {
  return earlier?.equals(content.subarray(0, earlier.length)) === true;
}

/** Complete or incomplete journals that were to replace this one, left by processes that were killed. */
function listDrafts(path: string): readonly string[] {
  const name = basename(path);
  return listFolder(dirname(path))
    .filter((other) => other.startsWith(`${name}.`) && /^\d+\.next$/.test(other.slice(name.length + 1)))
    .map((other) => join(dirname(path), other));
}
