import { connect, type RedisSession, type Words } from '../../redis/connection.ts';
import { ConnectError } from '../../redis/failure.ts';
import type { RedisSource } from '../../redis/source.ts';
import type { Answer, AskContext } from './ask.ts';
import { type Answers, askOne } from './gather.ts';

export interface Again {
  readonly answers: Answers;
  /** Holds what is asked from here on; the old one is ended. */
  readonly session: RedisSession;
  /** What broke the connection when all was asked at once, and not when it was asked alone; undefined: it held, or broke for good. */
  readonly relented: string | undefined;
}

export interface Asking {
  readonly source: RedisSource;
  readonly context: AskContext;
  readonly signal: AbortSignal;
  readonly heard: (words: Words) => void;
}

/** Connections that may break before the server is given up. */
const patience = 3;

/**
 * Asks once more, one question after the other, when the connection broke under all of them: a server with a small
 * client-output-buffer-limit for normal clients, or a proxy, cuts off whoever is owed much.
 */
export async function askAgain(answers: Answers, session: RedisSession, asking: Asking): Promise<Again> {
  const lost = [...answers].flatMap(([ask, answer]) => (isCut(answer) ? [{ ask, reason: answer.reason }] : []));
  const [first] = lost;
  if (first === undefined) return { answers, session, relented: undefined };
  const found = new Map(answers);
  let open = session;
  let breaks = 0;
  const reopen = async () => {
    open.end();
    open = await connect(asking.source, { limit: 5000, signal: asking.signal });
  };
  try {
    await reopen();
    for (const { ask } of lost) {
      const answer = await askOne(open, ask, asking.context, 5000, asking.heard);
      if (!isCut(answer)) {
        found.set(ask, answer);
        continue;
      }
      breaks += 1;
      if (breaks === patience) return { answers, session: open, relented: undefined };
      // What INFO tells is read all the time; any other question is only one that has no answer.
      found.set(ask, { ...answer, broke: ask.id === 'INFO' });
      await reopen();
    }
    return { answers: found, session: open, relented: first.reason };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return { answers, session: open, relented: undefined };
  }
}

/** Hung up on; a server that is only silent would be waited for all over again. */
function isCut<T>(answer: Answer<T>): answer is Extract<Answer<T>, { kind: 'failed' }> {
  return answer.kind === 'failed' && answer.broke && answer.late !== true;
}
