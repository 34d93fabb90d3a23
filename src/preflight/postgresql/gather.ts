import type { PgSession } from '../../postgresql/connection.ts';
import { type ConnectError, ownCodes, QueryError } from '../../postgresql/failure.ts';
import type { Answer, Ask, AskContext, Known, Row } from './ask.ts';
import { grantOfWhatIsPublic } from './asks/grants.ts';
import { answersOf, readOnly } from './message.ts';

// biome-ignore lint/suspicious/noExplicitAny: questions of any answer; each judge sees its own types.
export type AnyAsk = Ask<any>;
export type Answers = ReadonlyMap<AnyAsk, Answer<unknown>>;

export interface Asking {
  readonly session: PgSession;
  readonly version: number;
  readonly context: AskContext;
  readonly username: string;
  readonly dbname: string;
  /** What the server answered before. */
  readonly plan: Answers;
  /** Hears every message before it is sent. */
  readonly onSent: (text: string) => void;
  /** Milliseconds left for this database, asked before each message. */
  readonly left: () => number;
}

/** The session is gone; what was answered before is not. */
export interface Gathered {
  readonly answers: Answers;
  readonly lost: QueryError | undefined;
}

/**
 * Asks everything in one message, and in a second one what the answers call for. When the server refuses a message, each
 * question goes alone, so that exactly the one that is denied or too slow stays without an answer.
 */
export async function gather(asks: readonly AnyAsk[], asking: Asking): Promise<Gathered> {
  const answers = new Map<AnyAsk, Answer<unknown>>();
  const lost = await round(
    asks.filter(({ when }) => when === undefined),
    asking,
    answers,
  );
  const later = asks.filter(({ when }) => when !== undefined);
  const known: Known = (ask) => readAnswer(answers, ask) ?? readAnswer(asking.plan, ask);
  const due = later.filter(({ when }) => when?.(known, asking.dbname));
  for (const ask of later) if (!due.includes(ask)) answers.set(ask, { kind: 'known', value: ask.absent });
  if (lost === undefined) return { answers, lost: await round(due, asking, answers) };
  for (const ask of due) answers.set(ask, { kind: 'failed', reason: failureText(lost) });
  return { answers, lost };
}

/** One message. Every question has an answer after it, if only that there is none. */
async function round(
  asks: readonly AnyAsk[],
  asking: Asking,
  answers: Map<AnyAsk, Answer<unknown>>,
): Promise<QueryError | undefined> {
  const sent: Sent[] = [];
  for (const ask of asks) {
    const sql = ask.sql(asking.version, asking.context);
    if (sql === undefined) answers.set(ask, { kind: 'known', value: ask.absent });
    else sent.push({ ask, sql });
  }
  let lost: QueryError | undefined;
  try {
    lost = await together(sent, asking, answers);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    lost = error;
  }
  for (const { ask } of sent) {
    if (!answers.has(ask))
      answers.set(ask, { kind: 'failed', reason: lost === undefined ? 'no answer' : failureText(lost) });
  }
  return lost;
}

/** The value of one answer; undefined: there is none. */
export function readAnswer<T>(answers: Answers, ask: Ask<T>): T | undefined {
  const answer = answers.get(ask);
  // The map holds what the question's own decoder made.
  return answer?.kind === 'known' ? (answer.value as T) : undefined;
}

/** The time for the whole run is no fault of the database. */
export function failureText({ code, message }: ConnectError | QueryError): string {
  return code === ownCodes.aborted ? 'the time for the whole run was over' : message;
}

interface Sent {
  readonly ask: AnyAsk;
  readonly sql: string;
}

async function together(
  sent: readonly Sent[],
  asking: Asking,
  answers: Map<AnyAsk, Answer<unknown>>,
): Promise<QueryError | undefined> {
  if (sent.length === 0) return undefined;
  const sets = await send(
    asking,
    sent.map(({ sql }) => sql),
  );
  if (!(sets instanceof QueryError)) {
    for (const [at, { ask }] of sent.entries()) answers.set(ask, known(ask, sets[at]));
    return undefined;
  }
  if (sets.lost) return sets;
  for (const { ask, sql } of sent) {
    const alone = await send(asking, [sql]);
    if (alone instanceof QueryError && alone.lost) return alone;
    answers.set(ask, alone instanceof QueryError ? unanswered(ask, alone, asking) : known(ask, alone[0]));
  }
  return undefined;
}

/** One entry a query, or the error; the session is then out of its transaction again, or lost. */
async function send(
  { session, version, onSent, left }: Asking,
  queries: readonly string[],
): Promise<readonly (readonly Row[])[] | QueryError> {
  const text = readOnly(queries, version);
  const limit = Math.min(left(), messageLimit);
  if (limit <= 0) return new QueryError('ETIMEDOUT', 'no time was left for it', true);
  onSent(text);
  try {
    return answersOf(await session.query(text, limit), queries.length);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    if (error.lost) return error;
    onSent('ROLLBACK');
    // A session that cannot even end its transaction throws, and counts as lost.
    await session.query('ROLLBACK', limit);
    return error;
  }
}

/** The server gives up a statement after 15 s; one that does not even say so is hung. */
const messageLimit = 20_000;

function known(ask: AnyAsk, rows: readonly Row[] | undefined): Answer<unknown> {
  return { kind: 'known', value: ask.decode(rows ?? []) };
}

function unanswered(ask: AnyAsk, { code, message }: QueryError, { username }: Asking): Answer<unknown> {
  if (code === insufficientPrivilege) {
    return { kind: 'denied', reason: message, grant: grantOfWhatIsPublic(message, username) ?? ask.grant(username) };
  }
  return { kind: 'failed', reason: code === lockNotAvailable ? `${message} ${holders}` : message };
}

const lockNotAvailable = '55P03';
const holders =
  "(somebody keeps a table of the system locked; SELECT pid, relation::regclass FROM pg_locks WHERE mode = 'AccessExclusiveLock' tells who)";

const insufficientPrivilege = '42501';
