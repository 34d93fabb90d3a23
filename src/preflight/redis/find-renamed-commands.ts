import type { RedisCommand, RedisSession } from '../../redis/connection.ts';
import { commandCallsQuery } from './queries/info.ts';
import { replyList } from './queries/reply.ts';
import type { RedisQueryContext, RedisQueryResult } from './query.ts';
import { type RedisQueryResults, toQueryResult } from './run-queries.ts';

const permission = { id: 'COMMAND INFO', permission: '+command|info' };

/**
 * Writing commands that are called and have no command of their name. INFO counts calls by the true name, COMMAND INFO
 * finds a command by the name that rename-command gave it, and the stream to a replica carries the name that was typed.
 */
export async function findRenamedCommands(
  session: RedisSession,
  answers: RedisQueryResults,
  context: RedisQueryContext,
  heard: (words: RedisCommand) => void,
): Promise<RedisQueryResult<readonly string[]>> {
  const calls = answers.get(commandCallsQuery) ?? { kind: 'skipped', reason: 'it was not asked' };
  if (calls.kind !== 'known') return calls;
  const names = writeCommands.filter((name) => (calls.value.get(name) ?? 0) > 0);
  if (names.length === 0) return { kind: 'known', value: [] };
  const words: RedisCommand = ['COMMAND', 'INFO', ...names];
  heard(words);
  const found = session.send(words).then((reply) => {
    const list = replyList(reply);
    return names.filter((_, at) => !Array.isArray(list[at]));
  });
  return toQueryResult(found, permission, context);
}

/** Those of Redis 8 and Valkey 8 that reach a replica as they were typed. */
const writeCommands: readonly string[] =
  `append bitfield bitop blmove blmpop blpop brpop brpoplpush bzmpop bzpopmax bzpopmin copy decr decrby del expire
expireat flushall flushdb geoadd georadius georadiusbymember geosearchstore getdel getex getset hdel hexpire hexpireat
hgetdel hgetex hincrby hincrbyfloat hmset hpersist hpexpire hpexpireat hset hsetex hsetnx incr incrby incrbyfloat linsert
lmove lmpop lpop lpush lpushx lrem lset ltrim migrate move mset msetnx persist pexpire pexpireat pfadd pfmerge psetex
rename renamenx restore rpop rpoplpush rpush rpushx sadd sdiffstore set setbit setex setnx setrange sinterstore
smove sort spop srem sunionstore swapdb unlink vadd vrem vsetattr xack xadd xautoclaim xclaim xdel xreadgroup xsetid
xtrim zadd zdiffstore zincrby zinterstore zmpop zpopmax zpopmin zrangestore zrem zremrangebylex zremrangebyrank
zremrangebyscore zunionstore`.split(/\s+/);
