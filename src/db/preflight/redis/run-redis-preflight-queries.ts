import { clientSideDatabaseErrorCodes } from '../../../platform/connect-error.ts';
import { RedisCommandError } from '../../../redis/command-error.ts';
import type { RedisConnection } from '../../../redis/connection.ts';
import { formatRedisCommand } from '../../../redis/quote.ts';
import type { PreflightQueryResult } from '../query.ts';
import type { RedisCheck } from './check.ts';
import type { RedisPreflightQuery, RedisPreflightQueryContext } from './query.ts';

// biome-ignore lint/suspicious/noExplicitAny: results of any type, each under its own query.
export type RedisPreflightQueryResults = ReadonlyMap<RedisPreflightQuery<any>, PreflightQueryResult<unknown>>;

/**
 * Runs every query of the checks once; all commands are sent before the first reply is read. `limit`: milliseconds for
 * each query.
 */
export async function runRedisPreflightQueries(
  session: RedisConnection,
  checks: readonly RedisCheck[],
  context: RedisPreflightQueryContext,
  limit: number,
): Promise<RedisPreflightQueryResults> {
  const queries = [...new Set(checks.flatMap(listQueriesOfRedisCheck))];
  const results = queries.map(async (query) => {
    return [query, await runRedisPreflightQuery(session, query, context, limit)] as const;
  });
  return new Map(await Promise.all(results));
}

/** The queries of a check, required and optional. */
export function listQueriesOfRedisCheck({ queries }: RedisCheck): readonly RedisPreflightQuery<unknown>[] {
  return Object.values<RedisPreflightQuery<unknown> | { readonly optional: RedisPreflightQuery<unknown> }>(queries).map(
    (query) => ('optional' in query ? query.optional : query),
  );
}

/** Runs one query; its command is sent immediately. */
export function runRedisPreflightQuery<T>(
  session: RedisConnection,
  query: RedisPreflightQuery<T>,
  context: RedisPreflightQueryContext,
  limit: number,
): Promise<PreflightQueryResult<T>> {
  const reply = session.send(query.command(context), limit);
  return toRedisQueryResult(
    reply.then((value) => query.decode(value)),
    query,
    context,
  );
}

/** Converts the reply or the error of a query to a QueryResult. The returned promise never rejects. */
export async function toRedisQueryResult<T>(
  decoded: Promise<T>,
  { id, permission }: Pick<RedisPreflightQuery<T>, 'id' | 'permission'>,
  { user }: RedisPreflightQueryContext,
): Promise<PreflightQueryResult<T>> {
  try {
    return { kind: 'known', value: await decoded };
  } catch (error) {
    if (!(error instanceof RedisCommandError)) {
      return { kind: 'failed', reason: `${id}: could not parse the reply`, isMalformed: true };
    }
    const reason = `${id}: ${error.message}`;
    if (error.code === 'NOPERM') return deniedResult(reason, user, permission, error.message);
    if (error.code === 'LOADING') return { kind: 'skipped', reason: 'the server is still loading its data' };
    if (error.code === 'MASTERDOWN') return { kind: 'skipped', reason: 'the replica has lost its primary' };
    if (/unknown (sub)?command|wrong number of arg/i.test(error.message)) return { kind: 'missing', reason };
    // An error at the deadline of the preflight says nothing about the server.
    const broke = error.lost && error.code !== clientSideDatabaseErrorCodes.aborted;
    return {
      kind: 'failed',
      reason,
      broke,
      ...(error.code === clientSideDatabaseErrorCodes.timeout ? { late: true } : {}),
    };
  }
}

function deniedResult(
  reason: string,
  user: string,
  permission: string,
  message: string,
): Extract<PreflightQueryResult<never>, { kind: 'denied' }> {
  // NOPERM for a key: the user may run the command, but may not access the key. The key patterns that the user had are
  // not known here, so the result has no `revoke`.
  if (/permissions to access/i.test(message)) {
    return { kind: 'denied', reason, grant: formatRedisCommand('ACL', 'SETUSER', user, '~*') };
  }
  const rules = deniedRules(permission, message);
  return {
    kind: 'denied',
    reason,
    grant: formatRedisCommand('ACL', 'SETUSER', user, ...rules),
    revoke: formatRedisCommand('ACL', 'SETUSER', user, ...rules.map((rule) => rule.replace('+', '-'))),
  };
}

/** If the server names the ACL rule that was denied, only that rule is granted and revoked. */
function deniedRules(permission: string, message: string): readonly string[] {
  const rules = permission.split(' ');
  const [, name] = /'([a-z|]+)' command/i.exec(message) ?? [];
  const named = rules.filter((rule) => rule === `+${name}`);
  return named.length > 0 ? named : rules;
}
