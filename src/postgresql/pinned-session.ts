import { connectErrorCodes } from '../platform/connect-error.ts';
import type { PostgresqlSession } from './connection.ts';
import type { CopyOut, CopySink } from './copy.ts';
import { messageOfPinnedSession, pinSessionMessage, readOnlyTransaction } from './pinned-message.ts';
import type { PostgresqlRow } from './postgresql-row.ts';
import { QueryError } from './query-error.ts';

/** A direct session that has sent `pinSessionMessage`, so that it can send any statement. */
export interface PinnedSession extends Omit<PostgresqlSession, 'query' | 'copyOut' | 'copyIn'> {
  /** Like `query` of the session, but for any SQL text. */
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
export async function pinSession(session: PostgresqlSession): Promise<PinnedSession> {
  await refusePooler(session);
  await session.query(pinSessionMessage);
  return {
    ...session,
    query: (text, limit) => session.query(messageOfPinnedSession(text), limit),
    copyOut: (text, take, messages) => session.copyOut(messageOfPinnedSession(text), take, messages),
    copyIn: (text) => session.copyIn(messageOfPinnedSession(text)),
  };
}

/**
 * A pooler is detected because it rejects settings at the login, or because another process than that of the login runs
 * the statements.
 */
async function refusePooler(session: PostgresqlSession): Promise<void> {
  const sets = await session.query(readOnlyTransaction(['SELECT pg_backend_pid() AS pid']));
  const pid = sets.flat()[0]?.pid;
  if (session.startupRefusal === undefined && pid === String(session.processId)) return;
  throw new QueryError(
    connectErrorCodes.protocol,
    'the connection goes through a connection pooler, and a direct connection is required',
    false,
  );
}
