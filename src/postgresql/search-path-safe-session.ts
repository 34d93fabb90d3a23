import { clientErrorCodes } from '../platform/network-errors.ts';
import type { PostgresqlSession } from './connection.ts';
import type { CopyOut, CopySink } from './copy.ts';
import { QueryError } from './query-error.ts';
import type { PostgresqlRow } from './rows.ts';
import { markSafeSql, probeSql, sessionSetupSql } from './search-path-safe-sql.ts';

/** A direct session that has sent `sessionSetupSql`, so that it can send any statement. */
export interface SafeSession extends Omit<PostgresqlSession, 'query' | 'copyOut' | 'copyIn'> {
  /** Like the method `query` of PostgresqlSession, but for any SQL text. */
  query(text: string, limit?: number): Promise<readonly (readonly PostgresqlRow[])[]>;
  /** Runs `COPY … TO STDOUT`. If the response is not read to its end, the session is closed. Throws a QueryError. */
  copyOut: CopyOut<string>;
  /** Runs `COPY … FROM STDIN`. Throws a QueryError. */
  copyIn(text: string): Promise<CopySink>;
}

/**
 * Sets role, search_path and transaction defaults for a whole session, overriding the settings of the role and the
 * database. Throws a QueryError if a pooler is in between: the pooler would pass the settings on to its next client,
 * and the next statement to a session without them.
 */
export async function makeSessionSafe(session: PostgresqlSession): Promise<SafeSession> {
  await refusePooler(session);
  await session.query(sessionSetupSql);
  return {
    ...session,
    query: (text, limit) => session.query(markSafeSql(text), limit),
    copyOut: (text, ...rest) => session.copyOut(markSafeSql(text), ...rest),
    copyIn: (text) => session.copyIn(markSafeSql(text)),
  };
}

/**
 * A pooler is detected because it rejects settings at the login, or because the server process that runs the statements is
 * not the one that the login reported.
 */
async function refusePooler(session: PostgresqlSession): Promise<void> {
  const sets = await session.query(probeSql('SELECT pg_backend_pid() AS pid'));
  const pid = sets.flat()[0]?.pid;
  if (session.startupRefusal === undefined && pid === String(session.processId)) return;
  throw new QueryError(
    clientErrorCodes.protocol,
    'the connection goes through a connection pooler, and a direct connection is required',
    false,
  );
}
