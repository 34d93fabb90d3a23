import { connectPostgresql } from '../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../postgresql/endpoint.ts';
import { makeSessionSearchPathSafe, type SearchPathSafeSession } from '../../postgresql/search-path-safe-session.ts';

export interface PinnedOptions {
  /** application_name of the session. */
  readonly name: string;
  /** Time limit of connecting, in milliseconds. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
  /** Parameters by lower-case name, beside those of every pinned session; names and values are not escaped. */
  readonly settings: Readonly<Record<string, string>>;
  /** Absent: a connection of its own. */
  readonly connect?: typeof connectPostgresql;
}

/** Opens a session with fixed settings, so that those stored for the role or the database do not apply. */
export async function openPinned(
  endpoint: PostgresqlEndpoint,
  { name, limit, signal, settings, connect = connectPostgresql }: PinnedOptions,
): Promise<SearchPathSafeSession> {
  const session = await connect(endpoint, { dbname: endpoint.dbname, limit, applicationName: name, signal });
  try {
    const pinned = await makeSessionSearchPathSafe(session);
    await pinned.query(setQuery({ ...common, ...settings }));
    return pinned;
  } catch (error) {
    await session.end();
    throw error;
  }
}

/** Without time limits of the server, and with values in a form that does not depend on it. */
const common = {
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  xmloption: 'content',
};

/** Skips parameters that the server does not have; pg_settings has names such as `DateStyle` in mixed case. */
function setQuery(settings: Readonly<Record<string, string>>): string {
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  return `
    SELECT set_config(s.name, w.value, false)
    FROM (VALUES ${values.join(', ')}) AS w (name, value)
    JOIN pg_catalog.pg_settings s ON lower(s.name) = w.name`;
}
