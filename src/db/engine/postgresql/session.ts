import { ConnectError } from '../../../platform/network-errors.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import type { EngineSystem } from '../input.ts';
import { createReconnecting, openPinned, type Reconnecting } from '../session.ts';

/**
 * A timeout in milliseconds that is longer than a migration may last. Timers of Node.js can wait for at most 24 days.
 */
export const longTimeout = 15 * 86_400_000;

interface SessionOptions {
  readonly signal?: AbortSignal | undefined;
  /** application_name of the session. */
  readonly name: string;
}

const openSession = (
  endpoint: PostgresqlEndpoint,
  { connectPostgres, limits }: EngineSystem,
  opening: SessionOptions,
): Promise<SafeSession> =>
  openPinned(endpoint, {
    ...opening,
    limit: limits.connectTimeout,
    settings: { synchronous_commit: 'local', bytea_output: 'hex' },
    connect: connectPostgres,
  });

/** Runs a task in a new session and closes it in any case. */
export async function withSession<T>(
  endpoint: PostgresqlEndpoint,
  deps: EngineSystem,
  opening: SessionOptions,
  work: (session: SafeSession) => Promise<T>,
): Promise<T> {
  const session = await openSession(endpoint, deps, opening);
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

/** Runs one or several statements and returns the rows of the last one. */
export async function lastRows(session: SafeSession, text: string, limit?: number): Promise<readonly PostgresqlRow[]> {
  return (await session.query(text, limit)).at(-1) ?? [];
}

/** The value in the first column of the first row; undefined if there is no row, or if it is null. */
export async function singleValue(session: SafeSession, text: string): Promise<string | undefined> {
  const [row] = await lastRows(session, text);
  return row === undefined ? undefined : (Object.values(row)[0] ?? undefined);
}

/** A session that is opened again after an outage of the server. */
export function openPostgresSession(
  endpoint: PostgresqlEndpoint,
  deps: EngineSystem,
  opening: SessionOptions,
): Reconnecting<SafeSession> {
  return createReconnecting({
    open: () => openSession(endpoint, deps, opening),
    close: (session) => session.end(),
    isTransient: isTransientError,
    outageTimeout: deps.limits.outageTimeout,
  });
}

/**
 * Errors after which a new session may succeed: of the network, of a server that restarts (57P0.) or has no free
 * resources (53...), and of a session that was ended.
 */
function isTransientError(error: unknown): boolean {
  if (error instanceof ConnectError) return error.phase === 'network' || /^(57P0|53|08|E[A-Z]+$)/.test(error.code);
  return error instanceof QueryError && (error.lost || /^(57P0|53|08)/.test(error.code));
}
