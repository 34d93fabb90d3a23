import type { RedisConnection, RedisReply } from '../../redis/connection.ts';
import { isValkeyOrRedisAtLeast, parseRedisServerVersion } from '../../redis/version.ts';
import { getPreflightQueryValue, type PreflightQueryResult } from '../query.ts';
import { redisCommandCallsQuery, redisInfoQuery } from './queries/info.ts';
import { requireRedisReplyList } from './queries/reply.ts';
import type { RedisPreflightQueryContext } from './query.ts';
import { type RedisPreflightQueryResults, toRedisQueryResult } from './run-redis-preflight-queries.ts';
import type { RenamedRedisWriteCommands } from './source-facts.ts';

const commandInfo = { id: 'COMMAND INFO', permission: '+command' };

/**
 * Finds write commands that the server has only under another name (rename-command). COMMAND INFO finds a command only
 * by its new name. COMMAND LIST (7.0 and later), COMMAND and the call statistics of INFO contain the original name of a
 * renamed command, but no command that was removed. The replication stream contains the command name that the client
 * sent.
 */
export async function findRenamedRedisWriteCommands(
  session: RedisConnection,
  results: RedisPreflightQueryResults,
  context: RedisPreflightQueryContext,
): Promise<PreflightQueryResult<RenamedRedisWriteCommands>> {
  const calls = getPreflightQueryValue(results, redisCommandCallsQuery);
  const result = results.get(redisCommandCallsQuery);
  if (calls === undefined) {
    return result === undefined || result.kind === 'known'
      ? { kind: 'skipped', reason: 'the query was not sent' }
      : result;
  }
  const info = getPreflightQueryValue(results, redisInfoQuery);
  const version = info === undefined ? undefined : parseRedisServerVersion(info);
  const hasList = isValkeyOrRedisAtLeast(version, 7, 0);
  const isCalled = (name: string) =>
    [...calls].some(([one, count]) => count > 0 && (one === name || one.startsWith(`${name}|`)));
  const find = async (): Promise<RenamedRedisWriteCommands> => {
    const found = requireRedisReplyList(await session.send(['COMMAND', 'INFO', ...writeCommands]));
    const absent = writeCommands.filter((_, at) => !Array.isArray(found[at]));
    if (absent.length === 0) return { called: [], uncalled: [] };
    const existing = originalNames(await session.send(hasList ? ['COMMAND', 'LIST'] : ['COMMAND']));
    const renamed = absent.filter((name) => existing.has(name) || isCalled(name));
    return { called: renamed.filter(isCalled), uncalled: renamed.filter((name) => !isCalled(name)) };
  };
  return toRedisQueryResult(find(), commandInfo, context);
}

/** The reply to COMMAND LIST contains names; the reply to COMMAND contains lists that begin with the name. */
function originalNames(reply: RedisReply): ReadonlySet<string> {
  return new Set(requireRedisReplyList(reply).map((one) => String(Array.isArray(one) ? one[0] : one).toLowerCase()));
}

/**
 * The write commands of Redis 8 and Valkey 8 that a replica receives as the client sent them, including those that
 * change no key.
 */
const writeCommands: readonly string[] =
  `append bitfield bitop blmove blmpop blpop brpop brpoplpush bzmpop bzpopmax bzpopmin copy decr decrby del expire
expireat flushall flushdb function geoadd georadius georadiusbymember geosearchstore getdel getex getset hdel hexpire hexpireat
hgetdel hgetex hincrby hincrbyfloat hmset hpersist hpexpire hpexpireat hset hsetex hsetnx incr incrby incrbyfloat linsert
lmove lmpop lpop lpush lpushx lrem lset ltrim migrate move mset msetnx persist pexpire pexpireat pfadd pfmerge psetex
rename renamenx restore rpop rpoplpush rpush rpushx sadd sdiffstore set setbit setex setnx setrange sinterstore
smove sort spop srem sunionstore swapdb unlink vadd vrem vsetattr xack xadd xautoclaim xclaim xdel xgroup xreadgroup xsetid
xtrim zadd zdiffstore zincrby zinterstore zmpop zpopmax zpopmin zrangestore zrem zremrangebylex zremrangebyrank
zremrangebyscore zunionstore`.split(/\s+/);
