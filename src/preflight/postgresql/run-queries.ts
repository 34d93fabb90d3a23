import { type ConnectError, connectErrorCodes } from '../../platform/connect-error.ts';
import type { PostgresqlRow, PostgresqlSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { grantOfPublicObject } from './queries/grants.ts';
import type { PostgresqlQuery, PostgresqlQueryContext, PostgresqlQueryResult, ReadQueryResult } from './query.ts';
import { queryResultSets, readOnlyMessage } from './read-only-message.ts';

// biome-ignore lint/suspicious/noExplicitAny: questions of any answer; each judge sees its own types.
export type AnyPostgresqlQuery = PostgresqlQuery<any>;
export type PostgresqlQueryResults = ReadonlyMap<AnyPostgresqlQuery, PostgresqlQueryResult<unknown>>;

export interface RunQueriesOptions {
  readonly session: PostgresqlSession;
  readonly version: number;
  readonly context: PostgresqlQueryContext;
  readonly username: string;
  readonly dbname: string;
  /** What the server answered before. */
  readonly serverResults: PostgresqlQueryResults;
  /** Hears every message before it is sent. */
  readonly onSent: (text: string) => void;
  /** Milliseconds left for this database, asked before each message. */
  readonly left: () => number;
}

/** The session is gone; what was answered before is not. */
export interface RunQueriesOutcome {
  readonly results: PostgresqlQueryResults;
  readonly lost: QueryError | undefined;
}

/**
 * Asks everything in one message, and in a second one what the answers call for. When the server refuses a message, each
 * question goes alone, so that exactly the one that is denied or too slow stays without an answer.
 */
export async function runQueries(
  asks: readonly AnyPostgresqlQuery[],
  asking: RunQueriesOptions,
): Promise<RunQueriesOutcome> {
  const answers = new Map<AnyPostgresqlQuery, PostgresqlQueryResult<unknown>>();
  const lost = await queryBatch(
    asks.filter(({ when }) => when === undefined),
    asking,
    answers,
  );
  const later = asks.filter(({ when }) => when !== undefined);
  const known: ReadQueryResult = (ask) => knownValue(answers, ask) ?? knownValue(asking.serverResults, ask);
  const due = later.filter(({ when }) => when?.(known, asking.dbname));
  for (const ask of later) if (!due.includes(ask)) answers.set(ask, { kind: 'known', value: ask.absent });
  if (lost === undefined) return { results: answers, lost: await queryBatch(due, asking, answers) };
  for (const ask of due) answers.set(ask, { kind: 'failed', reason: queryFailureText(lost) });
  return { results: answers, lost };
}

/** One message. Every question has an answer after it, if only that there is none. */
async function queryBatch(
  asks: readonly AnyPostgresqlQuery[],
  asking: RunQueriesOptions,
  answers: Map<AnyPostgresqlQuery, PostgresqlQueryResult<unknown>>,
): Promise<QueryError | undefined> {
  const sent: SentQuery[] = [];
  for (const ask of asks) {
    const sql = ask.sql(asking.version, asking.context);
    if (sql === undefined) answers.set(ask, { kind: 'known', value: ask.absent });
    else sent.push({ ask, sql });
  }
  let lost: QueryError | undefined;
  try {
    lost = await sendBatch(sent, asking, answers);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    lost = error;
  }
  for (const { ask } of sent) {
    if (!answers.has(ask))
      answers.set(ask, { kind: 'failed', reason: lost === undefined ? 'no answer' : queryFailureText(lost) });
  }
  return lost;
}

/** The value of one answer; undefined: there is none. */
export function knownValue<T>(answers: PostgresqlQueryResults, ask: PostgresqlQuery<T>): T | undefined {
  const answer = answers.get(ask);
  // The map holds what the question's own decoder made.
  return answer?.kind === 'known' ? (answer.value as T) : undefined;
}

/** The time for the whole run is no fault of the database. */
export function queryFailureText({ code, message }: ConnectError | QueryError): string {
  return code === connectErrorCodes.aborted ? 'the time for the whole run was over' : message;
}

interface SentQuery {
  readonly ask: AnyPostgresqlQuery;
  readonly sql: string;
}

async function sendBatch(
  sent: readonly SentQuery[],
  asking: RunQueriesOptions,
  answers: Map<AnyPostgresqlQuery, PostgresqlQueryResult<unknown>>,
): Promise<QueryError | undefined> {
  if (sent.length === 0) return undefined;
  const sets = await sendReadOnlyMessage(
    asking,
    sent.map(({ sql }) => sql),
  );
  if (!(sets instanceof QueryError)) {
    for (const [at, { ask }] of sent.entries()) answers.set(ask, decodedResult(ask, sets[at]));
    return undefined;
  }
  if (sets.lost) return sets;
  for (const { ask, sql } of sent) {
    const alone = await sendReadOnlyMessage(asking, [sql]);
    if (alone instanceof QueryError && alone.lost) return alone;
    answers.set(ask, alone instanceof QueryError ? failedResult(ask, alone, asking) : decodedResult(ask, alone[0]));
  }
  return undefined;
}

/** One entry a query, or the error; the session is then out of its transaction again, or lost. */
async function sendReadOnlyMessage(
  { session, version, onSent, left }: RunQueriesOptions,
  queries: readonly string[],
): Promise<readonly (readonly PostgresqlRow[])[] | QueryError> {
  const text = readOnlyMessage(queries, version);
  const limit = Math.min(left(), messageLimit);
  if (limit <= 0) return new QueryError('ETIMEDOUT', 'no time was left for it', true);
  onSent(text);
  try {
    return queryResultSets(await session.query(text, limit), queries.length);
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

function decodedResult(
  ask: AnyPostgresqlQuery,
  rows: readonly PostgresqlRow[] | undefined,
): PostgresqlQueryResult<unknown> {
  return { kind: 'known', value: ask.decode(rows ?? []) };
}

function failedResult(
  ask: AnyPostgresqlQuery,
  { code, message }: QueryError,
  { username }: RunQueriesOptions,
): PostgresqlQueryResult<unknown> {
  if (code === insufficientPrivilege) {
    return { kind: 'denied', reason: message, grant: grantOfPublicObject(message, username) ?? ask.grant(username) };
  }
  return { kind: 'failed', reason: code === lockNotAvailable ? `${message} ${lockHolderNote}` : message };
}

const lockNotAvailable = '55P03';
const lockHolderNote =
  "(somebody keeps a table of the system locked; SELECT pid, relation::regclass FROM pg_locks WHERE mode = 'AccessExclusiveLock' tells who)";

const insufficientPrivilege = '42501';
