import { ConnectError, clientErrorCodes } from '../../../platform/network-errors.ts';
import { CommandError } from '../../../redis/command-error.ts';
import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { formatCommand } from '../../../redis/quote.ts';
import type { RedisConnectOptions } from '../../../redis/resp.ts';
import type { QueryResult } from '../query.ts';
import type { RedisCheck } from './check.ts';
import { infoQuery, type QueryContext, type RedisQuery } from './queries.ts';

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
  // NOPERM for a key: the user may run the command, but may not access the key. The key patterns that the user had are
  // not known here, so the result has no `revoke`.
  if (/permissions to access/i.test(message)) {
    return { kind: 'denied', reason, grant: formatCommand('ACL', 'SETUSER', user, '~*') };
  }
  const rules = deniedRules(permission, message);
  return {
    kind: 'denied',
    reason,
    grant: formatCommand('ACL', 'SETUSER', user, ...rules),
    revoke: formatCommand('ACL', 'SETUSER', user, ...rules.map((rule) => rule.replace('+', '-'))),
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
