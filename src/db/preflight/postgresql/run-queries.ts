import type { Clock } from '../../../platform/host.ts';
import type { MemoryLimit } from '../../../platform/memory.ts';
import { ConnectError, clientErrorCodes } from '../../../platform/network-errors.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import { omitControlResults, probeSql, rollbackSql } from '../../../postgresql/search-path-safe-sql.ts';
import { type QueryResult, type QueryResults, queryValue } from '../query.ts';
import { catalogGrant, monitorGrant } from './queries/privileges.ts';
import { type AnyPostgresqlQuery, preflightTransaction, type QueryPreconditions, type ValueReader } from './query.ts';
import type { DatabaseAccess } from './source-facts.ts';

export interface QueriesOptions {
  readonly session: Pick<PostgresqlSession, 'query'>;
  /** server_version_num. */
  readonly version: number;
  readonly context: QueryPreconditions;
  readonly username: string;
  readonly dbname: string;
  /**
   * Results of the queries that were sent once for the server; they may decide whether a query is sent to a database.
   */
  readonly serverResults: QueryResults;
  /** Called with every message before it is sent to the source. */
  readonly onSend: (text: string) => void;
  /** Returns the milliseconds that are left for this database; called before each message. */
  readonly left: () => number;
}

interface QueriesOutcome {
  readonly results: QueryResults;
  /** The error that ended the session; query results from before the error are kept. */
  readonly lost: QueryError | undefined;
}

/**
 * Sends all queries without a condition in one message, and then the queries whose condition is true in a second one.
 * When the server rejects a message, each query is sent alone, so that only the query that is denied or too slow has no
 * result.
 */
export async function runPostgresqlQueries(
  queries: readonly AnyPostgresqlQuery[],
  options: QueriesOptions,
): Promise<QueriesOutcome> {
  const results = new Map<AnyPostgresqlQuery, QueryResult<unknown>>();
  const lost = await runBatch(
    queries.filter(({ when }) => when === undefined),
    options,
    results,
  );
  const conditional = queries.filter(({ when }) => when !== undefined);
  const known: ValueReader = (query) => queryValue(results, query) ?? queryValue(options.serverResults, query);
  const due = conditional.filter(({ when }) => when?.(known, options.dbname));
  for (const query of conditional) {
    if (!due.includes(query)) results.set(query, { kind: 'known', value: query.absent });
  }
  if (lost === undefined) return { results, lost: await runBatch(due, options, results) };
  for (const query of due) results.set(query, { kind: 'failed', reason: queryFailureText(lost) });
  return { results, lost };
}

/** Sends one message. When the function returns, every query has a result, even if the result is a failure. */
async function runBatch(
  queries: readonly AnyPostgresqlQuery[],
  options: QueriesOptions,
  results: Map<AnyPostgresqlQuery, QueryResult<unknown>>,
): Promise<QueryError | undefined> {
  const sent: SentQuery[] = [];
  for (const query of queries) {
    const sql = query.sql(options.version, options.context);
    if (sql === undefined) results.set(query, { kind: 'known', value: query.absent });
    else sent.push({ query, sql });
  }
  let lost: QueryError | undefined;
  try {
    lost = await sendBatch(sent, options, results);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    lost = error;
  }
  const reason = lost === undefined ? 'the server returned no result' : queryFailureText(lost);
  for (const { query } of sent) if (!results.has(query)) results.set(query, { kind: 'failed', reason });
  return lost;
}

/**
 * The reason of a failed query, as text for the report. An error at the deadline of the preflight says nothing about
 * the database.
 */
function queryFailureText({ code, message }: ConnectError | QueryError): string {
  return code === clientErrorCodes.aborted ? 'the deadline of the run passed' : message;
}

interface SentQuery {
  readonly query: AnyPostgresqlQuery;
  readonly sql: string;
}

async function sendBatch(
  sent: readonly SentQuery[],
  options: QueriesOptions,
  results: Map<AnyPostgresqlQuery, QueryResult<unknown>>,
): Promise<QueryError | undefined> {
  if (sent.length === 0) return undefined;
  const sets = await sendReadOnly(
    options,
    sent.map(({ sql }) => sql),
  );
  if (!(sets instanceof QueryError)) {
    for (const [at, { query }] of sent.entries()) results.set(query, decodedResult(query, sets[at]));
    return undefined;
  }
  if (sets.lost) return sets;
  for (const { query, sql } of sent) {
    const alone = await sendReadOnly(options, [sql]);
    if (alone instanceof QueryError && alone.lost) return alone;
    const result = alone instanceof QueryError ? failedResult(query, alone, options) : decodedResult(query, alone[0]);
    results.set(query, result);
  }
  return undefined;
}

/**
 * The rows of each query, or the error of a query; after an error the transaction is rolled back, unless the session is
 * lost.
 */
async function sendReadOnly(
  { session, version, onSend, left }: QueriesOptions,
  queries: readonly string[],
): Promise<readonly (readonly PostgresqlRow[])[] | QueryError> {
  const text = preflightTransaction(queries, version);
  const limit = Math.min(left(), messageTimeout);
  if (limit <= 0) return new QueryError('ETIMEDOUT', 'the time for this database had passed', true);
  onSend(text);
  try {
    return omitControlResults(await session.query(text, limit), queries.length);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    if (error.lost) return error;
    onSend(rollbackSql);
    // A failed ROLLBACK throws, and the session then counts as lost.
    await session.query(rollbackSql, limit);
    return error;
  }
}

/**
 * Milliseconds without a response after which the server counts as unresponsive. The server cancels a statement after
 * 15 s, so a longer silence means that the server hangs.
 */
const messageTimeout = 20_000;

function decodedResult(query: AnyPostgresqlQuery, rows: readonly PostgresqlRow[] | undefined): QueryResult<unknown> {
  try {
    return { kind: 'known', value: query.decode(rows ?? []) };
  } catch {
    // Decoding checks every row, because the server is not trusted to send what the query selects.
    return { kind: 'failed', reason: 'could not parse the rows of the source', isMalformed: true };
  }
}

function failedResult(
  query: AnyPostgresqlQuery,
  { code, message }: QueryError,
  { username }: QueriesOptions,
): QueryResult<unknown> {
  if (code === insufficientPrivilege) {
    return {
      kind: 'denied',
      reason: message,
      grant: catalogGrant(message, username) ?? (query.grant ?? monitorGrant)(username),
    };
  }
  return { kind: 'failed', reason: code === lockNotAvailable ? `${message} ${lockHolderNote}` : message };
}

const lockNotAvailable = '55P03';
const lockHolderNote =
  "(another session holds a lock on a system catalog; SELECT pid, relation::pg_catalog.regclass FROM pg_catalog.pg_locks WHERE mode OPERATOR(pg_catalog.=) 'AccessExclusiveLock' lists it)";

const insufficientPrivilege = '42501';

export interface DatabaseQueryOptions {
  readonly source: PostgresqlEndpoint;
  /** server_version_num. */
  readonly version: number;
  readonly context: QueryPreconditions;
  /** Results of the queries of the server, which may decide whether later queries are sent. */
  readonly serverResults: QueryResults;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Memory limit shared by all sessions whose results are in memory at the same time. */
  readonly memory?: MemoryLimit | undefined;
  /** Called with every message before it is sent to the source. */
  readonly onSend: (database: string, text: string) => void;
}

export interface DatabaseOutcome {
  readonly access: DatabaseAccess;
  readonly results: QueryResults;
}

/**
 * Time limit in milliseconds for all queries in one database: two statements that the server cancels after 15 s each,
 * and a reserve.
 */
const databaseQueriesTimeout = 40_000;

/**
 * Connects to one database of the source and runs the queries. While the server restarts, and after an administrator
 * ended the session, the connection is tried again for a few seconds. After a lost connection the function connects
 * once more, but not while the server recovers from a crash, because a query may have caused the crash.
 */
export async function runInDatabase(
  dbname: string,
  queries: readonly AnyPostgresqlQuery[],
  options: DatabaseQueryOptions,
  earlier?: QueryAttempt,
): Promise<DatabaseOutcome> {
  const end = options.clock.now() + databaseQueriesTimeout;
  const left = () => end - options.clock.now();
  let disconnected = earlier?.code === clientErrorCodes.closed ? earlier : undefined;
  for (let tries = 1; ; tries += 1) {
    const attempt = await tryQueryDatabase(dbname, queries, options, left);
    const { code, wasQuerySent } = attempt;
    if (code === undefined || options.signal.aborted || left() < 5000) return attempt;
    if (code === clientErrorCodes.closed && wasQuerySent && disconnected === undefined) {
      disconnected = attempt;
    } else if (
      (transientCodes.has(code) || code === clientErrorCodes.closed) &&
      disconnected === undefined &&
      tries < 4
    ) {
      await options.clock.sleep(1000, options.signal).catch(() => {});
    } else {
      return disconnected !== undefined && transientCodes.has(code) ? disconnected : attempt;
    }
  }
}

/** Runs the queries on a session that is already open. */
export async function querySession(
  session: PostgresqlSession,
  dbname: string,
  queries: readonly AnyPostgresqlQuery[],
  options: DatabaseQueryOptions,
): Promise<QueryAttempt> {
  const end = options.clock.now() + databaseQueriesTimeout;
  return runOnSession(session, dbname, queries, options, () => end - options.clock.now());
}

/** Error codes after which a new connection may succeed. */
export function isTransient(code: string | undefined): boolean {
  return code !== undefined && (code === clientErrorCodes.closed || transientCodes.has(code));
}

/**
 * 57P01 to 57P03: the server stops, has crashed or starts; 53300: no connection is free; MEMORY: the results of other
 * databases use too much memory.
 */
const transientCodes: ReadonlySet<string> = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  'ECONNREFUSED',
  clientErrorCodes.memory,
]);

interface QueryAttempt extends DatabaseOutcome {
  /** The code of the error that ended the connection. */
  readonly code: string | undefined;
  /** Whether a query was sent, so that it may be the cause of the failure. */
  readonly wasQuerySent: boolean;
}

async function tryQueryDatabase(
  dbname: string,
  queries: readonly AnyPostgresqlQuery[],
  options: DatabaseQueryOptions,
  left: () => number,
): Promise<QueryAttempt> {
  let session: PostgresqlSession | undefined;
  try {
    const limit = Math.min(left(), connectTimeout);
    const { signal, memory } = options;
    session = await connectPostgresql(options.source, { dbname, limit, signal, memory });
    options.onSend(dbname, pidMessage);
    await session.query(pidMessage, Math.min(left(), connectTimeout));
    return await runOnSession(session, dbname, queries, options, left);
  } catch (error) {
    if (error instanceof ConnectError || error instanceof QueryError) {
      return { access: failedAccess(error), results: new Map(), code: error.code, wasQuerySent: false };
    }
    throw error;
  } finally {
    await session?.end();
  }
}

async function runOnSession(
  session: PostgresqlSession,
  dbname: string,
  queries: readonly AnyPostgresqlQuery[],
  { version, context, source, serverResults, onSend }: DatabaseQueryOptions,
  left: () => number,
): Promise<QueryAttempt> {
  const { results, lost } = await runPostgresqlQueries(queries, {
    session,
    version,
    context,
    username: source.username,
    dbname,
    serverResults,
    onSend: (text) => onSend(dbname, text),
    left,
  });
  const broken = lost === undefined ? {} : { broken: queryFailureText(lost) };
  return { access: { kind: 'entered', ...broken }, results, code: lost?.code, wasQuerySent: true };
}

/** The first query of a session: a pooler connects to the server only now, so its error is one of the connection. */
const pidMessage = probeSql('SELECT pg_backend_pid() AS pid');

/** Time limit in milliseconds to connect, and for the first query. */
const connectTimeout = 10_000;

function failedAccess(error: ConnectError | QueryError): DatabaseAccess {
  const { code, message } = error;
  // An error with an SQLSTATE is a refusal by the server. An error that the server is not running says nothing about
  // this database.
  const isRefusal = /^[0-9A-Z]{5}$/.test(code) && !transientCodes.has(code);
  return isRefusal ? { kind: 'refused', code, message } : { kind: 'lost', message: queryFailureText(error) };
}

/** Queries contain no semicolon, so each semicolon in the message ends one statement. */
export function countStatements(text: string): number {
  return text.split(';').length;
}

/** Why the connection ended before every query of the database had a result. */
export function failureReason({ access }: DatabaseOutcome): string | undefined {
  if (access.kind === 'entered') return access.broken;
  return 'message' in access ? access.message : undefined;
}
