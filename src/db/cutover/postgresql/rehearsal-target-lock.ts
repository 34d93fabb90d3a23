import { CliError } from '../../../base/errors.ts';
import { sanitizeReportLine } from '../../../base/sanitize.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import type { SearchPathSafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { sqlStateOf } from '../../engine/error.ts';
import type { EngineSystem } from '../../engine/input.ts';
import { lastRows, singleValue, withSession } from '../../engine/postgresql/session.ts';

/** Advisory locks have a number: here the first 3 bytes of the SHA-256 of "cloudctl db rehearse". */
const lockNumber = 0xb41a13;

export interface RehearsalTargetLock {
  /** Ends the session, and with it the lock. */
  release(): Promise<void>;
}

/**
 * Takes an advisory lock in the target and holds it with a session of its own, so that rehearsals of other machines do
 * not use the target at the same time. The server releases the lock when the session ends, also after a crash. Throws a
 * CliError with code `busy` that names the session of the other rehearsal.
 * @param source the source as `HOST:PORT`, which an error on another machine prints
 */
export async function lockPostgresqlRehearsalTarget(
  target: PostgresqlEndpoint,
  source: string,
  ports: EngineSystem,
  signal: AbortSignal,
): Promise<RehearsalTargetLock> {
  const held = await openLockSession(target, { name: `${applicationNamePrefix}${source}`, signal }, ports);
  try {
    await acquireLock(held.session, target, ports, signal);
    return { release: held.end };
  } catch (error) {
    await held.end();
    throw error;
  }
}

async function acquireLock(
  session: SearchPathSafeSession,
  target: PostgresqlEndpoint,
  ports: EngineSystem,
  signal: AbortSignal,
): Promise<void> {
  // The server notices within two minutes that the machine of a rehearsal does not respond any more.
  await session.query('SET tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 6');
  // The session of a rehearsal that was killed just now may still exist.
  for (let attempt = 0; attempt < 5; attempt++) {
    if (attempt > 0) await ports.sleep(200, signal);
    if ((await singleValue(session, `SELECT pg_try_advisory_lock(${lockNumber})`)) === 't') return;
  }
  throw await buildBusyError(session, target);
}

const applicationNamePrefix = 'cloudctl-rehearsal of ';

interface OpenLockSession {
  readonly session: SearchPathSafeSession;
  readonly end: () => Promise<void>;
}

/** Advisory locks belong to a database, so all rehearsals must take theirs in the same one: `postgres`. */
async function openLockSession(
  target: PostgresqlEndpoint,
  opening: { readonly name: string; readonly signal: AbortSignal },
  ports: EngineSystem,
): Promise<OpenLockSession> {
  try {
    return await openUntilEnd({ ...target, dbname: 'postgres' }, opening, ports);
  } catch (error) {
    // A lock in another database does not exclude rehearsals that lock `postgres`, so it is taken only if this user cannot use `postgres`.
    const isClosed = /^(3D000|42501|28...)$/.test(sqlStateOf(error) ?? '');
    if (target.dbname === 'postgres' || !isClosed) throw error;
    return openUntilEnd(target, opening, ports);
  }
}

function openUntilEnd(
  endpoint: PostgresqlEndpoint,
  opening: { readonly name: string; readonly signal: AbortSignal },
  ports: EngineSystem,
): Promise<OpenLockSession> {
  return new Promise((resolve, reject) => {
    const ended = withSession(endpoint, ports, opening, async (session) => {
      await new Promise<void>((release) => {
        const end = () => {
          release();
          return ended;
        };
        resolve({ session, end });
      });
    });
    ended.catch(reject);
  });
}

async function buildBusyError(session: SearchPathSafeSession, target: PostgresqlEndpoint): Promise<CliError> {
  const [holder] = await lastRows(
    session,
    `SELECT a.pid, a.application_name AS name, a.usename AS username, host(a.client_addr) AS address FROM pg_locks l
     JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objsubid = 1
     AND l.objid = ${lockNumber} AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  const other =
    holder === undefined
      ? 'the other rehearsal has just ended'
      : sanitizeReportLine(
          `${holder.name ?? 'unknown program'}, from ${holder.address ?? 'the server itself'}, user ${holder.username}, process ${holder.pid} of the server`,
        );
  return new CliError('busy', `another rehearsal into ${target.host}:${target.port} is running`, {
    detail: other,
    hint: `wait until that rehearsal ends${holder === undefined ? '' : `; if that process does not exist any more, end its session with \`SELECT pg_terminate_backend(${holder.pid})\``}`,
  });
}
