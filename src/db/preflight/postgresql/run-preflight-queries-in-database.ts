import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../../platform/connect-error.ts';
import type { Clock } from '../../../platform/host.ts';
import type { DatabaseResponseMemoryLimit } from '../../../platform/response-memory.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import { buildProbeTransactionSql } from '../../../postgresql/search-path-safe-sql.ts';
import type { PreflightQueryResults } from '../query.ts';
import type { AnyPostgresqlPreflightQuery, PostgresqlQueryPreconditions } from './query.ts';
import { queryFailureText, runPostgresqlPreflightQueries } from './run-postgresql-preflight-queries.ts';
import type { DatabaseAccessResult } from './source-facts.ts';

export interface PostgresqlDatabaseQueryRunOptions {
  readonly source: PostgresqlEndpoint;
  /** server_version_num. */
  readonly version: number;
  readonly context: PostgresqlQueryPreconditions;
  /** Results of the queries of the server, which may decide whether later queries are sent. */
  readonly serverResults: PreflightQueryResults;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Memory limit shared by all sessions whose results are in memory at the same time. */
  readonly memory?: DatabaseResponseMemoryLimit | undefined;
  /** Called with every message before it is sent to the source. */
  readonly onSend: (database: string, text: string) => void;
}

export interface DatabaseQueryOutcome {
  readonly access: DatabaseAccessResult;
  readonly results: PreflightQueryResults;
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
export async function runPreflightQueriesInDatabase(
  dbname: string,
  queries: readonly AnyPostgresqlPreflightQuery[],
  options: PostgresqlDatabaseQueryRunOptions,
  earlier?: DatabaseQueryAttempt,
): Promise<DatabaseQueryOutcome> {
  const end = options.clock.now() + databaseQueriesTimeout;
  const left = () => end - options.clock.now();
  let disconnected = earlier?.code === clientSideDatabaseErrorCodes.closed ? earlier : undefined;
  for (let tries = 1; ; tries += 1) {
    const attempt = await tryQueryDatabase(dbname, queries, options, left);
    const { code, wasQuerySent } = attempt;
    if (code === undefined || options.signal.aborted || left() < 5000) return attempt;
    if (code === clientSideDatabaseErrorCodes.closed && wasQuerySent && disconnected === undefined) {
      disconnected = attempt;
    } else if (
      (transientCodes.has(code) || code === clientSideDatabaseErrorCodes.closed) &&
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
export async function runQueriesOnOpenSession(
  session: PostgresqlSession,
  dbname: string,
  queries: readonly AnyPostgresqlPreflightQuery[],
  options: PostgresqlDatabaseQueryRunOptions,
): Promise<DatabaseQueryAttempt> {
  const end = options.clock.now() + databaseQueriesTimeout;
  return runOnSession(session, dbname, queries, options, () => end - options.clock.now());
}

/** Error codes after which a new connection may succeed. */
export function isTransientDatabaseErrorCode(code: string | undefined): boolean {
  return code !== undefined && (code === clientSideDatabaseErrorCodes.closed || transientCodes.has(code));
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
  clientSideDatabaseErrorCodes.memory,
]);

interface DatabaseQueryAttempt extends DatabaseQueryOutcome {
  /** The code of the error that ended the connection. */
  readonly code: string | undefined;
  /** Whether a query was sent, so that it may be the cause of the failure. */
  readonly wasQuerySent: boolean;
}

async function tryQueryDatabase(
  dbname: string,
  queries: readonly AnyPostgresqlPreflightQuery[],
  options: PostgresqlDatabaseQueryRunOptions,
  left: () => number,
): Promise<DatabaseQueryAttempt> {
  let session: PostgresqlSession | undefined;
  try {
    const limit = Math.min(left(), connectTimeout);
    const { signal, memory } = options;
    session = await connectPostgresql(options.source, { dbname, limit, signal, memory });
    options.onSend(dbname, pidMessage);
    await session.query(pidMessage, Math.min(left(), connectTimeout));
    return await runOnSession(session, dbname, queries, options, left);
  } catch (error) {
    if (error instanceof DatabaseConnectError || error instanceof PostgresqlQueryError) {
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
  queries: readonly AnyPostgresqlPreflightQuery[],
  { version, context, source, serverResults, onSend }: PostgresqlDatabaseQueryRunOptions,
  left: () => number,
): Promise<DatabaseQueryAttempt> {
  const { results, lost } = await runPostgresqlPreflightQueries(queries, {
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
const pidMessage = buildProbeTransactionSql('SELECT pg_backend_pid() AS pid');

/** Time limit in milliseconds to connect, and for the first query. */
const connectTimeout = 10_000;

function failedAccess(error: DatabaseConnectError | PostgresqlQueryError): DatabaseAccessResult {
  const { code, message } = error;
  // An error with an SQLSTATE is a refusal by the server. An error that the server is not running says nothing about
  // this database.
  const isRefusal = /^[0-9A-Z]{5}$/.test(code) && !transientCodes.has(code);
  return isRefusal ? { kind: 'refused', code, message } : { kind: 'lost', message: queryFailureText(error) };
}

/** Queries contain no semicolon, so each semicolon in the message ends one statement. */
export function countSqlStatements(text: string): number {
  return text.split(';').length;
}

/** Why the connection ended before every query of the database had a result. */
export function findFailureReasonOfQueryOutcome({ access }: DatabaseQueryOutcome): string | undefined {
  if (access.kind === 'entered') return access.broken;
  return 'message' in access ? access.message : undefined;
}
