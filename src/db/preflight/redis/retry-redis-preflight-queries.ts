import { DatabaseConnectError } from '../../../platform/connect-error.ts';
import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import type { RedisConnectOptions } from '../../../redis/send-redis-command.ts';
import type { PreflightQueryResult } from '../query.ts';
import { redisInfoQuery } from './queries/info.ts';
import type { RedisPreflightQueryContext } from './query.ts';
import { type RedisPreflightQueryResults, runRedisPreflightQuery } from './run-redis-preflight-queries.ts';

interface RedisQueriesRetryResult {
  readonly results: RedisPreflightQueryResults;
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

interface RedisQueryRetryOptions {
  readonly source: RedisEndpoint;
  readonly context: RedisPreflightQueryContext;
  readonly connect: Omit<RedisConnectOptions, 'limit'>;
}

/** Number of broken connections after which the server counts as unreachable. */
const maxBreaks = 3;

/**
 * Runs the queries again one by one if the connection broke while all were pending, because a small
 * client-output-buffer-limit for normal clients, or a proxy, may disconnect a client with many pending replies.
 */
export async function retryRedisPreflightQueries(
  results: RedisPreflightQueryResults,
  session: RedisConnection,
  { source, context, connect }: RedisQueryRetryOptions,
): Promise<RedisQueriesRetryResult> {
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
      const result = await runRedisPreflightQuery(current, query, context, 5000);
      if (!isDisconnected(result)) {
        found.set(query, result);
        continue;
      }
      breaks += 1;
      if (breaks === maxBreaks) return { results, session: current, pipelineFailure: undefined };
      // Without a reply to INFO no check of a migration can work. If another query than INFO fails, only the value of
      // that query is missing.
      found.set(query, { ...result, broke: query === redisInfoQuery });
      await reconnect();
    }
    return { results: found, session: current, pipelineFailure: first.reason };
  } catch (error) {
    if (!(error instanceof DatabaseConnectError)) throw error;
    return { results, session: current, pipelineFailure: undefined };
  }
}

/**
 * Whether the server closed the connection. Queries are not sent again to a server that does not respond, because each
 * query would wait for its time limit.
 */
function isDisconnected<T>(
  result: PreflightQueryResult<T>,
): result is Extract<PreflightQueryResult<T>, { kind: 'failed' }> {
  return result.kind === 'failed' && result.broke === true && result.late !== true;
}
