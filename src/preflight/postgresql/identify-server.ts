import { sanitizeRemoteText } from '../../platform/sanitize-remote-text.ts';
import type { PostgresqlRow, PostgresqlSession } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { queryResultSets, readOnlyMessage } from './read-only-message.ts';
import type { SourceConnectOptions } from './source-connect-options.ts';
import type { PostgresqlConnectionResult } from './source-facts.ts';

/** Who answers on a fresh session, and whether something stands between. */
export async function identifyServer(
  session: PostgresqlSession,
  door: SourceConnectOptions,
): Promise<PostgresqlConnectionResult> {
  const ask = (text: string) => {
    door.onSent(door.source.dbname, text);
    return session.query(text, door.timeouts.query);
  };
  try {
    const pid = wholeNumberIn(firstRow(await ask(pidQuery)), 'pid');
    const row = await readIdentity(ask);
    const version = wholeNumberIn(row, 'v');
    if (version === undefined) return { kind: 'refused', code: 'PROTOCOL', message: 'it does not tell its version' };
    return {
      kind: 'entered',
      version,
      versionText: sanitizeRemoteText(row?.ver ?? ''),
      inRecovery: row?.rec === 't',
      superuser: row?.su === 'on',
      pooler: poolerEvidence(session.processId, pid, wholeNumberIn(row, 'pid')),
      ssl: session.tls !== undefined,
      passwordAsked: session.passwordAsked,
      serverPort: wholeNumberIn(row, 'port'),
    };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const pooler = error.lost ? undefined : await poolerByName(ask);
    return { kind: 'refused', code: error.code, message: error.message, pooler, asked: true };
  }
}

type SendStatement = (text: string) => Promise<readonly (readonly PostgresqlRow[])[]>;

/** Bare, so that it is the first thing a pooler has to give to a server process. */
const pidQuery = 'SELECT pg_backend_pid() AS pid';

const identityQuery =
  "SELECT current_setting('server_version_num') AS v, version() AS ver, pg_is_in_recovery() AS rec, " +
  "current_setting('is_superuser') AS su, inet_server_port() AS port, pg_backend_pid() AS pid";

/** Products that only speak like PostgreSQL may know neither the guards nor every function. */
async function readIdentity(ask: SendStatement): Promise<PostgresqlRow | undefined> {
  try {
    return firstRow(queryResultSets(await ask(readOnlyMessage([identityQuery])), 1));
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    await ask('ROLLBACK');
    return firstRow(await ask("SELECT current_setting('server_version_num') AS v, version() AS ver"));
  }
}

function poolerEvidence(
  told: number | undefined,
  pid: number | undefined,
  later: number | undefined,
): string | undefined {
  if (pid === undefined) return undefined;
  if (told === undefined) return `it told no process at login, and process ${pid} answered`;
  if (told !== pid) return `it told process ${told} at login, and process ${pid} answered`;
  return later === undefined || later === pid ? undefined : `process ${pid} answered, then process ${later}`;
}

/** The console of a pooler answers no SELECT; it tells its name. */
async function poolerByName(ask: SendStatement): Promise<string | undefined> {
  try {
    const row = firstRow(await ask('SHOW VERSION'));
    const name = Object.values(row ?? {}).find((value) => /bouncer|odyssey|pgcat|pgpool/i.test(value ?? ''));
    return name == null ? undefined : sanitizeRemoteText(name);
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

function firstRow(sets: readonly (readonly PostgresqlRow[])[]): PostgresqlRow | undefined {
  return sets[0]?.[0];
}

function wholeNumberIn(row: PostgresqlRow | undefined, name: string): number | undefined {
  const value = row?.[name];
  return value == null || !/^\d+$/.test(value) ? undefined : Number(value);
}
