import type { PostgresqlSession } from '../../../postgresql/connection.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import {
  omitControlResults,
  probeSql,
  readOnlySql,
  rollbackSql,
  type SafeSql,
} from '../../../postgresql/search-path-safe-sql.ts';

/**
 * A query of the watch: one SELECT without parameters. All queries of a poll are sent in one message, in a read-only
 * transaction.
 */
export interface WatchQuery<T> {
  readonly id: string;
  /**
   * The SQL for a server version (`server_version_num`); undefined if the version cannot run the query: the result is
   * then `fallback`.
   */
  readonly sql: (version: number) => string | undefined;
  readonly decode: (rows: readonly PostgresqlRow[]) => T;
  readonly fallback: T;
}

export interface QuerySession {
  readonly session: Pick<PostgresqlSession, 'query'>;
  readonly version: number;
  /** Milliseconds per message. */
  readonly limit: number;
  /** Called with every message before it is sent to the source. */
  readonly onSent: (text: string) => void;
  /** Ids of queries that the server has denied; they are not sent again. */
  readonly deniedIds: Set<string>;
}

interface QueryResults {
  /** The result of a query; the `fallback` of the query if it has none. */
  readonly read: <T>(query: WatchQuery<T>) => T;
  /** Why a query failed; undefined if it succeeded, or if the server version cannot run it. */
  readonly failure: (query: WatchQuery<unknown>) => QueryError | undefined;
}

/**
 * Runs several queries. If the server rejects the message, each query is sent alone, so that only a denied or slow
 * query fails. Throws a QueryError if the session is lost.
 */
export async function runQueries(
  queries: readonly WatchQuery<unknown>[],
  querySession: QuerySession,
): Promise<QueryResults> {
  const pending = queries.flatMap(({ id, sql }) => {
    const text = querySession.deniedIds.has(id) ? undefined : sql(querySession.version);
    return text === undefined ? [] : [{ id, text }];
  });
  const rows = new Map<string, readonly PostgresqlRow[]>();
  const failures = new Map<string, QueryError>();
  const together = await send(
    pending.map(({ text }) => text),
    querySession,
  );
  for (const [at, { id, text }] of pending.entries()) {
    const result = together instanceof QueryError ? await send([text], querySession) : [together[at] ?? []];
    if (!(result instanceof QueryError)) {
      rows.set(id, result[0] ?? []);
      continue;
    }
    failures.set(id, result);
    if (isPermanent(result)) querySession.deniedIds.add(id);
  }
  return {
    read: (query) => {
      const result = rows.get(query.id);
      return result === undefined ? query.fallback : query.decode(result);
    },
    failure: ({ id }) => failures.get(id),
  };
}

/** Whether the query was denied or is not supported. A query that timed out is sent again in the next poll. */
function isPermanent({ code }: QueryError): boolean {
  return code.startsWith('42') || code.startsWith('0A');
}

/** The rows of each query, or the error of the whole message. */
async function send(
  queries: readonly string[],
  querySession: QuerySession,
): Promise<readonly (readonly PostgresqlRow[])[] | QueryError> {
  if (queries.length === 0) return [];
  const message = pollMessage(queries, querySession.version);
  querySession.onSent(message);
  try {
    return omitControlResults(await querySession.session.query(message, querySession.limit), queries.length);
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    querySession.onSent(rollbackSql);
    await querySession.session.query(rollbackSql, querySession.limit);
    return error;
  }
}

/** The read-only transaction waits at most 500 ms for locks. */
function pollMessage(queries: readonly string[], version: number): SafeSql {
  return readOnlySql(queries, {
    // A short transaction_timeout of the role would end the session during a poll.
    ...(version < 170_000 ? {} : { transaction_timeout: '0' }),
    statement_timeout: '5s',
    lock_timeout: '500ms',
    ...(version < 110_000 ? {} : { jit: 'off' }),
  });
}

/** Reads the server version of a new session (`server_version_num`). Throws a QueryError. */
export async function queryVersion({ session, limit, onSent }: Pick<QuerySession, 'session' | 'limit' | 'onSent'>) {
  onSent(versionMessage);
  return Number((await session.query(versionMessage, limit)).flat()[0]?.version ?? 0);
}

const versionMessage = probeSql("SELECT current_setting('server_version_num') AS version");
