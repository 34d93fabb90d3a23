import type { PostgresqlRow, PostgresqlSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';

/** One SELECT without a parameter; all questions of a look travel in one message, inside a read-only transaction. */
export interface WatchQuery<T> {
  readonly id: string;
  /** undefined: this version (server_version_num) has no such thing, and `absent` is the answer. */
  readonly sql: (version: number) => string | undefined;
  readonly decode: (rows: readonly PostgresqlRow[]) => T;
  readonly fallback: T;
}

export interface WatchQuerySession {
  readonly session: PostgresqlSession;
  readonly version: number;
  /** Milliseconds for each message. */
  readonly limit: number;
  /** Hears every message before it is sent. */
  readonly onSent: (text: string) => void;
  /** What this server denied once is not asked again. */
  readonly deniedIds: Set<string>;
}

export interface WatchQueryResults {
  /** What was answered; `absent` where there is no answer. */
  readonly read: <T>(query: WatchQuery<T>) => T;
  /** Why a question has no answer this time; undefined: it has one, or this version has no such thing. */
  readonly failure: (query: WatchQuery<unknown>) => QueryError | undefined;
}

/**
 * Throws a QueryError when the session is lost. When the server refuses the message each question goes alone, so that exactly
 * the one that is denied or too slow has no answer.
 */
export async function runWatchQueries(
  queries: readonly WatchQuery<unknown>[],
  querySession: WatchQuerySession,
): Promise<WatchQueryResults> {
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

/** Denied, or not known to this server; what was only too slow is asked again. */
function isPermanent({ code }: QueryError): boolean {
  return code.startsWith('42') || code.startsWith('0A');
}

/** Rows of each question, or why the server refused the message. */
async function send(
  queries: readonly string[],
  querySession: WatchQuerySession,
): Promise<readonly (readonly PostgresqlRow[])[] | QueryError> {
  if (queries.length === 0) return [];
  const message = readOnlyTransaction(queries, querySession.version);
  querySession.onSent(message);
  try {
    return (await querySession.session.query(message, querySession.limit)).slice(
      transactionPrelude(querySession.version).length,
      -1,
    );
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    querySession.onSent('ROLLBACK');
    await querySession.session.query('ROLLBACK', querySession.limit);
    return error;
  }
}

function readOnlyTransaction(queries: readonly string[], version: number): string {
  return [...transactionPrelude(version), ...queries, 'COMMIT'].join('; ');
}

/** A look never writes, waits for no lock and runs nobody's function but the server's own. */
function transactionPrelude(version: number): readonly string[] {
  return [
    'BEGIN READ ONLY',
    // A short one of the role would end the session in the middle of a look.
    ...(version < 170_000 ? [] : ["SET LOCAL transaction_timeout='0'"]),
    "SET LOCAL statement_timeout='5s'",
    "SET LOCAL lock_timeout='500ms'",
    // Unless it is named, pg_temp comes first, with whatever a login trigger or a pooled session left there.
    'SET LOCAL search_path=pg_catalog,pg_temp',
    ...(version < 110_000 ? [] : ['SET LOCAL jit=off']),
  ];
}
