import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import type { DatabaseEndpoint } from '../schema-copier.ts';

/** Milliseconds for one statement: a view over a thousand others takes a while, and nobody waits for ever. */
export const schemaStatementTimeout = 600_000;

/** As others see the sessions, and pg_dump's. */
export const schemaApplicationName = 'cloudctl-schema';

/** The signal decides; this is for a server that does not answer at all. */
const connectTimeout = 30_000;

/**
 * What the role or the database of either side may have set otherwise, and what would change the words of a statement or
 * how they are understood. The empty path makes the server write every name in full, and with quotes: a word that is
 * free in one release is reserved in the next.
 */
const sessionSettings = {
  client_encoding: 'UTF8',
  search_path: '',
  quote_all_identifiers: 'on',
  standard_conforming_strings: 'on',
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  transform_null_equals: 'off',
  xmloption: 'content',
  check_function_bodies: 'off',
  default_tablespace: '',
  default_table_access_method: 'heap',
  default_transaction_read_only: 'off',
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

/** Names that a server does not know are left out, so that every release understands it. */
const applySettingsQuery = `SELECT set_config(s.name, w.value, false) FROM (VALUES ${Object.entries(sessionSettings)
  .map(([name, value]) => `('${name}', '${value}')`)
  .join(', ')}) AS w (name, value) JOIN pg_catalog.pg_settings s ON lower(s.name) = w.name`;

export interface SchemaSession {
  readonly session: PostgresqlSession;
  /** server_version_num */
  readonly version: number;
}

/** Opens a session in which statements mean the same on every server, does the work and closes it. */
export async function withSchemaSession<T>(
  door: DatabaseEndpoint,
  signal: AbortSignal,
  work: (side: SchemaSession) => Promise<T>,
): Promise<T> {
  const session = await connectPostgresql(door, {
    dbname: door.dbname,
    limit: connectTimeout,
    applicationName: schemaApplicationName,
    signal,
  });
  try {
    await session.query(applySettingsQuery);
    const version = Number(await queryValueColumn(session, `SELECT current_setting('server_version_num') AS value`));
    return await work({ session, version });
  } finally {
    await session.end();
  }
}

/** The column `value` of the only row. */
export async function queryValueColumn(session: PostgresqlSession, text: string): Promise<string | null | undefined> {
  const [rows = []] = await session.query(text, schemaStatementTimeout);
  return rows[0]?.value;
}

/** One column of every row, as texts. */
export async function queryColumn(session: PostgresqlSession, text: string, name: string): Promise<readonly string[]> {
  const [rows = []] = await session.query(text, schemaStatementTimeout);
  return rows.flatMap((row) => row[name] ?? []);
}
