import { CliError, type CliErrorCode, usageError } from '../../../base/errors.ts';
import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { countOf } from '../../../base/text.ts';
import type { Clock } from '../../../platform/host.ts';
import { ConnectError } from '../../../platform/network-errors.ts';
import { CommandError } from '../../../redis/command-error.ts';
import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { infoNumber, parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { connectPipeline, type PipelinedReply, type RedisPipeline } from '../../../redis/pipeline.ts';
import { parseServerVersion } from '../../../redis/version.ts';
import { readServerInfo, redactReason } from '../../engine/tools.ts';
import { unreachableHint } from '../../source/index.ts';
import { describeRedisWrites } from '../activity.ts';
import {
  buildDatabaseComparisonEntry,
  type DatabaseComparisonEntry,
  type DatabaseComparisonOptions,
  type DatabaseComparisonReport,
  dataExcludedFromComparison,
  pickWorstComparisonResult,
} from '../comparison.ts';
import type { TableComparison } from '../rehearse/report.ts';
import { targetInputs, targetLoginHint } from '../target.ts';
import {
  canReadExpiry,
  compareKeyBatch,
  type KeyContent,
  LargeKeyError,
  type RedisKeyName,
  readKeyContent,
  readKeySize,
} from './keys.ts';

type ComparedServers = Omit<DatabaseComparisonReport, 'schema_version' | 'engine' | 'started_at' | 'seconds'>;

/** Compares the keys of every database. */
export async function compareRedisServerContents(
  source: RedisEndpoint,
  target: RedisEndpoint,
  { signal, clock, maxRounds, catchUpTimeout, onProgress }: DatabaseComparisonOptions,
): Promise<ComparedServers> {
  for (const [server, side] of [[source, 'source'] as const, [target, 'target'] as const])
    await expectReachable(server, side, signal);
  return withComparedRedisServers({ source, target }, signal, async (servers) => {
    const before = await readServerInfo(servers.source.session);
    const there = await readServerInfo(servers.target.session);
    if (before.has('run_id') && before.get('run_id') === there.get('run_id'))
      throw usageError('source and target are the same server', 'give another server with `--target`');
    const indexes = [...new Set([...keyspaceOf(before), ...keyspaceOf(there)])].sort((a, b) => a - b);
    const databases: DatabaseComparisonEntry[] = [];
    for (const [done, index] of indexes.entries()) {
      onProgress({ database: `db${index}`, done, total: indexes.length });
      databases.push(await compareOneDatabase({ index, ...servers, ...{ signal, clock, maxRounds, catchUpTimeout } }));
    }
    if ([before, there].some((info) => info.get('cluster_enabled') === '1')) databases.push(otherNodes);
    return {
      state: pickWorstComparisonResult(databases.map(({ state }) => state)),
      source: serverOf(source, before),
      target: serverOf(target, there),
      databases,
      not_compared: [
        ...dataExcludedFromComparison.redis,
        ...(servers.hasExpiryTimes ? [] : ['times of expiry, because a server is older than Redis 7.0']),
      ],
    };
  });
}

const otherNodes = buildDatabaseComparisonEntry({
  ...{ name: 'cluster', tables: [], sequences: [], not_compared: [] },
  error: 'a server is in cluster mode, and the keys of its other nodes were not compared',
});

async function compareOneDatabase(options: CompareRedisKeysOptions): Promise<DatabaseComparisonEntry> {
  const parts = { name: `db${options.index}`, tables: [], sequences: [], not_compared: [] };
  try {
    return buildDatabaseComparisonEntry({ ...parts, tables: [await compareRedisDatabaseKeys(options)] });
  } catch (error) {
    if (options.signal.aborted || !(error instanceof CommandError)) throw error;
    return buildDatabaseComparisonEntry({ ...parts, error: redactReason(error) });
  }
}

function keyspaceOf(info: RedisInfo): readonly number[] {
  return parseKeyspace(info).map(({ index }) => index);
}

function serverOf({ host, port }: RedisEndpoint, info: RedisInfo) {
  return { host, port, version: parseServerVersion(info)?.version ?? 'unknown' };
}

/** Throws the error of the side that cannot be reached. */
async function expectReachable(server: RedisEndpoint, side: 'source' | 'target', signal: AbortSignal): Promise<void> {
  try {
    (await connectRedis(server, { limit: 10_000, signal })).end();
  } catch (error) {
    if (!(error instanceof ConnectError || error instanceof CommandError)) throw error;
    const code: CliErrorCode = side === 'source' ? 'source_unreachable' : 'unreachable';
    throw new CliError(code, `could not connect to the ${side}: ${redactReason(error, server.password)}`, {
      detail: `${server.host}:${server.port}`,
      hint:
        side === 'target'
          ? targetLoginHint(error, targetInputs)
          : unreachableHint({ engine: 'redis', source: server }, error.code),
      cause: error,
    });
  }
}

/** The sessions with one server: one command after the other, and many small commands at once. */
interface ComparedRedisServer {
  readonly session: RedisConnection;
  readonly pipeline: RedisPipeline;
}

interface ComparedRedisServers {
  readonly source: ComparedRedisServer;
  readonly target: ComparedRedisServer;
  /** Whether both servers return when a key expires (Redis 7.0 and later). */
  readonly hasExpiryTimes: boolean;
}

interface CompareRedisKeysOptions extends ComparedRedisServers {
  /** Number of the Redis database, as in SELECT. */
  readonly index: number;
  /** The maximum number of times that a key which is not equal is read again. */
  readonly maxRounds: number;
  /** Milliseconds to wait until the target has received what the source wrote. */
  readonly catchUpTimeout: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /**
   * Whether an application may write meanwhile, as during a rehearsal: a key then counts as equal when it was equal at the
   * moment of its reading. Otherwise a write makes the whole database not comparable.
   */
  readonly mayBeWritten?: boolean;
}

/** Opens the sessions of one server, on which reading a key does not count as its last use. */
async function openComparedRedisServer(
  server: RedisEndpoint,
  signal: AbortSignal,
): Promise<ComparedRedisServer & { end(): void }> {
  const session = await connectRedis(server, { limit: 10_000, signal });
  try {
    const pipeline = await connectPipeline(server, { limit: 10_000, signal });
    const end = (): void => {
      session.end();
      pipeline.end();
    };
    try {
      // A server before Redis 7.2 does not have CLIENT NO-TOUCH.
      await session.send(['CLIENT', 'NO-TOUCH', 'ON']).catch(ignoreRefusal);
      await pipeline.exchange([['CLIENT', 'NO-TOUCH', 'ON']]);
      return { session, pipeline, end };
    } catch (error) {
      pipeline.end();
      throw error;
    }
  } catch (error) {
    session.end();
    throw error;
  }
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof CommandError) || error.lost) throw error;
}

/** Opens the sessions of both servers for `work`, and closes them in any case. */
export async function withComparedRedisServers<T>(
  { source, target }: { readonly source: RedisEndpoint; readonly target: RedisEndpoint },
  signal: AbortSignal,
  work: (servers: ComparedRedisServers) => Promise<T>,
): Promise<T> {
  const from = await openComparedRedisServer(source, signal);
  try {
    const to = await openComparedRedisServer(target, signal);
    try {
      const hasExpiryTimes = (await canReadExpiry(from.session)) && (await canReadExpiry(to.session));
      return await work({ source: from, target: to, hasExpiryTimes });
    } finally {
      to.end();
    }
  } finally {
    from.end();
  }
}

/**
 * Compares every key of a database on both servers, in one reading of both at once. That nothing was written meanwhile is
 * proven by the counters of the servers; keys that expire are no writes, and are read again. Throws a CommandError.
 */
export async function compareRedisDatabaseKeys(options: CompareRedisKeysOptions): Promise<TableComparison> {
  const { source, target, index } = options;
  for (const { session, pipeline } of [source, target]) {
    await session.send(['SELECT', String(index)]);
    await expectDone(pipeline, ['SELECT', String(index)]);
  }
  let result = await compareKeysOnce(options);
  // A server that saved its data began a new count of its changes. It does not save again while nothing is written.
  if (result.written?.isReset === true) result = await compareKeysOnce(options);
  return describeComparison(options, result);
}

async function expectDone(pipeline: RedisPipeline, command: readonly [string, ...string[]]): Promise<void> {
  const [reply] = await pipeline.exchange([command]);
  if (reply instanceof CommandError) throw reply;
}

interface KeysComparison {
  readonly after: { readonly source: RedisInfo; readonly target: RedisInfo };
  /** The keys that are not equal in the end, with the result of each. */
  readonly unequal: ReadonlyMap<RedisKeyName, ComparedKey>;
  /** Of these the keys that the source has not. */
  readonly targetOnly: number;
  readonly isPartial: boolean;
  readonly written: ReturnType<typeof describeRedisWrites>;
  readonly isBehind: boolean;
}

async function compareKeysOnce(options: CompareRedisKeysOptions): Promise<KeysComparison> {
  const before = await readBoth(options);
  const isReceived = await waitUntilReceived(options, before);
  const suspects = await findUnequalKeys(options);
  const unequal = await compareAgain(options, suspects);
  const after = await readBoth(options);
  return {
    after,
    unequal,
    targetOnly: [...unequal.values()].filter(({ isOnSource }) => !isOnSource).length,
    isPartial: suspects.size >= maxSuspects,
    written: describeRedisWrites(before, after),
    isBehind: !isReceived || isBehind(after.target),
  };
}

function describeComparison(
  { index, mayBeWritten = false }: CompareRedisKeysOptions,
  { after, unequal, targetOnly, isPartial, written, isBehind }: KeysComparison,
): TableComparison {
  const [rows_source, rows_target] = [keyCount(after.source, index), keyCount(after.target, index)];
  const names = [...unequal.keys()];
  const equal = Math.max(0, rows_source - (names.length - targetOnly));
  const rows = { name: 'keys', rows_source, rows_target, ...(isPartial ? {} : { rows_equal: equal }) };
  const count = `${isPartial ? 'at least ' : ''}${countOf(names.length, 'key')}`;
  const reason = written === undefined || mayBeWritten ? undefined : written.reason;
  if (names.length === 0) {
    if (reason === undefined) return { ...rows, state: 'equal' };
    return { ...rows, state: 'not_comparable', error: reason };
  }
  const different = names.filter((name) => unequal.get(name)?.result === 'differs');
  const isProven = reason === undefined && !isBehind && different.length > 0;
  if (isProven) {
    const what = `${isPartial ? 'at least ' : ''}${countOf(different.length, 'key')} ${different.length === 1 ? 'differs' : 'differ'}`;
    return { ...rows, state: 'differs', error: `${what}: ${listedNames(different)}` };
  }
  const isFinal = reason === undefined && !isBehind && !isPartial;
  if (isFinal && [...unequal.values()].every((one) => one.isFinal === true)) {
    const error = `${countOf(names.length, 'key')} cannot be compared: ${listedNames(names, (name) => unequal.get(name)?.result)}`;
    return { ...rows, state: 'not_comparable', error, acceptable: true };
  }
  const behind = isBehind ? 'the target has not received all changes of its primary' : undefined;
  const [first] = unequal.values();
  const because = reason ?? behind ?? first?.result ?? 'not known';
  const error = `${because}; ${count} not equal when read: ${listedNames(names)}`;
  return { ...rows, state: 'not_comparable', error };
}

/** The maximum number of keys that are read again; more are not needed to prove that the databases differ. */
const maxSuspects = 1000;

function keyCount(info: RedisInfo, index: number): number {
  return parseKeyspace(info).find((one) => one.index === index)?.keys ?? 0;
}

async function readBoth({ source, target }: Pick<CompareRedisKeysOptions, 'source' | 'target'>) {
  const [from, to] = await Promise.all([readServerInfo(source.session), readServerInfo(target.session)]);
  return { source: from, target: to };
}

/** Whether the server is a replica that is not connected to its primary. */
function isBehind(info: RedisInfo): boolean {
  return info.get('role') === 'slave' && info.get('master_link_status') !== 'up';
}

/**
 * Waits until the target has received what the source had written before. Without it, a key could be equal by chance to a
 * value that replication is about to replace. A target that replicates nothing has nothing to wait for.
 */
async function waitUntilReceived(
  { target, clock, signal, catchUpTimeout }: CompareRedisKeysOptions,
  before: { readonly source: RedisInfo; readonly target: RedisInfo },
): Promise<boolean> {
  const end = infoNumber(before.source, 'master_repl_offset');
  const isReplica = (info: RedisInfo): boolean =>
    info.get('role') === 'slave' && info.get('master_replid') === before.source.get('master_replid');
  if (end === undefined || !isReplica(before.target)) return true;
  let there = before.target;
  for (const limit = performance.now() + catchUpTimeout; ; await clock.sleep(50, signal)) {
    if (!isReplica(there) || (infoNumber(there, 'slave_repl_offset') ?? 0) >= end) return true;
    if (performance.now() >= limit) return false;
    there = await readServerInfo(target.session);
  }
}

/**
 * The number of batches that are compared at the same time, so that both servers work while the replies of other keys are
 * read, and of keys in a batch.
 */
const lanes = 4;
const batchSize = 1000;

/** Keys that were not equal in the first reading, including keys that only the target has. */
async function findUnequalKeys(options: CompareRedisKeysOptions): Promise<ReadonlySet<RedisKeyName>> {
  const { source, target } = options;
  const suspects = new Set<RedisKeyName>();
  const isEnough = (): boolean => suspects.size >= maxSuspects;
  const onSource = visitKeys(source.pipeline, isEnough, async (names) => {
    for (const name of await compareKeyBatch(options, names)) {
      if (isEnough()) return;
      if ((await compareKey(options, name)).result !== 'equal') suspects.add(name);
    }
  });
  const onTarget = visitKeys(target.pipeline, isEnough, async (names) => {
    for (const name of await missingKeys(source.pipeline, names)) suspects.add(name);
  });
  await Promise.all([onSource, onTarget]);
  return suspects;
}

/** Visits every key of the selected database at least once, several batches at the same time. */
async function visitKeys(
  pipeline: RedisPipeline,
  isEnough: () => boolean,
  visit: (names: readonly RedisKeyName[]) => Promise<void>,
): Promise<void> {
  const open = new Set<Promise<void>>();
  let failure: unknown;
  for (let cursor = '0', isFirst = true; (isFirst || cursor !== '0') && !isEnough(); isFirst = false) {
    const [reply] = await pipeline.exchange([['SCAN', cursor, 'COUNT', String(batchSize)]]);
    if (reply instanceof CommandError) throw reply;
    const [next = null, keys = null] = isList(reply) ? reply : [];
    cursor = textOf(next);
    const names = isList(keys) ? keys.map(textOf) : [];
    const one: Promise<void> = visit(names)
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => open.delete(one));
    open.add(one);
    if (open.size >= lanes) await Promise.race(open);
    if (failure !== undefined) break;
  }
  await Promise.all(open);
  if (failure !== undefined) throw failure;
}

/** The keys that the server has not. One EXISTS counts many keys, so only a count that is too low asks for each key. */
async function missingKeys(pipeline: RedisPipeline, names: readonly RedisKeyName[]): Promise<readonly RedisKeyName[]> {
  if (names.length === 0) return [];
  const [count] = await pipeline.exchange([['EXISTS', ...names]]);
  if (count === names.length) return [];
  const replies = await pipeline.exchange(names.map((name) => ['EXISTS', name] as const));
  for (const reply of replies) if (reply instanceof CommandError) throw reply;
  return names.filter((_name, at) => replies[at] !== 1);
}

function isList(reply: PipelinedReply | undefined): reply is readonly PipelinedReply[] {
  return Array.isArray(reply);
}

function textOf(reply: PipelinedReply): string {
  return reply instanceof Uint8Array ? reply.toString('latin1') : String(reply);
}

/** The result for a key: `equal`, `differs`, or why the values cannot be compared. */
type KeyComparison = string;

interface ComparedKey {
  readonly result: KeyComparison;
  readonly isOnSource: boolean;
  /** Whether only one server has the key, and there it expires in a moment. */
  readonly isExpiring: boolean;
  /** Whether another reading cannot compare the values either. */
  readonly isFinal?: true;
}

/**
 * Reads a key from both servers at once, and, if they are not equal, from the source again, because a key that changed
 * cannot be compared.
 */
async function compareKey(options: CompareRedisKeysOptions, name: RedisKeyName): Promise<ComparedKey> {
  const { source, target, hasExpiryTimes } = options;
  const key = Buffer.from(name, 'latin1');
  let isOnSource = true;
  const as = (result: KeyComparison, isExpiring = false): ComparedKey => ({ result, isOnSource, isExpiring });
  try {
    const [before, there] = await readFromBoth(options, key);
    isOnSource = before !== undefined;
    if (isSame(before, there)) return as('equal');
    if (!isSame(before, await readKeyContent(source.session, key, hasExpiryTimes))) return as(changed);
    if (before === undefined || there === undefined) {
      const left = Number(await (before === undefined ? target : source).session.send(['PTTL', key]));
      return as('differs', left >= 0 && left <= expiryTolerance);
    }
    if (before.isOpaque && there.type === before.type && before.expiresAt === there.expiresAt)
      return { ...as(`values of the type ${sanitizeReportLine(before.type)} cannot be compared`), isFinal: true };
    return as('differs');
  } catch (error) {
    if (!(error instanceof LargeKeyError)) throw error;
    const [here, there] = await Promise.all(
      [source, target].map(({ session }) => readKeySize(session, key, hasExpiryTimes)),
    );
    return here === there ? { ...as(error.message), isFinal: true } : as('differs');
  }
}

const changed = 'keys changed in every reading';

/** While an application may write, the target is read when it has received what the source had before. */
async function readFromBoth(
  { source, target, hasExpiryTimes, ...options }: CompareRedisKeysOptions,
  key: Uint8Array,
): Promise<readonly [KeyContent | undefined, KeyContent | undefined]> {
  const here = readKeyContent(source.session, key, hasExpiryTimes);
  if (options.mayBeWritten === true) {
    await here;
    const servers = { source, target, hasExpiryTimes, ...options };
    await waitUntilReceived(servers, await readBoth(servers));
  }
  return Promise.all([here, readKeyContent(target.session, key, hasExpiryTimes)]);
}

/** Milliseconds by which the clocks of the servers may differ: one of them removes an expired key earlier. */
const expiryTolerance = 10_000;

function isSame(one: KeyContent | undefined, other: KeyContent | undefined): boolean {
  return one?.type === other?.type && one?.digest === other?.digest && one?.expiresAt === other?.expiresAt;
}

/**
 * Reads keys again, because replication may be delayed and keys expire; returns the keys that are still not equal. Keys
 * that expire in a moment are read until they have expired on both servers.
 */
async function compareAgain(
  options: CompareRedisKeysOptions,
  suspects: ReadonlySet<RedisKeyName>,
): Promise<ReadonlyMap<RedisKeyName, ComparedKey>> {
  const { clock, signal, maxRounds } = options;
  const unknown: ComparedKey = { result: 'differs', isOnSource: true, isExpiring: false };
  let found = new Map<RedisKeyName, ComparedKey>([...suspects].map((name) => [name, unknown]));
  const limit = performance.now() + 1.5 * expiryTolerance;
  for (let round = 0; found.size > 0; round += 1) {
    const isExpiring = [...found.values()].some((one) => one.isExpiring) && performance.now() < limit;
    if (round >= maxRounds && !isExpiring) break;
    if (round > 0) await clock.sleep(Math.min(1000, 100 * 2 ** round), signal);
    await waitUntilReceived(options, await readBoth(options));
    const results = new Map<RedisKeyName, ComparedKey>();
    for (const [name, last] of found) {
      const one = await compareKey(options, name);
      // A value that changes back and forth looks different in some readings, which proves nothing.
      const isOften = options.mayBeWritten === true && last.result === changed && one.result === 'differs';
      results.set(name, isOften ? { ...one, result: changed } : one);
    }
    found = new Map([...results].filter(([, { result }]) => result !== 'equal'));
  }
  return found;
}

/** @param noteOf what is said of a key */
function listedNames(
  names: readonly RedisKeyName[],
  noteOf: (name: RedisKeyName) => string | undefined = () => undefined,
): string {
  const listed = names.slice(0, 3).map((name) => {
    const [text, note] = [sanitizeReportLine(Buffer.from(name, 'latin1').toString('utf8')), noteOf(name)];
    return note === undefined ? text : `${text} (${note})`;
  });
  return `${listed.join(', ')}${names.length > 3 ? ' and others' : ''}`;
}
