import { clientSideDatabaseErrorCodes, type DatabaseConnectError } from '../../../platform/connect-error.ts';
import type { PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import { omitTransactionControlResults, searchPathSafeRollbackSql } from '../../../postgresql/search-path-safe-sql.ts';
import { getPreflightQueryValue, type PreflightQueryResult, type PreflightQueryResults } from '../query.ts';
import { buildCatalogGrantFromError, buildGrantMonitorRoleStatement } from './queries/grants.ts';
import type { AnyPostgresqlPreflightQuery, PostgresqlQueryPreconditions, PreflightQueryValueReader } from './query.ts';
import { buildReadOnlyPreflightTransaction } from './read-only-preflight-transaction.ts';

export interface PostgresqlPreflightQueriesOptions {
  readonly session: Pick<PostgresqlSession, 'query'>;
  /** server_version_num. */
  readonly version: number;
  readonly context: PostgresqlQueryPreconditions;
  readonly username: string;
  readonly dbname: string;
  /**
   * Results of the queries that were sent once for the server; they may decide whether a query is sent to a database.
   */
  readonly serverResults: PreflightQueryResults;
  /** Called with every message before it is sent to the source. */
  readonly onSend: (text: string) => void;
  /** Returns the milliseconds that are left for this database; called before each message. */
  readonly left: () => number;
}

interface PostgresqlPreflightQueriesOutcome {
  readonly results: PreflightQueryResults;
  /** The error that ended the session; query results from before the error are kept. */
  readonly lost: PostgresqlQueryError | undefined;
}

/**
 * Sends all queries without a condition in one message, and then the queries whose condition is true in a second one.
 * When the server rejects a message, each query is sent alone, so that only the query that is denied or too slow has no
 * result.
 */
export async function runPostgresqlPreflightQueries(
  queries: readonly AnyPostgresqlPreflightQuery[],
  options: PostgresqlPreflightQueriesOptions,
): Promise<PostgresqlPreflightQueriesOutcome> {
  const results = new Map<AnyPostgresqlPreflightQuery, PreflightQueryResult<unknown>>();
  const lost = await runBatch(
    queries.filter(({ when }) => when === undefined),
    options,
    results,
  );
  const conditional = queries.filter(({ when }) => when !== undefined);
  const known: PreflightQueryValueReader = (query) =>
    getPreflightQueryValue(results, query) ?? getPreflightQueryValue(options.serverResults, query);
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
  queries: readonly AnyPostgresqlPreflightQuery[],
  options: PostgresqlPreflightQueriesOptions,
  results: Map<AnyPostgresqlPreflightQuery, PreflightQueryResult<unknown>>,
): Promise<PostgresqlQueryError | undefined> {
  const sent: SentQuery[] = [];
  for (const query of queries) {
    const sql = query.sql(options.version, options.context);
    if (sql === undefined) results.set(query, { kind: 'known', value: query.absent });
    else sent.push({ query, sql });
  }
  let lost: PostgresqlQueryError | undefined;
  try {
    lost = await sendBatch(sent, options, results);
  } catch (error) {
    if (!(error instanceof PostgresqlQueryError)) throw error;
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
export function queryFailureText({ code, message }: DatabaseConnectError | PostgresqlQueryError): string {
  return code === clientSideDatabaseErrorCodes.aborted ? 'the deadline of the run passed' : message;
}

interface SentQuery {
  readonly query: AnyPostgresqlPreflightQuery;
  readonly sql: string;
}

async function sendBatch(
  sent: readonly SentQuery[],
  options: PostgresqlPreflightQueriesOptions,
  results: Map<AnyPostgresqlPreflightQuery, PreflightQueryResult<unknown>>,
): Promise<PostgresqlQueryError | undefined> {
  if (sent.length === 0) return undefined;
  const sets = await sendReadOnly(
    options,
    sent.map(({ sql }) => sql),
  );
  if (!(sets instanceof PostgresqlQueryError)) {
    for (const [at, { query }] of sent.entries()) results.set(query, decodedResult(query, sets[at]));
    return undefined;
  }
  if (sets.lost) return sets;
  for (const { query, sql } of sent) {
    const alone = await sendReadOnly(options, [sql]);
    if (alone instanceof PostgresqlQueryError && alone.lost) return alone;
    const result =
      alone instanceof PostgresqlQueryError ? failedResult(query, alone, options) : decodedResult(query, alone[0]);
    results.set(query, result);
  }
  return undefined;
}

/**
 * The rows of each query, or the error of a query; after an error the transaction is rolled back, unless the session is
 * lost.
 */
async function sendReadOnly(
  { session, version, onSend, left }: PostgresqlPreflightQueriesOptions,
  queries: readonly string[],
): Promise<readonly (readonly PostgresqlRow[])[] | PostgresqlQueryError> {
  const text = buildReadOnlyPreflightTransaction(queries, version);
  const limit = Math.min(left(), messageTimeout);
  if (limit <= 0) return new PostgresqlQueryError('ETIMEDOUT', 'the time for this database had passed', true);
  onSend(text);
  try {
    return omitTransactionControlResults(await session.query(text, limit), queries.length);
  } catch (error) {
    if (!(error instanceof PostgresqlQueryError)) throw error;
    if (error.lost) return error;
    onSend(searchPathSafeRollbackSql);
    // A failed ROLLBACK throws, and the session then counts as lost.
    await session.query(searchPathSafeRollbackSql, limit);
    return error;
  }
}

/**
 * Milliseconds without a response after which the server counts as unresponsive. The server cancels a statement after
 * 15 s, so a longer silence means that the server hangs.
 */
const messageTimeout = 20_000;

function decodedResult(
  query: AnyPostgresqlPreflightQuery,
  rows: readonly PostgresqlRow[] | undefined,
): PreflightQueryResult<unknown> {
  try {
    return { kind: 'known', value: query.decode(rows ?? []) };
  } catch {
    // Decoding checks every row, because the server is not trusted to send what the query selects.
    return { kind: 'failed', reason: 'could not parse the rows of the source', isMalformed: true };
  }
}

function failedResult(
  query: AnyPostgresqlPreflightQuery,
  { code, message }: PostgresqlQueryError,
  { username }: PostgresqlPreflightQueriesOptions,
): PreflightQueryResult<unknown> {
  if (code === insufficientPrivilege) {
    return {
      kind: 'denied',
      reason: message,
      grant: buildCatalogGrantFromError(message, username) ?? (query.grant ?? buildGrantMonitorRoleStatement)(username),
    };
  }
  return { kind: 'failed', reason: code === lockNotAvailable ? `${message} ${lockHolderNote}` : message };
}

const lockNotAvailable = '55P03';
const lockHolderNote =
  "(another session holds a lock on a system catalog; SELECT pid, relation::regclass FROM pg_locks WHERE mode = 'AccessExclusiveLock' lists it)";

const insufficientPrivilege = '42501';
