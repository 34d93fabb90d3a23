import { connectPostgresql } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { makeSessionSearchPathSafe, type SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { buildSetSessionSettingsQuery } from '../session-settings.ts';

/**
 * Milliseconds per statement. The timeout is long, because DDL for a view over a thousand other views takes minutes.
 */
export const schemaCopyStatementTimeout = 600_000;

/** application_name of sessions that copy a schema, and of pg_dump. */
export const schemaCopyApplicationName = 'cloudctl-schema';

/** Time limit in milliseconds for connecting, in addition to the signal of the caller. */
const connectTimeout = 30_000;

/**
 * Fixed values for settings that change how DDL is written or parsed, which override those of the role and the
 * database. With an empty search_path the server qualifies every name; with quote_all_identifiers a word that is a
 * keyword only in a later release stays a name.
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
  statement_timeout: '0',
  lock_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '0',
};

export interface SchemaCopySession {
  readonly session: SearchPathSafeSession;
  /** `server_version_num`, for example 170005. */
  readonly version: number;
}

/** Runs a task in a new session with fixed settings and closes it in any case. */
export async function withSchemaCopySession<T>(
  endpoint: PostgresqlEndpoint,
  signal: AbortSignal,
  work: (side: SchemaCopySession) => Promise<T>,
): Promise<T> {
  const session = await connectPostgresql(endpoint, {
    dbname: endpoint.dbname,
    limit: connectTimeout,
    applicationName: schemaCopyApplicationName,
    signal,
  });
  try {
    const pinned = await makeSessionSearchPathSafe(session);
    await pinned.query(buildSetSessionSettingsQuery(sessionSettings));
    const version = Number(await queryValueOfFirstRow(pinned, `SELECT current_setting('server_version_num') AS value`));
    return await work({ session: pinned, version });
  } finally {
    await session.end();
  }
}

/** The value in the column `value` of the first row. */
export async function queryValueOfFirstRow(
  session: SearchPathSafeSession,
  text: string,
): Promise<string | null | undefined> {
  const [rows = []] = await session.query(text, schemaCopyStatementTimeout);
  return rows[0]?.value;
}

/** The values of one column in all rows, without nulls. */
export async function queryColumnValues(
  session: SearchPathSafeSession,
  text: string,
  name: string,
): Promise<readonly string[]> {
  const [rows = []] = await session.query(text, schemaCopyStatementTimeout);
  return rows.flatMap((row) => row[name] ?? []);
}
