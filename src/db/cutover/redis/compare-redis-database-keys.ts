import { sanitizeReportLine } from '../../../base/sanitize.ts';
import type { Clock } from '../../../platform/host.ts';
import type { RedisConnection } from '../../../redis/connection.ts';
import { parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { readServerInfo } from '../../engine/redis/replica.ts';
import type { TableComparison } from '../rehearsal-report.ts';
import { type RedisKeyContent, readRedisKeyContent, UnreadableRedisKeyError } from './redis-key-content.ts';

export interface CompareRedisKeysOptions {
  readonly source: RedisConnection;
  readonly target: RedisConnection;
  /** Number of the Redis database, as in SELECT. */
  readonly index: number;
  /** Whether both servers return when a key expires (Redis 7.0 and later). */
  readonly hasExpiryTimes: boolean;
  /** The maximum number of times that a key which is not equal is read again. */
  readonly maxRounds: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Compares every key of a database on both servers. After the comparison the database is still selected in both
 * sessions. Throws a CommandError.
 */
export async function compareRedisDatabaseKeys(options: CompareRedisKeysOptions): Promise<TableComparison> {
  const { source, target, index } = options;
  for (const session of [source, target]) await session.send(['SELECT', String(index)]);
  const before = await readWriteCounters(options);
  const unequal = await findUnequalKeys(options);
  const found = await compareAgain(options, unequal);
  const after = await readWriteCounters(options);
  const [rows_source, rows_target] = [keyCount(after.source, index), keyCount(after.target, index)];
  const rows = { name: 'keys', rows_source, rows_target };
  const keys = [...found].map(([key]) => key);
  const names = keys.length === 0 ? '' : `: ${listedNames(keys)}`;
  if (before.isHidden && keys.length === 0)
    return { ...rows, state: 'not_comparable', error: 'the source does not report whether it is written to' };
  const written =
    before.text === after.text ? undefined : 'a server was written to, or saved its data, during the comparison';
  if (written === undefined && keys.length > 0 && isBehind(after.target))
    return { ...rows, state: 'not_comparable', error: 'the target does not receive the changes of its primary' };
  if (written !== undefined)
    return { ...rows, state: 'not_comparable', error: keys.length === 0 ? written : `${written}; not equal${names}` };
  const different = keys.filter((key) => found.get(key) === 'differs');
  if (different.length > 0)
    return {
      ...rows,
      state: 'differs',
      error: `${different.length === maxSuspects ? 'at least ' : ''}${different.length} keys differ: ${listedNames(different)}`,
    };
  const [reason] = found.values();
  return reason === undefined
    ? { ...rows, state: 'equal' }
    : { ...rows, state: 'not_comparable', error: `${reason}${names}` };
}

/** The maximum number of keys that are read again; more are not needed to prove that the databases differ. */
const maxSuspects = 1000;

function keyCount(info: RedisInfo, index: number): number {
  return parseKeyspace(info).find((one) => one.index === index)?.keys ?? 0;
}

/** Reads a text that changes with every write to the source or the target. */
async function readWriteCounters({ source, target }: CompareRedisKeysOptions) {
  const [from, to] = [await readServerInfo(source), await readServerInfo(target)];
  const isHidden = !from.has('rdb_changes_since_last_save');
  const text = [from, to].map((info) => [info.get('rdb_changes_since_last_save'), info.get('rdb_last_save_time')]);
  return { source: from, target: to, isHidden, text: JSON.stringify(text) };
}

/** Whether the server is a replica that is not connected to its primary. */
function isBehind(info: RedisInfo): boolean {
  return info.get('role') === 'slave' && info.get('master_link_status') !== 'up';
}

type KeyName = string;

/** Keys, as bytes in latin1, that were not equal in the first comparison, including keys that only the target has. */
async function findUnequalKeys(options: CompareRedisKeysOptions): Promise<ReadonlySet<KeyName>> {
  const { source, target } = options;
  const suspects = new Set<KeyName>();
  for await (const keys of scanKeys(source)) {
    const results = await Promise.all(keys.map((key) => compareKey(options, key)));
    keys.forEach((key, at) => void (results[at] === 'equal' || suspects.add(nameOf(key))));
    if (suspects.size >= maxSuspects) return suspects;
  }
  for await (const keys of scanKeys(target)) {
    const exists = await Promise.all(keys.map((key) => source.send(['EXISTS', key])));
    keys.forEach((key, at) => void (Number(exists[at]) === 1 || suspects.add(nameOf(key))));
    if (suspects.size >= maxSuspects) return suspects;
  }
  return suspects;
}

async function* scanKeys(session: RedisConnection): AsyncGenerator<readonly Uint8Array[]> {
  for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
    const reply = await session.sendRaw(['SCAN', cursor, 'COUNT', '100'], 60_000);
    const [next, keys] = Array.isArray(reply) ? reply : [];
    cursor = next instanceof Uint8Array ? Buffer.from(next).toString() : '0';
    yield Array.isArray(keys) ? keys.filter((key) => key instanceof Uint8Array) : [];
  }
}

/** The result for a key: `equal`, `differs`, or why the values cannot be compared. */
type KeyComparison = string;

/**
 * Reads a key from the source, from the target, and, if they are not equal, from the source again, because a key that
 * changed cannot be compared.
 */
async function compareKey(
  { source, target, hasExpiryTimes }: CompareRedisKeysOptions,
  key: Uint8Array,
): Promise<KeyComparison> {
  try {
    const before = await readRedisKeyContent(source, key, hasExpiryTimes);
    const there = await readRedisKeyContent(target, key, hasExpiryTimes);
    if (isSame(before, there)) return 'equal';
    if (!isSame(before, await readRedisKeyContent(source, key, hasExpiryTimes)))
      return 'keys changed during the comparison';
    if (before?.isOpaque === true && there?.type === before.type && before.expiresAt === there.expiresAt)
      return `values of the type ${sanitizeReportLine(before.type)} cannot be compared`;
    return 'differs';
  } catch (error) {
    if (error instanceof UnreadableRedisKeyError) return `a value ${error.message}`;
    throw error;
  }
}

function isSame(one: RedisKeyContent | undefined, other: RedisKeyContent | undefined): boolean {
  return one?.type === other?.type && one?.digest === other?.digest && one?.expiresAt === other?.expiresAt;
}

/**
 * Reads keys again, because replication may be delayed; returns the keys that are still not equal, with the result of
 * each.
 */
async function compareAgain(
  options: CompareRedisKeysOptions,
  suspects: ReadonlySet<KeyName>,
): Promise<ReadonlyMap<KeyName, KeyComparison>> {
  let found = new Map<KeyName, KeyComparison>([...suspects].map((name) => [name, 'differs']));
  for (let round = 0; round < options.maxRounds && found.size > 0; round++) {
    if (round > 0) await options.clock.sleep(Math.min(1000, 100 * 2 ** round), options.signal);
    const results = new Map<KeyName, KeyComparison>();
    for (const name of found.keys()) results.set(name, await compareKey(options, Buffer.from(name, 'latin1')));
    found = new Map([...results].filter(([, result]) => result !== 'equal'));
  }
  return found;
}

function nameOf(key: Uint8Array): KeyName {
  return Buffer.from(key).toString('latin1');
}

function listedNames(names: readonly KeyName[]): string {
  const listed = names.slice(0, 3).map((name) => sanitizeReportLine(Buffer.from(name, 'latin1').toString('utf8')));
  return `${listed.join(', ')}${names.length > 3 ? ' and others' : ''}`;
}
