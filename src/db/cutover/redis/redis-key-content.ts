import { createHash, type Hash } from 'node:crypto';
import { formatCount } from '../../../base/text.ts';
import { RedisCommandError } from '../../../redis/command-error.ts';
import type { RedisConnection, RedisReply } from '../../../redis/connection.ts';

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

export class UnreadableKeyError extends Error {
  override readonly name = 'UnreadableKeyError';
}

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
    if (found.size > maxUnordered) throw new UnreadableKeyError(`has more than ${formatCount(maxUnordered)} elements`);
  }
  for (const element of [...found].sort()) digest.update(element);
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

function isList(reply: RedisReply | undefined): reply is readonly RedisReply[] {
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
    if (error instanceof RedisCommandError && !error.lost) return false;
    throw error;
  }
}
