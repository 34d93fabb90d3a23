import { createHash, type Hash } from 'node:crypto';
import { formatCount } from '../../../base/text.ts';
import { CommandError } from '../../../redis/command-error.ts';
import type { RedisConnection, RedisReply } from '../../../redis/connection.ts';
import type { PipelinedCommand, PipelinedReply, RedisPipeline } from '../../../redis/pipeline.ts';

/** A key as bytes, each written as one latin1 character. */
export type RedisKeyName = string;

interface RedisKeyBatchServers {
  readonly source: { readonly pipeline: RedisPipeline };
  readonly target: { readonly pipeline: RedisPipeline };
  readonly hasExpiryTimes: boolean;
}

/** Bytes of a string and elements of another value that are read with many other keys; a larger value is read alone. */
const smallString = 16_384;
const smallElements = 100;

/**
 * Reads small values of many keys from both servers at once, and returns the keys that are not proven equal: their values
 * are large, of another type, in another order, or not equal. The caller reads those one by one.
 */
export async function compareKeyBatch(
  servers: RedisKeyBatchServers,
  names: readonly RedisKeyName[],
): Promise<readonly RedisKeyName[]> {
  const open: RedisKeyName[] = [];
  // The first keys tell how large the values are, so that a batch of large values does not fill the memory.
  for (let from = 0, size = firstPart; from < names.length; ) {
    const part = names.slice(from, from + size);
    const { unequal, bytes } = await comparePart(servers, part);
    open.push(...unequal);
    from += part.length;
    size = Math.max(1, Math.min(names.length, Math.floor((maxPartBytes * part.length) / Math.max(1, bytes))));
  }
  return open;
}

const firstPart = 100;
const maxPartBytes = 4 * 2 ** 20;

async function comparePart({ source, target, hasExpiryTimes }: RedisKeyBatchServers, names: readonly RedisKeyName[]) {
  const expiry = hasExpiryTimes ? 'PEXPIRETIME' : 'PTTL';
  const types = await source.pipeline.exchange(names.map((name) => ['TYPE', name] as const));
  const commands: PipelinedCommand[] = [];
  const compared: { readonly name: RedisKeyName; readonly type: SmallType }[] = [];
  const unequal: RedisKeyName[] = [];
  for (const [at, name] of names.entries()) {
    const type = smallTypeOf(types[at]);
    if (type === undefined) unequal.push(name);
    else {
      compared.push({ name, type });
      commands.push(readCommands[type](name), [expiry, name]);
    }
  }
  const [here, there] = await Promise.all([source.pipeline.exchange(commands), target.pipeline.exchange(commands)]);
  let bytes = 0;
  for (const [at, { name, type }] of compared.entries()) {
    const { [2 * at]: value = null, [2 * at + 1]: time = null } = here;
    const { [2 * at]: otherValue = null, [2 * at + 1]: otherTime = null } = there;
    bytes += sizeOf(value);
    const isEqual =
      isSameTime(time, otherTime, hasExpiryTimes) &&
      isWhole(type, value) &&
      isWhole(type, otherValue) &&
      isSameValue(type, value, otherValue);
    if (!isEqual) unequal.push(name);
  }
  return { unequal, bytes };
}

type SmallType = 'string' | 'list' | 'set' | 'hash' | 'zset';

const readCommands: Readonly<Record<SmallType, (name: RedisKeyName) => PipelinedCommand>> = {
  string: (name) => ['GETRANGE', name, '0', String(smallString - 1)],
  list: (name) => ['LRANGE', name, '0', String(smallElements - 1)],
  set: (name) => ['SSCAN', name, '0', 'COUNT', String(2 * smallElements)],
  hash: (name) => ['HSCAN', name, '0', 'COUNT', String(2 * smallElements)],
  zset: (name) => ['ZRANGE', name, '0', String(smallElements - 1), 'WITHSCORES'],
};

function smallTypeOf(reply: PipelinedReply | undefined): SmallType | undefined {
  switch (reply) {
    case 'string':
    case 'list':
    case 'set':
    case 'hash':
    case 'zset':
      return reply;
    default:
      return undefined;
  }
}

/**
 * Both servers must have the key: a key that is missing has the time -2. Without PEXPIRETIME only whether it expires can be
 * compared.
 */
function isSameTime(one: PipelinedReply, other: PipelinedReply, hasExpiryTimes: boolean): boolean {
  if (typeof one !== 'number' || typeof other !== 'number' || one === -2 || other === -2) return false;
  return hasExpiryTimes ? one === other : one < 0 === other < 0;
}

/** Whether the reply has the whole value. */
function isWhole(type: SmallType, reply: PipelinedReply): boolean {
  if (type === 'string') return reply instanceof Uint8Array && reply.length < smallString;
  if (!isList(reply)) return false;
  if (type === 'list') return reply.length < smallElements;
  if (type === 'zset') return reply.length < 2 * smallElements;
  const [cursor] = reply;
  return cursor instanceof Uint8Array && cursor.length === 1 && cursor[0] === 0x30;
}

function isSameValue(type: SmallType, one: PipelinedReply, other: PipelinedReply): boolean {
  if (isSameReply(one, other)) return true;
  if ((type !== 'set' && type !== 'hash') || !isList(one) || !isList(other)) return false;
  const [here, there] = [sortedElements(type, one[1]), sortedElements(type, other[1])];
  return here.length === there.length && here.every((element, at) => element === there[at]);
}

/** The elements of a set, or fields with values of a hash, without those that the scan returned twice. */
function sortedElements(type: 'set' | 'hash', reply: PipelinedReply | undefined): readonly string[] {
  const list = isList(reply) ? reply : [];
  const found = new Set<string>();
  const width = type === 'set' ? 1 : 2;
  for (let at = 0; at < list.length; at += width) {
    const parts = list.slice(at, at + width).map((part) => (part instanceof Uint8Array ? part.toString('latin1') : ''));
    found.add(`${parts[0]?.length}:${parts.join('')}`);
  }
  return [...found].sort();
}

function isSameReply(one: PipelinedReply, other: PipelinedReply): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) return one.equals(other);
  if (!isList(one) || !isList(other)) return one === other;
  return one.length === other.length && one.every((part, at) => isSameReply(part, other[at] ?? null));
}

function sizeOf(reply: PipelinedReply): number {
  if (reply instanceof Uint8Array) return reply.length;
  return isList(reply) ? reply.reduce<number>((sum, part) => sum + sizeOf(part) + 16, 0) : 16;
}

/** What a Redis key contains, for a comparison. Two keys are equal if all fields of their content are equal. */
export interface KeyContent {
  readonly type: string;
  /** Digest of the value of the key, in a form that does not depend on the server version. */
  readonly digest: string;
  /**
   * Expiry in milliseconds since 1970; -1: the key does not expire; -2: the key expires, but the server does not return
   * the time.
   */
  readonly expiresAt: number;
  /**
   * Whether the digest is that of DUMP, whose format depends on the server version, so that different digests prove
   * nothing.
   */
  readonly isOpaque: boolean;
}

/** @param hasExpiryTimes whether both servers have PEXPIRETIME (Redis 7.0 and later) */
export async function readKeyContent(
  session: RedisConnection,
  key: Uint8Array,
  hasExpiryTimes: boolean,
): Promise<KeyContent | undefined> {
  const [type, expiry] = await Promise.all([
    session.send(['TYPE', key]),
    session.send([hasExpiryTimes ? 'PEXPIRETIME' : 'PTTL', key]),
  ]);
  const name = String(type);
  if (name === 'none') return undefined;
  // The type name comes from the server and can be any text, so a name such as `constructor` must not find a reader.
  const readValue = Object.hasOwn(readers, name) ? readers[name] : undefined;
  const digest = createHash('sha256');
  if (readValue === undefined) addPart(digest, await session.sendRaw(['DUMP', key], valueTimeout));
  else await readValue(session, key, digest);
  const expiresAt = Number(expiry);
  return {
    type: name,
    digest: digest.digest('hex'),
    expiresAt: hasExpiryTimes || expiresAt < 0 ? Math.max(-1, expiresAt) : -2,
    isOpaque: readValue === undefined,
  };
}

/** Time limit in milliseconds for one reply of Redis that contains the content of a key. */
const valueTimeout = 60_000;

/**
 * The maximum number of bytes of a string that one command reads; `elementPart` is the number of elements of another value.
 */
const stringPart = 2 ** 20;
const elementPart = 100;

/** Sets and hashes have no order, so the hashes of their elements are kept until all are read. */
const maxUnordered = 1_000_000;

/** The key has so many elements that they are not read. */
export class LargeKeyError extends Error {
  override readonly name = 'LargeKeyError';
}

/** What can be compared of a value that is too large to be read: its type, its number of elements and when it expires. */
export async function readKeySize(session: RedisConnection, key: Uint8Array, hasExpiryTimes: boolean): Promise<string> {
  const type = String(await session.send(['TYPE', key]));
  const count = sizeCommands[type];
  const size = count === undefined ? '' : String(await session.send([count, key]));
  const expiry = Number(await session.send([hasExpiryTimes ? 'PEXPIRETIME' : 'PTTL', key]));
  return `${type} ${size} ${hasExpiryTimes || expiry < 0 ? expiry : 'expires'}`;
}

const sizeCommands: Readonly<Record<string, 'SCARD' | 'HLEN' | undefined>> = { set: 'SCARD', hash: 'HLEN' };

type ReadValue = (session: RedisConnection, key: Uint8Array, digest: Hash) => Promise<void>;

const readers: Readonly<Record<string, ReadValue | undefined>> = {
  async string(session, key, digest) {
    const length = Number(await session.send(['STRLEN', key]));
    for (let from = 0; from < length; from += stringPart) {
      const part = await session.sendRaw(['GETRANGE', key, String(from), String(from + stringPart - 1)], valueTimeout);
      if (part instanceof Uint8Array) digest.update(part);
    }
  },
  async list(session, key, digest) {
    for (let from = 0; ; from += elementPart) {
      const part = await range(session, ['LRANGE', key, String(from), String(from + elementPart - 1)]);
      for (const element of part) addPart(digest, element);
      if (part.length < elementPart) return;
    }
  },
  set: (session, key, digest) => readUnordered(session, ['SSCAN', key], 1, digest),
  hash: (session, key, digest) => readUnordered(session, ['HSCAN', key], 2, digest),
  async zset(session, key, digest) {
    for (let from = 0; ; from += elementPart) {
      const part = await range(session, ['ZRANGE', key, String(from), String(from + elementPart - 1), 'WITHSCORES']);
      for (let at = 0; at < part.length; at += 2) {
        addPart(digest, part[at] ?? null);
        addPart(digest, scoreText(part[at + 1] ?? null));
      }
      if (part.length < 2 * elementPart) return;
    }
  },
  async stream(session, key, digest) {
    for (let start = '-'; ; ) {
      const part = await range(session, ['XRANGE', key, start, '+', 'COUNT', String(elementPart)]);
      for (const entry of part) addPart(digest, entry);
      const last = part.at(-1);
      if (part.length < elementPart || !isList(last)) break;
      start = nextStreamId(text(last[0] ?? null));
    }
    addPart(digest, fieldsOf(await session.sendRaw(['XINFO', 'STREAM', key], valueTimeout), ['last-generated-id']));
    const groups = await range(session, ['XINFO', 'GROUPS', key]);
    for (const group of groups) addPart(digest, fieldsOf(group, ['name', 'pending', 'last-delivered-id']));
  },
};

/** A scan with a cursor may return an element twice. */
async function readUnordered(
  session: RedisConnection,
  command: readonly [string, Uint8Array],
  width: 1 | 2,
  digest: Hash,
): Promise<void> {
  const size = Number(await session.send([width === 1 ? 'SCARD' : 'HLEN', command[1]]));
  if (size > maxUnordered) throw tooLarge(size);
  const found = new Set<string>();
  for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
    const reply = await session.sendRaw([...command, cursor, 'COUNT', String(elementPart)], valueTimeout);
    const [next = null, elements = null] = isList(reply) ? reply : [];
    cursor = text(next);
    const list = isList(elements) ? elements : [];
    for (let at = 0; at < list.length; at += width) {
      const element = createHash('sha256');
      for (const part of list.slice(at, at + width)) addPart(element, part);
      found.add(element.digest('base64'));
    }
    if (found.size > maxUnordered) throw tooLarge(found.size);
  }
  for (const element of [...found].sort()) digest.update(element);
}

function tooLarge(size: number): LargeKeyError {
  return new LargeKeyError(
    `${formatCount(size)} elements; sets and hashes up to ${formatCount(maxUnordered)} are read`,
  );
}

async function range(
  session: RedisConnection,
  command: Parameters<RedisConnection['sendRaw']>[0],
): Promise<readonly RedisReply[]> {
  const reply = await session.sendRaw(command, valueTimeout);
  return isList(reply) ? reply : [];
}

/** Adds a value with its type and length to the digest, so that different values never add the same bytes. */
function addPart(digest: Hash, part: RedisReply): void {
  if (isList(part)) {
    digest.update(`*${part.length}:`);
    for (const one of part) addPart(digest, one);
  } else {
    const bytes = part instanceof Uint8Array ? part : Buffer.from(String(part));
    digest.update(`$${bytes.length}:`).update(bytes);
  }
}

/** Some Redis releases write a floating-point number with 17 digits, others with as few digits as necessary. */
function scoreText(score: RedisReply): string {
  const number = Number(text(score));
  return Number.isNaN(number) ? text(score) : String(number);
}

/** Selects the named fields from a reply of names and values, because other fields differ between releases. */
function fieldsOf(reply: RedisReply, names: readonly string[]): readonly RedisReply[] {
  const list = isList(reply) ? reply : [];
  return names.map((name) => list[list.findIndex((one, at) => at % 2 === 0 && text(one) === name) + 1] ?? null);
}

/** The smallest stream id after the given one, because an exclusive range needs Redis 6.2. */
function nextStreamId(id: string): string {
  const [ms = '0', sequence = '0'] = id.split('-');
  const next = BigInt(sequence) + 1n;
  return next < 2n ** 64n ? `${ms}-${next}` : `${BigInt(ms) + 1n}-0`;
}

function isList<Reply extends RedisReply | PipelinedReply>(
  reply: Reply | undefined,
): reply is Reply & readonly Reply[] {
  return Array.isArray(reply);
}

function text(reply: RedisReply): string {
  return reply instanceof Uint8Array ? Buffer.from(reply).toString('utf8') : String(reply);
}

/** Whether the server returns when a key expires: PEXPIRETIME, since Redis 7.0 and in all releases of Valkey. */
export async function canReadExpiry(session: RedisConnection): Promise<boolean> {
  try {
    await session.send(['PEXPIRETIME', '']);
    return true;
  } catch (error) {
    if (error instanceof CommandError && !error.lost) return false;
    throw error;
  }
}
