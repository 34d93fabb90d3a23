import { sanitizeLine } from '../../../base/sanitize.ts';
import type { PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import {
  buildProbeTransactionSql,
  poolerShowVersionSql,
  type SearchPathSafeSql,
  searchPathSafeRollbackSql,
} from '../../../postgresql/search-path-safe-sql.ts';
import { postgresqlStartupMessageParameters } from '../../../postgresql/startup-settings.ts';
import { buildReadOnlyPreflightTransaction } from './read-only-preflight-transaction.ts';
import type { PostgresqlSourceConnectOptions } from './source-connect-options.ts';
import type { PostgresqlConnectionResult } from './source-facts.ts';

/**
 * Reads the version and the state of the server on a new session, and detects whether a connection pooler is in
 * between.
 */
export async function readServerVersionAndDetectPooler(
  session: PostgresqlSession,
  { source, timeouts, onSend }: PostgresqlSourceConnectOptions,
): Promise<PostgresqlConnectionResult> {
  const send: SendMessage = (text) => {
    onSend(source.dbname, text);
    return session.query(text, timeouts.query);
  };
  try {
    const pid = wholeNumberIn(firstRow(await send(pidMessage)), 'pid');
    const row = await readIdentity(send);
    const version = wholeNumberIn(row, 'v');
    if (version === undefined) return { kind: 'refused', code: 'PROTOCOL', message: 'server_version_num is missing' };
    return {
      kind: 'entered',
      version,
      versionText: sanitizeLine(row?.ver ?? ''),
      inRecovery: row?.rec === 't',
      superuser: row?.su === 'on',
      pooler: poolerEvidence(session.processId, pid, wholeNumberIn(row, 'pid')) ?? session.startupRefusal,
      startupRefusal: session.startupRefusal ?? ignoredSettings(row),
      ssl: session.tls !== undefined,
      authentication: session.authentication,
      serverPort: wholeNumberIn(row, 'port'),
    };
  } catch (error) {
    if (!(error instanceof PostgresqlQueryError)) throw error;
    const pooler = error.lost ? undefined : await poolerByName(send);
    return { kind: 'refused', code: error.code, message: error.message, pooler, asked: true };
  }
}

type SendMessage = (text: SearchPathSafeSql) => Promise<readonly (readonly PostgresqlRow[])[]>;

/** The first message of the session; a pooler in transaction mode assigns a server process to it. */
const pidMessage = buildProbeTransactionSql('SELECT pg_backend_pid() AS pid');

const identityQuery = `
  SELECT
    current_setting('server_version_num') AS v,
    version() AS ver,
    pg_is_in_recovery() AS rec,
    current_setting('is_superuser') AS su,
    inet_server_port() AS port,
    (SELECT reset_val FROM pg_settings WHERE name = 'search_path') AS path,
    pg_backend_pid() AS pid
`;

const shortIdentityMessage = buildProbeTransactionSql(
  "SELECT current_setting('server_version_num') AS v, version() AS ver",
);

/** Products that imitate PostgreSQL may lack functions, or settings that the read-only transaction uses. */
async function readIdentity(send: SendMessage): Promise<PostgresqlRow | undefined> {
  try {
    return firstRow(await send(buildReadOnlyPreflightTransaction([identityQuery])));
  } catch (error) {
    if (!(error instanceof PostgresqlQueryError) || error.lost) throw error;
    await send(searchPathSafeRollbackSql);
    return firstRow(await send(shortIdentityMessage));
  }
}

/** Without a pooler, the same server process answers the login and every statement. */
function poolerEvidence(
  atLogin: number | undefined,
  first: number | undefined,
  later: number | undefined,
): string | undefined {
  if (first === undefined) return undefined;
  if (atLogin === undefined) return `no process was reported at login, and process ${first} ran the first statement`;
  if (atLogin !== first)
    return `process ${atLogin} was reported at login, and process ${first} ran the first statement`;
  return later === undefined || later === first
    ? undefined
    : `process ${first} ran the first statement, and process ${later} a later one`;
}

/**
 * A pooler may accept the settings of the startup message without passing them on; reset_val shows the values that the
 * session began with.
 */
function ignoredSettings(row: PostgresqlRow | undefined): string | undefined {
  return row?.path == null || row.path === postgresqlStartupMessageParameters.search_path
    ? undefined
    : 'the settings of the startup message were not passed on';
}

/** The admin console of a pooler rejects SELECT, but reports its product in response to SHOW VERSION. */
async function poolerByName(send: SendMessage): Promise<string | undefined> {
  try {
    const row = firstRow(await send(poolerShowVersionSql));
    const name = Object.values(row ?? {}).find((value) => /bouncer|odyssey|pgcat|pgpool/i.test(value ?? ''));
    return name == null ? undefined : sanitizeLine(name);
  } catch (error) {
    if (error instanceof PostgresqlQueryError) return undefined;
    throw error;
  }
}

function firstRow(sets: readonly (readonly PostgresqlRow[])[]): PostgresqlRow | undefined {
  return sets.flat()[0];
}

function wholeNumberIn(row: PostgresqlRow | undefined, name: string): number | undefined {
  const value = row?.[name];
  return value == null || !/^\d+$/.test(value) ? undefined : Number(value);
}
