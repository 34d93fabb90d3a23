import { connectErrorCodes } from '../../platform/connect-error.ts';
import { CommandError } from '../../redis/command-error.ts';
import type { RedisCommand, RedisSession } from '../../redis/connection.ts';
import { formatRedisCommand } from '../../redis/quote.ts';
import type { AnyRedisCheck } from './check.ts';
import type { RedisQueries, RedisQuery, RedisQueryContext, RedisQueryResult } from './query.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of any type, each under its own question.
export type RedisQueryResults = ReadonlyMap<RedisQuery<any>, RedisQueryResult<any>>;

/** Every question of the checks once, all of them sent before the first reply is read. */
export async function runRedisQueries(
  session: RedisSession,
  checks: readonly AnyRedisCheck[],
  context: RedisQueryContext,
  limit: number,
  heard: (words: RedisCommand) => void,
): Promise<RedisQueryResults> {
  const asks = [...new Set(checks.flatMap(({ queries: asks }) => queriesOf(asks)))];
  const answers = asks.map(async (ask) => {
    return [ask, await runRedisQuery(session, ask, context, limit, heard)] as const;
  });
  return new Map(await Promise.all(answers));
}

/** Sends it at once. */
export function runRedisQuery<T>(
  session: RedisSession,
  ask: RedisQuery<T>,
  context: RedisQueryContext,
  limit: number,
  heard: (words: RedisCommand) => void,
): Promise<RedisQueryResult<T>> {
  const words = ask.command(context);
  heard(words);
  return toQueryResult(
    session.send(words, limit).then((reply) => ask.decode(reply)),
    ask,
    context,
  );
}

/** The answer to a question, when there is one. */
export function queryValue<T>(answers: RedisQueryResults, ask: RedisQuery<T>): T | undefined {
  const answer: RedisQueryResult<T> | undefined = answers.get(ask);
  return answer?.kind === 'known' ? answer.value : undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: the questions behind the names of any check.
export function queriesOf(asks: RedisQueries): readonly RedisQuery<any>[] {
  return Object.values(asks).map((one) => ('maybe' in one ? one.maybe : one));
}

/** What became of a question, as a value. */
export async function toQueryResult<T>(
  asked: Promise<T>,
  { id, permission }: Pick<RedisQuery<T>, 'id' | 'permission'>,
  { user }: RedisQueryContext,
): Promise<RedisQueryResult<T>> {
  try {
    return { kind: 'known', value: await asked };
  } catch (error) {
    if (!(error instanceof CommandError))
      return { kind: 'failed', reason: `${id}: the reply cannot be read`, broke: false };
    const reason = `${id}: ${error.message}`;
    if (error.code === 'NOPERM') {
      // The command is allowed and the key is not: which patterns were there before is not told here.
      if (/permissions to access/i.test(error.message)) {
        return { kind: 'denied', reason, grant: formatRedisCommand('ACL', 'SETUSER', user, '~*') };
      }
      const needed = refusedOf(permission, error.message);
      return {
        kind: 'denied',
        reason,
        grant: formatRedisCommand('ACL', 'SETUSER', user, ...needed),
        revoke: formatRedisCommand('ACL', 'SETUSER', user, ...needed.map((one) => one.replace('+', '-'))),
      };
    }
    if (error.code === 'LOADING') return { kind: 'skipped', reason: 'the server is still loading its data' };
    if (error.code === 'MASTERDOWN') return { kind: 'skipped', reason: 'the replica has lost its primary' };
    if (/unknown (sub)?command|wrong number of arg/i.test(error.message)) return { kind: 'missing', reason };
    // Our own deadline proves nothing about the server.
    const broke = error.lost && error.code !== connectErrorCodes.aborted;
    return { kind: 'failed', reason, broke, ...(error.code === connectErrorCodes.timeout ? { late: true } : {}) };
  }
}

/** Of several permissions the one that was refused, as far as the server names it: only that is granted and taken back. */
function refusedOf(permission: string, message: string): readonly string[] {
  const all = permission.split(' ');
  const [, name] = /'([a-z|]+)' command/i.exec(message) ?? [];
  const named = all.filter((one) => one === `+${name}`);
  return named.length > 0 ? named : all;
}
