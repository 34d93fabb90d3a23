import { ConnectError } from '../../platform/connect-error.ts';
import { connectRedis, type RedisCommand, type RedisSession } from '../../redis/connection.ts';
import type { RedisSource } from '../../redis/source.ts';
import type { RedisQueryContext, RedisQueryResult } from './query.ts';
import { type RedisQueryResults, runRedisQuery } from './run-queries.ts';

export interface RetriedQueries {
  readonly results: RedisQueryResults;
  /** Holds what is asked from here on; the old one is ended. */
  readonly session: RedisSession;
  /** What broke the connection when all was asked at once, and not when it was asked alone; undefined: it held, or broke for good. */
  readonly pipelineFailure: string | undefined;
}

export interface RedisRetryOptions {
  readonly source: RedisSource;
  readonly context: RedisQueryContext;
  readonly signal: AbortSignal;
  readonly heard: (words: RedisCommand) => void;
}

/** Connections that may break before the server is given up. */
const maxBreaks = 3;

/**
 * Asks once more, one question after the other, when the connection broke under all of them: a server with a small
 * client-output-buffer-limit for normal clients, or a proxy, cuts off whoever is owed much.
 */
export async function retryQueries(
  answers: RedisQueryResults,
  session: RedisSession,
  asking: RedisRetryOptions,
): Promise<RetriedQueries> {
  const lost = [...answers].flatMap(([ask, answer]) =>
    isDisconnected(answer) ? [{ ask, reason: answer.reason }] : [],
  );
  const [first] = lost;
  if (first === undefined) return { results: answers, session, pipelineFailure: undefined };
  const found = new Map(answers);
  let open = session;
  let breaks = 0;
  const reopen = async () => {
    open.end();
    open = await connectRedis(asking.source, { limit: 5000, signal: asking.signal });
  };
  try {
    await reopen();
    for (const { ask } of lost) {
      const answer = await runRedisQuery(open, ask, asking.context, 5000, asking.heard);
      if (!isDisconnected(answer)) {
        found.set(ask, answer);
        continue;
      }
      breaks += 1;
      if (breaks === maxBreaks) return { results: answers, session: open, pipelineFailure: undefined };
      // What INFO tells is read all the time; any other question is only one that has no answer.
      found.set(ask, { ...answer, broke: ask.id === 'INFO' });
      await reopen();
    }
    return { results: found, session: open, pipelineFailure: first.reason };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return { results: answers, session: open, pipelineFailure: undefined };
  }
}

/** Hung up on; a server that is only silent would be waited for all over again. */
function isDisconnected<T>(answer: RedisQueryResult<T>): answer is Extract<RedisQueryResult<T>, { kind: 'failed' }> {
  return answer.kind === 'failed' && answer.broke && answer.late !== true;
}
