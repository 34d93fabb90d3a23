import type { Clock } from '../../../platform/host.ts';
import { ConnectError, clientErrorCodes } from '../../../platform/network-errors.ts';
import { CommandError } from '../../../redis/command-error.ts';
import { connectRedis, type RedisConnection, type RedisReply } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { type InfoField, infoNumber, parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { formatCommand } from '../../../redis/quote.ts';
import { encodeCommand, type RedisConnectOptions } from '../../../redis/resp.ts';
import { isServerAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { type QueryResult, queryValue } from '../query.ts';
import type { CollectedFacts, PreflightRun } from '../run.ts';
import { isAboutDatabases, isBusy, type RedisCheck } from './check.ts';
import {
  commandCallsQuery,
  infoQuery,
  type QueryContext,
  type RedisQuery,
  replicationQuery,
  requireList,
} from './queries.ts';
import {
  type ActivityRate,
  authenticatedUser,
  type OpenedSource,
  probePsync,
  type RedisConnectionResult,
  type RedisSourceFacts,
  type RenamedCommands,
  sampleKeys,
} from './source.ts';

/** The number of bytes and commands that this program sent to the server. */
interface OwnTraffic {
  readonly bytes: number;
  readonly commands: number;
}

/**
 * The activity of the server per second, calculated from two replies to INFO. `own`: the traffic that this program
 * itself sent between the two replies.
 */
export function computeActivity(before: RedisInfo, after: RedisInfo, seconds: number, own: OwnTraffic): ActivityRate {
  const perSecond = (field: InfoField, ours = 0) => {
    const [first, last] = [infoNumber(before, field), infoNumber(after, field)];
    return first === undefined || last === undefined ? undefined : Math.max(0, last - first - ours) / seconds;
  };
  // On a server that never had a replica, no replication stream exists and master_repl_offset does not change.
  const hasStream = before.get('repl_backlog_active') === '1';
  const stream = hasStream ? perSecond('master_repl_offset') : undefined;
  const writes = stream ?? perSecond('total_net_input_bytes', own.bytes);
  // If at least every second command changes a key, the received bytes count as writes.
  const changes = perSecond('rdb_changes_since_last_save') ?? 0;
  const isMostlyWrites =
    changes > 0 && changes >= (perSecond('total_commands_processed', own.commands) ?? Number.POSITIVE_INFINITY) / 2;
  return {
    writes,
    source: stream !== undefined ? 'stream' : isMostlyWrites ? 'writes' : 'network',
    evicted: perSecond('evicted_keys') ?? 0,
    expired: perSecond('expired_keys') ?? 0,
    ...(changes > 0 ? { changes } : {}),
  };
}

const commandInfo = { id: 'COMMAND INFO', permission: '+command' };

/**
 * Finds write commands that the server has only under another name (rename-command). COMMAND INFO finds a command only
 * by its new name. COMMAND LIST (7.0 and later), COMMAND and the call statistics of INFO contain the original name of a
 * renamed command, but no command that was removed. The replication stream contains the command name that the client
 * sent.
 */
async function findRenamedCommands(
  session: RedisConnection,
  results: RedisResults,
  context: QueryContext,
): Promise<QueryResult<RenamedCommands>> {
  const calls = queryValue(results, commandCallsQuery);
  const result = results.get(commandCallsQuery);
  if (calls === undefined) {
    return result === undefined || result.kind === 'known'
      ? { kind: 'skipped', reason: 'the query was not sent' }
      : result;
  }
  const info = queryValue(results, infoQuery);
  const version = info === undefined ? undefined : parseServerVersion(info);
  const hasList = isServerAtLeast(version, 7, 0);
  const isCalled = (name: string) =>
    [...calls].some(([one, count]) => count > 0 && (one === name || one.startsWith(`${name}|`)));
  const find = async (): Promise<RenamedCommands> => {
    const sentCommands = hasList ? writeCommands.filter((name) => !rewrittenCommands.has(name)) : writeCommands;
    const found = requireList(await session.send(['COMMAND', 'INFO', ...sentCommands]));
    const absent = sentCommands.filter((_, at) => !Array.isArray(found[at]));
    if (absent.length === 0) return { called: [], uncalled: [] };
    const existing = originalNames(await session.send(hasList ? ['COMMAND', 'LIST'] : ['COMMAND']));
    const renamed = absent.filter((name) => existing.has(name) || isCalled(name));
    return { called: renamed.filter(isCalled), uncalled: renamed.filter((name) => !isCalled(name)) };
  };
  return toResult(find(), commandInfo, context);
}

/** The reply to COMMAND LIST contains names; the reply to COMMAND contains lists that begin with the name. */
function originalNames(reply: RedisReply): ReadonlySet<string> {
  return new Set(requireList(reply).map((one) => String(Array.isArray(one) ? one[0] : one).toLowerCase()));
}

/**
 * The write commands of Redis 8 and Valkey 8 that a replica receives as the client sent them, including those that
 * change no key.
 */
const writeCommands: readonly string[] =
  `append bitfield bitop blmove blmpop blpop brpop brpoplpush bzmpop bzpopmax bzpopmin copy decr decrby del exec expire
expireat flushall flushdb function geoadd georadius georadiusbymember geosearchstore getdel getex getset hdel hexpire hexpireat
hgetdel hgetex hincrby hincrbyfloat hmset hpersist hpexpire hpexpireat hset hsetex hsetnx incr incrby incrbyfloat linsert
lmove lmpop lpop lpush lpushx lrem lset ltrim migrate move mset msetnx persist pexpire pexpireat pfadd pfcount pfmerge psetex
rename renamenx restore rpop rpoplpush rpush rpushx sadd sdiffstore set setbit setex setnx setrange sinterstore
smove sort spop srem sunionstore swapdb unlink vadd vrem vsetattr xack xadd xautoclaim xclaim xdel xgroup xreadgroup xsetid
xtrim zadd zdiffstore zincrby zinterstore zmpop zpopmax zpopmin zrangestore zrem zremrangebylex zremrangebyrank
zremrangebyscore zunionstore`.split(/\s+/);

/** Commands that Redis 7.0 and later replicate as others, such as EXPIRE as PEXPIREAT, or by their own name, as EXEC. */
const rewrittenCommands: ReadonlySet<string> = new Set(
  'exec expire expireat getdel getex hincrbyfloat incrbyfloat pexpire psetex setex spop'.split(' '),
);

interface MeasuredActivity {
  readonly rate: ActivityRate | undefined;
  /** Milliseconds by which the clock of the source is ahead. */
  readonly clockOffset?: number | undefined;
  /** Milliseconds spent waiting. */
  readonly waited: number;
}

interface ActivityOptions {
  readonly clock: Clock;
  /** Milliseconds between the two replies to INFO. */
  readonly interval: number;
  readonly signal: AbortSignal;
  /** Returns the bytes and commands that this program has sent so far. */
  readonly sent: () => OwnTraffic;
}

/** Reads INFO twice, and runs `work` between the two readings. */
async function measureActivity(
  session: RedisConnection,
  { clock, interval, signal, sent }: ActivityOptions,
  work: () => Promise<void>,
): Promise<MeasuredActivity> {
  const read = async (): Promise<InfoReading | undefined> => {
    try {
      const reply = await session.send(infoQuery.command({ user: 'default' }));
      // Another check reports a reply to INFO that has the wrong type.
      return typeof reply === 'string' ? { info: infoQuery.decode(reply), at: clock.now(), sent: sent() } : undefined;
    } catch (error) {
      // The checks that use INFO report why INFO has no value.
      if (error instanceof CommandError) return undefined;
      throw error;
    }
  };
  const before = await read();
  await work();
  if (before === undefined) return { rate: undefined, waited: 0 };
  const time = infoNumber(before.info, 'server_time_usec');
  const clockOffset = time === undefined ? undefined : time / 1000 - before.at;
  const wait = Math.max(0, interval - (clock.now() - before.at));
  const waited = await clock.sleep(wait, signal).then(
    () => wait,
    () => undefined,
  );
  const after = waited === undefined ? undefined : await read();
  if (after === undefined) return { rate: undefined, clockOffset, waited: waited ?? 0 };
  const seconds = Math.max(1, after.at - before.at) / 1000;
  const own = {
    bytes: after.sent.bytes - before.sent.bytes,
    commands: after.sent.commands - before.sent.commands,
  };
  return { rate: computeActivity(before.info, after.info, seconds, own), clockOffset, waited: waited ?? 0 };
}

interface InfoReading {
  readonly info: RedisInfo;
  /** Time of the reading in milliseconds since the epoch. */
  readonly at: number;
  readonly sent: OwnTraffic;
}

export interface CollectedRedisFacts extends CollectedFacts {
  readonly facts: RedisSourceFacts;
  readonly results: RedisResults;
}

/**
 * Reports each sent command in the form of a redis-cli line, and counts the sent bytes, which the measurement of the
 * source activity subtracts.
 */
export interface TrafficObserver extends Required<Pick<RedisConnectOptions, 'onCommand'>> {
  readonly sent: () => { readonly bytes: number; readonly commands: number };
}

export function observeTraffic(onSend: PreflightRun<RedisEndpoint>['onSend']): TrafficObserver {
  let bytes = 0;
  let commands = 0;
  return {
    onCommand(command) {
      bytes += encodeCommand(command).length;
      commands += 1;
      const parts = command.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString('utf8')));
      onSend('server', formatCommand(...parts));
    },
    sent: () => ({ bytes, commands }),
  };
}

const samplePermission = { id: 'SCAN', permission: '+select +scan +type +memory|usage' };
const noSession = { kind: 'skipped', reason: 'no session with the server' } as const;

/**
 * Runs the queries of the checks, and then samples keys while the activity of the server is measured. Ends the session.
 */
export async function collectRedisFacts(
  opened: OpenedSource,
  run: PreflightRun<RedisEndpoint>,
  observer: TrafficObserver,
  checks: readonly RedisCheck[],
  rateInterval: number,
): Promise<CollectedRedisFacts> {
  const { session: first, source: connected, connection } = opened;
  if (first === undefined) return { facts: factsOf(opened, run), results: new Map(), waited: 0 };
  const context = { user: authenticatedUser(run.source, connection) };
  const connect = { signal: run.signal, onCommand: observer.onCommand, memory: opened.memory };
  let session = first;
  try {
    const pipelined = await runRedisQueries(session, checks, context, 10_000);
    const retried = await retryRedisQueries(pipelined, session, { source: connected, context, connect });
    const { results, pipelineFailure } = retried;
    session = retried.session;
    run.onProgress(2, 3);
    let sample: RedisSourceFacts['sample'] = noSession;
    let renamed: RedisSourceFacts['renamed'] = noSession;
    let probe: RedisSourceFacts['probe'];
    const { signal, clock } = run;
    const measurement = { clock, interval: rateInterval, signal, sent: observer.sent };
    const { rate, clockOffset, waited } = await measureActivity(session, measurement, async () => {
      const info = queryValue(results, infoQuery);
      const databases = info === undefined ? [0] : parseKeyspace(info).map(({ index }) => index);
      sample = await toResult(sampleKeys(session, databases), samplePermission, context);
      renamed = await findRenamedCommands(session, results, context);
      if (run.options.probe)
        probe = await probePsync(connected, { ...connect, limit: 15_000, copyLimit: copyLimit(results) });
    });
    const measured = { rate, clockOffset, sample, renamed, probe, pipelineFailure };
    return { facts: factsOf(opened, run, results, measured), results, waited };
  } finally {
    session.end();
  }
}

/**
 * Milliseconds within which the copy should begin: for a diskless copy Redis first waits for other replicas, here for
 * at most 20 s.
 */
function copyLimit(results: RedisResults): number {
  const delay = Number(queryValue(results, replicationQuery)?.get('repl-diskless-sync-delay') ?? 5);
  return 15_000 + 1000 * Math.min(20, Math.max(0, Number.isFinite(delay) ? delay : 0));
}

type Measured = Pick<RedisSourceFacts, 'rate' | 'clockOffset' | 'sample' | 'renamed' | 'probe' | 'pipelineFailure'>;

const notMeasured: Measured = { rate: undefined, sample: noSession, renamed: noSession, probe: undefined };

function factsOf(
  { address, tls, connection }: OpenedSource,
  { source }: PreflightRun<RedisEndpoint>,
  queried: RedisResults = new Map(),
  measured: Measured = notMeasured,
): RedisSourceFacts {
  const { sample, renamed, pipelineFailure, probe } = measured;
  const results = [...queried.values()];
  // A server that disconnects a client with many pending replies may also do so during the key sample; such a server
  // still counts as reachable.
  const decisive = pipelineFailure === undefined ? [...results, sample, renamed] : results;
  const broken = decisive.flatMap((result) => (result.kind === 'failed' && result.broke ? [result.reason] : []))[0];
  return {
    host: source.host,
    port: source.port,
    user: authenticatedUser(source, connection),
    isUsernameUnused: source.isUsernameUnused ?? (source.username !== undefined && source.password === undefined),
    ssl: source.ssl === 'require',
    address,
    tls,
    connection,
    broken,
    busy: busyMessage(connection, probe, [...results, sample, renamed]),
    ...measured,
  };
}

/** The BUSY error in the reply to the login or to any query. */
function busyMessage(
  connection: RedisConnectionResult,
  probe: RedisSourceFacts['probe'],
  results: readonly QueryResult<unknown>[],
): string | undefined {
  if (connection.kind === 'connected' && connection.notice?.code === 'BUSY') return connection.notice.message;
  if (probe?.kind === 'refused' && probe.code === 'BUSY') return probe.message;
  return results.flatMap((one) => (one.kind === 'failed' && isBusy(one.reason) ? [one.reason] : []))[0];
}

// biome-ignore lint/suspicious/noExplicitAny: results of any type, each under its own query.
export type RedisResults = ReadonlyMap<RedisQuery<any>, QueryResult<unknown>>;

/**
 * Runs every query of the checks once; all commands are sent before the first reply is read. `limit`: milliseconds for
 * each query.
 */
export async function runRedisQueries(
  session: RedisConnection,
  checks: readonly RedisCheck[],
  context: QueryContext,
  limit: number,
): Promise<RedisResults> {
  const queries = [...new Set(checks.flatMap(listCheckQueries))];
  const results = queries.map(async (query) => {
    return [query, await runRedisQuery(session, query, context, limit)] as const;
  });
  return new Map(await Promise.all(results));
}

/** The queries of a check, required and optional. */
export function listCheckQueries({ queries }: RedisCheck): readonly RedisQuery<unknown>[] {
  return Object.values<RedisQuery<unknown> | { readonly optional: RedisQuery<unknown> }>(queries).map((query) =>
    'optional' in query ? query.optional : query,
  );
}

/** Runs one query; its command is sent immediately. */
function runRedisQuery<T>(
  session: RedisConnection,
  query: RedisQuery<T>,
  context: QueryContext,
  limit: number,
): Promise<QueryResult<T>> {
  const reply = session.send(query.command(context), limit);
  return toResult(
    reply.then((value) => query.decode(value)),
    query,
    context,
  );
}

/** Converts the reply or the error of a query to a QueryResult. The returned promise never rejects. */
export async function toResult<T>(
  decoded: Promise<T>,
  { id, permission }: Pick<RedisQuery<T>, 'id' | 'permission'>,
  { user }: QueryContext,
): Promise<QueryResult<T>> {
  try {
    return { kind: 'known', value: await decoded };
  } catch (error) {
    if (!(error instanceof CommandError)) {
      return { kind: 'failed', reason: `${id}: could not parse the reply`, isMalformed: true };
    }
    const reason = `${id}: ${error.message}`;
    if (error.code === 'NOPERM') return deniedResult(reason, user, permission, error.message);
    if (error.code === 'LOADING') return { kind: 'skipped', reason: 'the server is still loading its data' };
    if (error.code === 'MASTERDOWN') return { kind: 'skipped', reason: 'the replica has lost its primary' };
    if (/unknown (sub)?command|wrong number of arg/i.test(error.message)) return { kind: 'missing', reason };
    // An error at the deadline of the preflight says nothing about the server.
    const broke = error.lost && error.code !== clientErrorCodes.aborted;
    return {
      kind: 'failed',
      reason,
      broke,
      ...(error.code === clientErrorCodes.timeout ? { late: true } : {}),
    };
  }
}

function deniedResult(
  reason: string,
  user: string,
  permission: string,
  message: string,
): Extract<QueryResult<never>, { kind: 'denied' }> {
  if (isAboutDatabases(message)) {
    return { kind: 'denied', reason, grant: formatCommand('ACL', 'SETUSER', user, 'alldbs') };
  }
  // NOPERM for a key: the user may run the command, but may not access the key. The key patterns that the user had are
  // not known here, so the result has no `revoke`.
  if (/permissions to access/i.test(message)) {
    return { kind: 'denied', reason, grant: formatCommand('ACL', 'SETUSER', user, '~*') };
  }
  const rules = deniedRules(permission, message);
  // Before 7.0 a subcommand can be granted, and not taken away; the message of a newer server names it.
  const canRevoke = rules.every((rule) => !rule.includes('|') || message.includes(`'${rule.slice(1)}'`));
  return {
    kind: 'denied',
    reason,
    grant: formatCommand('ACL', 'SETUSER', user, ...rules),
    ...(canRevoke
      ? { revoke: formatCommand('ACL', 'SETUSER', user, ...rules.map((rule) => rule.replace('+', '-'))) }
      : {}),
  };
}

/** If the server names the ACL rule that was denied, only that rule is granted and revoked. */
function deniedRules(permission: string, message: string): readonly string[] {
  const rules = permission.split(' ');
  const [, name] = /'([a-z|]+)' command/i.exec(message) ?? [];
  const named = rules.filter((rule) => rule === `+${name}`);
  return named.length > 0 ? named : rules;
}

interface RetryResult {
  readonly results: RedisResults;
  /**
   * The open session after the queries were retried; the caller must end this session. The broken session has been
   * ended.
   */
  readonly session: RedisConnection;
  /**
   * The error that broke the connection when all queries were sent at once; undefined if it did not break, or if it
   * broke again with one query at a time.
   */
  readonly pipelineFailure: string | undefined;
}

interface RetryOptions {
  readonly source: RedisEndpoint;
  readonly context: QueryContext;
  readonly connect: Omit<RedisConnectOptions, 'limit'>;
}

/** Number of broken connections after which the server counts as unreachable. */
const maxBreaks = 3;

/**
 * Runs the queries again one by one if the connection broke while all were pending, because a small
 * client-output-buffer-limit for normal clients, or a proxy, may disconnect a client with many pending replies.
 */
export async function retryRedisQueries(
  results: RedisResults,
  session: RedisConnection,
  { source, context, connect }: RetryOptions,
): Promise<RetryResult> {
  const lost = [...results].flatMap(([query, result]) =>
    isDisconnected(result) ? [{ query, reason: result.reason }] : [],
  );
  const [first] = lost;
  if (first === undefined) return { results, session, pipelineFailure: undefined };
  const found = new Map(results);
  let current = session;
  let breaks = 0;
  const reconnect = async () => {
    current.end();
    current = await connectRedis(source, { ...connect, limit: 5000 });
  };
  try {
    await reconnect();
    for (const { query } of lost) {
      const result = await runRedisQuery(current, query, context, 5000);
      if (!isDisconnected(result)) {
        found.set(query, result);
        continue;
      }
      breaks += 1;
      if (breaks === maxBreaks) return { results, session: current, pipelineFailure: undefined };
      // Without a reply to INFO no check of a migration can work. If another query than INFO fails, only the value of
      // that query is missing.
      found.set(query, { ...result, broke: query === infoQuery });
      await reconnect();
    }
    return { results: found, session: current, pipelineFailure: first.reason };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return { results, session: current, pipelineFailure: undefined };
  }
}

/**
 * Whether the server closed the connection. Queries are not sent again to a server that does not respond, because each
 * query would wait for its time limit.
 */
function isDisconnected<T>(result: QueryResult<T>): result is Extract<QueryResult<T>, { kind: 'failed' }> {
  return result.kind === 'failed' && result.broke === true && result.late !== true;
}
