import { CliError, usageError } from '../base/errors.ts';
import { DatabaseConnectError } from '../platform/connect-error.ts';
import type { Clock, ProcessEnvironment } from '../platform/host.ts';
import { isLoopbackHost } from '../platform/loopback-host.ts';
import { connectPostgresql } from '../postgresql/connection.ts';
import { type PostgresqlEndpoint, parsePostgresqlEndpoint } from '../postgresql/endpoint.ts';
import { findPasswordInPgpasswordOrPgpass } from '../postgresql/pgpass.ts';
import { PostgresqlQueryError } from '../postgresql/query-error.ts';
import { makeSessionSearchPathSafe, type SearchPathSafeSession } from '../postgresql/search-path-safe-session.ts';
import { verifiesServerIdentity } from '../postgresql/ssl-options.ts';
import type { ReconnectingSqlRunner } from './inventory-work-queue.ts';

/** The server of CLOUDCTL_QUEUE_URL. Throws a CliError (usage). */
export function readInventoryQueueServerFromEnvironment(
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
  readText: (path: string) => string | undefined,
): PostgresqlEndpoint {
  const { CLOUDCTL_QUEUE_URL: url = '' } = env;
  if (url === '')
    throw usageError('the server of the queue is missing', 'set CLOUDCTL_QUEUE_URL to postgres://USER@HOST/DBNAME');
  let source: PostgresqlEndpoint;
  try {
    source = parsePostgresqlEndpoint({ environment: url }, readText).source;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const message = error.message.replaceAll('CLOUDCTL_SOURCE', 'CLOUDCTL_QUEUE_URL');
    throw usageError(message, 'set CLOUDCTL_QUEUE_URL to postgres://USER@HOST/DBNAME');
  }
  // The server of the queue must prove its identity: its rows decide to which servers this machine sends passwords.
  if (!isLoopbackHost(source.host) && source.host !== '::1' && !verifiesServerIdentity(source.verify))
    throw usageError(
      'CLOUDCTL_QUEUE_URL does not verify the server',
      'add `sslmode=verify-full&sslrootcert=FILE` to the URL',
    );
  return { ...source, password: source.password ?? findPasswordInPgpasswordOrPgpass(source, env, platform).password };
}

export interface InventoryWorkQueueSession {
  readonly send: ReconnectingSqlRunner;
  readonly end: () => Promise<void>;
}

/** Milliseconds for which a statement is repeated while the server does not respond. */
const awayLimit = 120_000;
/** Time limit of one statement in milliseconds. */
const statementLimit = 10_000;
const connectLimit = 5000;

/**
 * One session that is opened again when it is lost; statements run one after the other. All statements of a queue may be
 * repeated. Throws a CliError `unreachable` when the server is away for too long.
 * @param signal once aborted, a statement is sent only once and not repeated; sources can still be returned to the queue
 */
export function openQueueDatabaseSession(
  source: PostgresqlEndpoint,
  {
    clock,
    signal,
    limit = awayLimit,
  }: { readonly clock: Clock; readonly signal: AbortSignal; readonly limit?: number },
): InventoryWorkQueueSession {
  let session: SearchPathSafeSession | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const connect = async () => {
    const opened = await connectPostgresql(source, {
      dbname: source.dbname,
      limit: connectLimit,
      applicationName: 'cloudctl-inventory',
    });
    try {
      return await makeSessionSearchPathSafe(opened);
    } catch (error) {
      await opened.end();
      throw error;
    }
  };
  const attempt = async (sql: readonly string[]) => {
    session ??= await connect();
    const sets = await session.query(sql.join('; '), statementLimit);
    return sets.findLast((rows) => rows.length > 0) ?? [];
  };
  const repeat: ReconnectingSqlRunner = async (sql) => {
    const since = clock.now();
    for (let wait = 250; ; wait = Math.min(5000, wait * 2)) {
      try {
        return await attempt(sql);
      } catch (error) {
        const failed = session;
        session = undefined;
        await failed?.end();
        if (!isTemporary(error) || signal.aborted || clock.now() - since >= limit) throw toQueueError(error, source);
        await clock.sleep(wait, signal).catch(() => {});
      }
    }
  };
  return {
    send(sql) {
      const next = last.then(() => repeat(sql));
      last = next.catch(() => {});
      return next;
    },
    async end() {
      await last;
      await session?.end();
    },
  };
}

/** Whether the server may accept the statement a moment later: connection lost, starting, stopping, read-only after a failover. */
function isTemporary(error: unknown): boolean {
  if (error instanceof DatabaseConnectError)
    return error.phase === 'network' || /^(E[A-Z]+|57P0[1-3]|53300)$/.test(error.code);
  if (!(error instanceof PostgresqlQueryError)) return false;
  return error.lost || /^(57P0[1-3]|25006|40001|40P01)$/.test(error.code);
}

function toQueueError(error: unknown, { host, port }: PostgresqlEndpoint): unknown {
  if (!(error instanceof DatabaseConnectError) && !(error instanceof PostgresqlQueryError)) return error;
  return new CliError('unreachable', `could not use the queue on ${host}:${port}: ${error.message}`, {
    detail: 'sources without a result are checked again after their lease has expired',
    hint: 'run the same command again when the server responds',
    cause: error,
  });
}
