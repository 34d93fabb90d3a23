import { ConnectError, connectErrorCodes } from '../../platform/connect-error.ts';
import type { Clock } from '../../platform/host.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import type { PostgresqlQueryContext } from './query.ts';
import { type AnyPostgresqlQuery, type PostgresqlQueryResults, queryFailureText, runQueries } from './run-queries.ts';
import type { DatabaseAccess } from './source-facts.ts';

export interface QueryDatabaseOptions {
  readonly source: PostgresqlSource;
  readonly version: number;
  readonly context: PostgresqlQueryContext;
  /** What the server answered before. */
  readonly serverResults: PostgresqlQueryResults;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onSent: (database: string, text: string) => void;
}

export interface DatabaseQueryOutcome {
  readonly access: DatabaseAccess;
  readonly results: PostgresqlQueryResults;
}

/** Milliseconds for everything in one database: two statements that the server gives up, and some room. */
export const databaseTimeout = 40_000;

/**
 * Connects to one database and asks. A server that restarts is tried again for a few seconds, and so is a session that an
 * administrator ended. A connection that broke is made anew once; not when the server is recovering from a crash then,
 * since our question may be what crashed it.
 */
export async function queryDatabase(
  dbname: string,
  asks: readonly AnyPostgresqlQuery[],
  way: QueryDatabaseOptions,
  broken?: DatabaseQueryAttempt,
): Promise<DatabaseQueryOutcome> {
  const end = way.clock.now() + databaseTimeout;
  const left = () => end - way.clock.now();
  let before = broken?.code === connectErrorCodes.closed ? broken : undefined;
  for (let tries = 1; ; tries += 1) {
    const visited = await tryQueryDatabase(dbname, asks, way, left);
    const { code, wasQuerySent: asked } = visited;
    if (code === undefined || way.signal.aborted || left() < 5000) return visited;
    if (code === connectErrorCodes.closed && asked && before === undefined) {
      before = visited;
    } else if ((transientCodes.has(code) || code === connectErrorCodes.closed) && before === undefined && tries < 4) {
      await way.clock.sleep(1000, way.signal).catch(() => {});
    } else {
      return before !== undefined && transientCodes.has(code) ? before : visited;
    }
  }
}

/** Asks on a session that is open already. */
export async function queryOpenSession(
  session: PostgresqlSession,
  dbname: string,
  asks: readonly AnyPostgresqlQuery[],
  way: QueryDatabaseOptions,
): Promise<DatabaseQueryAttempt> {
  const end = way.clock.now() + databaseTimeout;
  const { results: answers, lost } = await runQueries(asks, {
    session,
    version: way.version,
    context: way.context,
    username: way.source.username,
    dbname,
    serverResults: way.serverResults,
    onSent: (text) => way.onSent(dbname, text),
    left: () => end - way.clock.now(),
  });
  const broken = lost === undefined ? {} : { broken: queryFailureText(lost) };
  return {
    access: { kind: 'entered', direct: true, ...broken },
    results: answers,
    code: lost?.code,
    wasQuerySent: true,
  };
}

/** Whether another connection may do better. */
export function isTransientFailure(code: string | undefined): boolean {
  return code !== undefined && (code === connectErrorCodes.closed || transientCodes.has(code));
}

/** 57P01 to 57P03: shut down, crashed, not up yet; 53300: no connection free just now. */
const transientCodes: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '53300', 'ECONNREFUSED']);

export interface DatabaseQueryAttempt extends DatabaseQueryOutcome {
  /** Of the failure that ended it. */
  readonly code: string | undefined;
  /** A question of ours was sent; before that nothing can be its fault. */
  readonly wasQuerySent: boolean;
}

async function tryQueryDatabase(
  dbname: string,
  asks: readonly AnyPostgresqlQuery[],
  way: QueryDatabaseOptions,
  left: () => number,
): Promise<DatabaseQueryAttempt> {
  let session: PostgresqlSession | undefined;
  try {
    session = await connectPostgresql(way.source, {
      dbname,
      limit: Math.min(left(), connectTimeout),
      signal: way.signal,
    });
    way.onSent(dbname, pidQuery);
    const pid = (await session.query(pidQuery, Math.min(left(), connectTimeout)))[0]?.[0]?.pid;
    const { results: answers, lost } = await runQueries(asks, {
      session,
      version: way.version,
      context: way.context,
      username: way.source.username,
      dbname,
      serverResults: way.serverResults,
      onSent: (text) => way.onSent(dbname, text),
      left,
    });
    const direct = pid === String(session.processId);
    const broken = lost === undefined ? {} : { broken: queryFailureText(lost) };
    return { access: { kind: 'entered', direct, ...broken }, results: answers, code: lost?.code, wasQuerySent: true };
  } catch (error) {
    if (error instanceof ConnectError || error instanceof QueryError) {
      return { access: failedAccess(error), results: new Map(), code: error.code, wasQuerySent: false };
    }
    throw error;
  } finally {
    await session?.end();
  }
}

/** Bare, so that a pooler has to give it to a server process of its own. */
const pidQuery = 'SELECT pg_backend_pid() AS pid';

/** Milliseconds to be let in, and to be told the process. */
const connectTimeout = 10_000;

function failedAccess(error: ConnectError | QueryError): DatabaseAccess {
  const { code, message } = error;
  // Five digits and letters: the server itself said no. That it is not up is no answer about this database.
  const said = /^[0-9A-Z]{5}$/.test(code) && !transientCodes.has(code);
  return said ? { kind: 'refused', code, message } : { kind: 'lost', message: queryFailureText(error) };
}
