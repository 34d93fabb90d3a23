import type { CopySession, Row } from '../../postgresql/connection.ts';
import { ConnectError, QueryError } from '../../postgresql/failure.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import { type Held, hold } from '../held.ts';
import type { EnginePorts } from '../job.ts';

/** Longer than a migration may last; a timer of Node holds 24 days. */
export const patient = 15 * 86_400_000;

export interface Opening {
  readonly signal?: AbortSignal | undefined;
  /** As others see the session. */
  readonly name: string;
}

/** A session in which no setting of the role or the database cuts a copy short or changes how values are written. */
export async function openSession(door: PostgresSource, ports: EnginePorts, opening: Opening): Promise<CopySession> {
  const session = await ports.connectPostgres(door, {
    dbname: door.dbname,
    limit: ports.waits.connect,
    applicationName: opening.name,
    signal: opening.signal,
  });
  try {
    await session.query(calm);
    return session;
  } catch (error) {
    await session.end();
    throw error;
  }
}

/** Opens, works, and closes whatever happens. */
export async function within<T>(
  door: PostgresSource,
  ports: EnginePorts,
  opening: Opening,
  work: (session: CopySession) => Promise<T>,
): Promise<T> {
  const session = await openSession(door, ports, opening);
  try {
    return await work(session);
  } finally {
    await session.end();
  }
}

/** The rows of the last statement. */
export async function rowsOf(session: CopySession, text: string, limit?: number): Promise<readonly Row[]> {
  return (await session.query(text, limit)).at(-1) ?? [];
}

/** The only value of the only row, if there is one. */
export async function oneValue(session: CopySession, text: string, limit?: number): Promise<string | undefined> {
  const [row] = await rowsOf(session, text, limit);
  return row === undefined ? undefined : (Object.values(row)[0] ?? undefined);
}

const settings = {
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
const calm = `SELECT set_config(s.name, w.value, false) FROM (VALUES ${Object.entries(settings)
  .map(([name, value]) => `('${name}', '${value}')`)
  .join(', ')}) AS w (name, value) JOIN pg_catalog.pg_settings s ON s.name = lower(w.name)`;

/** A session that outlives outages. */
export function holdSession(door: PostgresSource, ports: EnginePorts, opening: Opening): Held<CopySession> {
  return hold({
    open: () => openSession(door, ports, opening),
    close: (session) => session.end(),
    passes,
    patience: ports.waits.patience,
  });
}

/** The network, a server that restarts (57P0.) or is full (53...), a session that was ended. */
function passes(error: unknown): boolean {
  if (error instanceof ConnectError) return error.phase === 'network' || /^(57P0|53|08|E[A-Z]+$)/.test(error.code);
  return error instanceof QueryError && (error.lost || /^(57P0|53|08)/.test(error.code));
}
