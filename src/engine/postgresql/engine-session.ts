import { ConnectError } from '../../platform/connect-error.ts';
import type { CopySession, PostgresqlRow } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import type { PostgresqlSource } from '../../postgresql/source.ts';
import { type HeldSession, holdSession } from '../held-session.ts';
import type { EngineDependencies } from '../migration-job.ts';

/** Longer than a migration may last; a timer of Node holds 24 days. */
export const migrationStatementTimeout = 15 * 86_400_000;

export interface EngineSessionOptions {
  readonly signal?: AbortSignal | undefined;
  /** As others see the session. */
  readonly name: string;
}

/** A session in which no setting of the role or the database cuts a copy short or changes how values are written. */
export async function openEngineSession(
  door: PostgresqlSource,
  ports: EngineDependencies,
  opening: EngineSessionOptions,
): Promise<CopySession> {
  const session = await ports.connectPostgres(door, {
    dbname: door.dbname,
    limit: ports.limits.connectTimeout,
    applicationName: opening.name,
    signal: opening.signal,
  });
  try {
    await session.query(applySettingsQuery);
    return session;
  } catch (error) {
    await session.end();
    throw error;
  }
}

/** Opens, works, and closes whatever happens. */
export async function withEngineSession<T>(
  door: PostgresqlSource,
  ports: EngineDependencies,
  opening: EngineSessionOptions,
  work: (session: CopySession) => Promise<T>,
): Promise<T> {
  const session = await openEngineSession(door, ports, opening);
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

/** The rows of the last statement. */
export async function queryLastRows(
  session: CopySession,
  text: string,
  limit?: number,
): Promise<readonly PostgresqlRow[]> {
  return (await session.query(text, limit)).at(-1) ?? [];
}

/** The only value of the only row, if there is one. */
export async function querySingleValue(
  session: CopySession,
  text: string,
  limit?: number,
): Promise<string | undefined> {
  const [row] = await queryLastRows(session, text, limit);
  return row === undefined ? undefined : (Object.values(row)[0] ?? undefined);
}

const sessionSettings = {
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  default_transaction_read_only: 'off',
  synchronous_commit: 'local',
  // Named last: otherwise a temporary table would come before the catalogue.
  search_path: 'pg_catalog, pg_temp',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  xmloption: 'content',
  bytea_output: 'hex',
};

/** Names that the server does not know are left out, so that every release understands it. */
const applySettingsQuery = `SELECT set_config(s.name, w.value, false) FROM (VALUES ${Object.entries(sessionSettings)
  .map(([name, value]) => `('${name}', '${value}')`)
  .join(', ')}) AS w (name, value) JOIN pg_catalog.pg_settings s ON s.name = lower(w.name)`;

/** A session that outlives outages. */
export function holdPostgresSession(
  door: PostgresqlSource,
  ports: EngineDependencies,
  opening: EngineSessionOptions,
): HeldSession<CopySession> {
  return holdSession({
    open: () => openEngineSession(door, ports, opening),
    close: (session) => session.end(),
    isTransient: passes,
    outageTimeout: ports.limits.outageTimeout,
  });
}

/** The network, a server that restarts (57P0.) or is full (53...), a session that was ended. */
function passes(error: unknown): boolean {
  if (error instanceof ConnectError) return error.phase === 'network' || /^(57P0|53|08|E[A-Z]+$)/.test(error.code);
  return error instanceof QueryError && (error.lost || /^(57P0|53|08)/.test(error.code));
}
