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

function isList(reply: PipelinedReply | undefined): reply is readonly PipelinedReply[] {
  return Array.isArray(reply);
}
