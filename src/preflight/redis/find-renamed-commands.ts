import type { RedisSession } from '../../redis/connection.ts';
import { knownValue, type QueryResult } from '../query.ts';
import { commandCallsQuery } from './queries/info.ts';
import { replyList } from './queries/reply.ts';
import type { RedisQueryContext } from './query.ts';
import { type RedisQueryResults, toQueryResult } from './run-queries.ts';

const commandInfo = { id: 'COMMAND INFO', permission: '+command|info' };

/**
 * Write commands that are called and that have no command of their name. INFO counts calls by the original name, COMMAND
 * INFO finds a command by the name that rename-command gave it, and the replication stream has the name that was sent.
 */
export async function findRenamedCommands(
  session: RedisSession,
  results: RedisQueryResults,
  context: RedisQueryContext,
): Promise<QueryResult<readonly string[]>> {
  const calls = knownValue(results, commandCallsQuery);
  const result = results.get(commandCallsQuery);
  if (calls === undefined) {
    return result === undefined || result.kind === 'known'
      ? { kind: 'skipped', reason: 'the query was not sent' }
      : result;
  }
  const names = writeCommands.filter((name) => (calls.get(name) ?? 0) > 0);
  if (names.length === 0) return { kind: 'known', value: [] };
  const renamed = session.send(['COMMAND', 'INFO', ...names]).then((reply) => {
    const list = replyList(reply);
    return names.filter((_, at) => !Array.isArray(list[at]));
  });
  return toQueryResult(renamed, commandInfo, context);
}

/** The write commands of Redis 8 and Valkey 8 that reach a replica as they were sent. */
const writeCommands: readonly string[] =
  `append bitfield bitop blmove blmpop blpop brpop brpoplpush bzmpop bzpopmax bzpopmin copy decr decrby del expire
expireat flushall flushdb geoadd georadius georadiusbymember geosearchstore getdel getex getset hdel hexpire hexpireat
hgetdel hgetex hincrby hincrbyfloat hmset hpersist hpexpire hpexpireat hset hsetex hsetnx incr incrby incrbyfloat linsert
lmove lmpop lpop lpush lpushx lrem lset ltrim migrate move mset msetnx persist pexpire pexpireat pfadd pfmerge psetex
rename renamenx restore rpop rpoplpush rpush rpushx sadd sdiffstore set setbit setex setnx setrange sinterstore
smove sort spop srem sunionstore swapdb unlink vadd vrem vsetattr xack xadd xautoclaim xclaim xdel xreadgroup xsetid
xtrim zadd zdiffstore zincrby zinterstore zmpop zpopmax zpopmin zrangestore zrem zremrangebylex zremrangebyrank
zremrangebyscore zunionstore`.split(/\s+/);
