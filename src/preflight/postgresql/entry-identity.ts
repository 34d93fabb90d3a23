import { cleaned } from '../../platform/cleaned.ts';
import type { PgSession, Row } from '../../postgresql/connection.ts';
import { QueryError } from '../../postgresql/failure.ts';
import type { Door } from './door.ts';
import type { Entry } from './ground.ts';
import { answersOf, readOnly } from './message.ts';

/** Who answers on a fresh session, and whether something stands between. */
export async function identify(session: PgSession, door: Door): Promise<Entry> {
  const ask = (text: string) => {
    door.onSent(door.source.dbname, text);
    return session.query(text, door.limits.query);
  };
  try {
    const pid = numberIn(first(await ask(pidQuery)), 'pid');
    const row = await describe(ask);
    const version = numberIn(row, 'v');
    if (version === undefined) return { kind: 'refused', code: 'PROTOCOL', message: 'it does not tell its version' };
    return {
      kind: 'entered',
      version,
      versionText: cleaned(row?.ver ?? ''),
      inRecovery: row?.rec === 't',
      superuser: row?.su === 'on',
      pooler: between(session.processId, pid, numberIn(row, 'pid')),
      ssl: session.tls !== undefined,
      passwordAsked: session.passwordAsked,
      serverPort: numberIn(row, 'port'),
    };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const pooler = error.lost ? undefined : await poolerByName(ask);
    return { kind: 'refused', code: error.code, message: error.message, pooler, asked: true };
  }
}

type Ask = (text: string) => Promise<readonly (readonly Row[])[]>;

/** Bare, so that it is the first thing a pooler has to give to a server process. */
const pidQuery = 'SELECT pg_backend_pid() AS pid';

const identityQuery =
  "SELECT current_setting('server_version_num') AS v, version() AS ver, pg_is_in_recovery() AS rec, " +
  "current_setting('is_superuser') AS su, inet_server_port() AS port, pg_backend_pid() AS pid";

/** Products that only speak like PostgreSQL may know neither the guards nor every function. */
async function describe(ask: Ask): Promise<Row | undefined> {
  try {
    return first(answersOf(await ask(readOnly([identityQuery])), 1));
  } catch (error) {
    if (!(error instanceof QueryError) || error.lost) throw error;
    await ask('ROLLBACK');
    return first(await ask("SELECT current_setting('server_version_num') AS v, version() AS ver"));
  }
}

function between(told: number | undefined, pid: number | undefined, later: number | undefined): string | undefined {
  if (pid === undefined) return undefined;
  if (told === undefined) return `it told no process at login, and process ${pid} answered`;
  if (told !== pid) return `it told process ${told} at login, and process ${pid} answered`;
  return later === undefined || later === pid ? undefined : `process ${pid} answered, then process ${later}`;
}

/** The console of a pooler answers no SELECT; it tells its name. */
async function poolerByName(ask: Ask): Promise<string | undefined> {
  try {
    const row = first(await ask('SHOW VERSION'));
    const name = Object.values(row ?? {}).find((value) => /bouncer|odyssey|pgcat|pgpool/i.test(value ?? ''));
    return name == null ? undefined : cleaned(name);
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

function first(sets: readonly (readonly Row[])[]): Row | undefined {
  return sets[0]?.[0];
}

function numberIn(row: Row | undefined, name: string): number | undefined {
  const value = row?.[name];
  return value == null || !/^\d+$/.test(value) ? undefined : Number(value);
}
