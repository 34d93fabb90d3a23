import type { MemoryLimit } from '../../../platform/memory.ts';
import { ConnectError, clientErrorCodes } from '../../../platform/network-errors.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../../../postgresql/endpoint.ts';
import { QueryError } from '../../../postgresql/query-error.ts';
import { readOnlySql } from '../../../postgresql/search-path-safe-sql.ts';
import { type CheckOutcome, failOutcome, skipOutcome } from '../finding.ts';
import { type QueryResults, queryValue } from '../query.ts';
import { postgresqlMethods } from './check.ts';
import {
  blocksDatabase,
  type CatalogLock,
  catalogLocksQuery,
  catalogLocksSql,
  decodeLocks,
} from './queries/activity.ts';
import type { DatabaseAccess, LoginDiagnosis, PostgresqlConnectionResult, PostgresqlFacts } from './source-facts.ts';

/** Everything that is needed to connect to a source. */
export interface SourceConnectOptions {
  /** The source, with the IP address to connect to. */
  readonly source: PostgresqlEndpoint;
  readonly timeouts: SourceTimeouts;
  readonly signal: AbortSignal;
  readonly memory: MemoryLimit;
  /** Called with every statement before it is sent to the source. */
  readonly onSend: (database: string, text: string) => void;
}

/** Milliseconds. */
export interface SourceTimeouts {
  /** Time limit for the lookup of the host name, and for one TCP connection. */
  readonly address: number;
  /** Time limit from the TCP connection until the server accepts statements. */
  readonly connect: number;
  /** For one statement. */
  readonly query: number;
}

/**
 * The checks of the login, in the order in which a login passes them. Each connection error belongs to exactly one of
 * these checks.
 */
const loginSteps = [
  'tcp-connect',
  'tls-negotiate',
  'tls-required',
  'auth-hba',
  'auth-method',
  'auth-password',
  'db-exists',
  'not-postgres',
  'pooler-detected',
] as const;

type LoginStep = (typeof loginSteps)[number];

export type FailedConnection = Exclude<PostgresqlConnectionResult, { kind: 'entered' }>;

/**
 * The outcome of the check of one login step. `refused` builds the outcome if the connection failed in this step. The
 * check is skipped if an earlier step failed, and passes if a later step failed. A connection error with an unknown
 * code is assigned to the check `tcp-connect`, so that every error is reported.
 */
export function evaluateLogin(
  facts: PostgresqlFacts,
  gate: LoginStep,
  passed: () => CheckOutcome,
  refused: (why: FailedConnection) => CheckOutcome,
): CheckOutcome {
  const { connection } = facts;
  if (connection.kind === 'entered') return passed();
  const at = stepOf(facts, connection);
  if (at === gate) return refused(connection);
  return loginSteps.indexOf(at) < loginSteps.indexOf(gate)
    ? skipOutcome(`${at} failed: ${connection.message}`)
    : passed();
}

export function failedLoginOutcome(
  why: FailedConnection,
  more: Omit<CheckOutcome, 'status' | 'blocks' | 'observed'>,
): CheckOutcome {
  return failOutcome(postgresqlMethods, why.message, more);
}

/** Why the fix of a failed login is not simulated. */
export const loginFailedReason = 'without a login nothing else was checked';

/** Why the server did not complete the login, as further connections showed; undefined if they showed nothing. */
export function explainUnansweredLogin(why: FailedConnection): ReturnType<typeof explainRefusedLogin> | undefined {
  const silence = why.kind === 'refused' ? why.silence : undefined;
  if (silence === undefined) return undefined;
  const lock = explainLocks(silence.locks);
  if (lock !== undefined) return { detail: lock.detail, fix: { text: lock.text } };
  return silence.answersTlsRequest
    ? {
        detail:
          'The server process answers, but a new session does not get past its login: another session locks a system catalog that all databases share (such as pg_authid), or the server is overloaded.',
        fix: {
          text: "In a session that is open, find the process: SELECT pid, relation::pg_catalog.regclass FROM pg_catalog.pg_locks WHERE mode OPERATOR(pg_catalog.=) 'AccessExclusiveLock' AND granted. Then end its transaction.",
        },
      }
    : {
        detail:
          'The operating system accepts the connection, and the service behind it sends nothing: the server process is frozen or stopped (as on a suspended machine), a proxy has no server behind it, or the service is not PostgreSQL.',
        fix: {
          text: 'On the server, check the state of the process: ps -o pid,stat,cmd -C postgres (T is stopped; kill -CONT PID resumes it).',
        },
      };
}

/** Why a reachable server rejects the session, by SQLSTATE or error code of the operating system. */
export function explainRefusedLogin(code: string): {
  readonly detail: string;
  readonly fix: { readonly text: string };
} {
  switch (code) {
    case '57P03':
      return {
        detail: 'The server is starting, stopping or recovering.',
        fix: { text: 'Wait until the server accepts connections, and run the command again.' },
      };
    case '53300':
      return {
        detail:
          'All connections allowed for the server, the role or the database are in use; the migration would be rejected as well.',
        fix: {
          text: 'Close idle connections, or raise max_connections (restart), ALTER ROLE … CONNECTION LIMIT or ALTER DATABASE … CONNECTION LIMIT.',
        },
      };
    case clientErrorCodes.timeout:
      return {
        detail:
          'The connection was accepted but there was no response: the server hangs, a system table is locked (VACUUM FULL, an open transaction), a proxy has no server behind it, or the service is not PostgreSQL.',
        fix: { text: 'Check which service listens on the port of the source, and read the server log.' },
      };
    case '57P05':
    case '25P03':
    case '25P04':
    case '57014':
      return {
        detail:
          'A timeout of the role, the database or the server is so short that no session can run its first query.',
        fix: {
          text: 'Disable the timeout for the role: ALTER ROLE … SET idle_session_timeout = 0 (likewise statement_timeout, transaction_timeout, idle_in_transaction_session_timeout). The change applies to new sessions without a restart.',
        },
      };
    case '58P01':
      return {
        detail:
          'A file that every session loads is missing, usually a library in session_preload_libraries of the role, the database or the server.',
        fix: {
          text: 'Install the file, or remove it from the setting: ALTER DATABASE … RESET session_preload_libraries, ALTER ROLE … RESET session_preload_libraries.',
        },
      };
    case clientErrorCodes.closed:
      return {
        detail:
          'The connection was accepted and closed without a response: a load balancer has no server behind it, or the server is shutting down.',
        fix: { text: 'Check which service listens on the port of the source, and read the server log.' },
      };
    case 'P0001':
      return {
        detail: 'The password was accepted, but a login event trigger raised an error.',
        fix: {
          text: 'Exempt the role in the login event trigger (ALTER EVENT TRIGGER … DISABLE disables it for all roles).',
        },
      };
    case clientErrorCodes.aborted:
      return {
        detail:
          'The time limit of the run was reached before the login succeeded. With more time, the preflight finds out whether the server is frozen or a lock stops the login.',
        fix: { text: 'Increase the time limit with --deadline.' },
      };
    default:
      return { detail: `The server rejected the login (${code}).`, fix: { text: 'Read the server log.' } };
  }
}

function stepOf({ tls }: PostgresqlFacts, connection: FailedConnection): LoginStep {
  if (connection.kind === 'unreachable') return 'tcp-connect';
  if (connection.pooler !== undefined) return 'pooler-detected';
  const { code } = connection;
  if (code === '28000') return tls.plaintext === 'refused' ? 'tls-required' : 'auth-hba';
  return stepByCode[code] ?? 'tcp-connect';
}

const stepByCode: Readonly<Record<string, LoginStep>> = {
  [clientErrorCodes.noTls]: 'tls-negotiate',
  [clientErrorCodes.tls]: 'tls-negotiate',
  [clientErrorCodes.authentication]: 'auth-hba',
  [clientErrorCodes.cleartextPassword]: 'auth-method',
  [clientErrorCodes.weakScram]: 'auth-method',
  [clientErrorCodes.serverProof]: 'auth-method',
  [clientErrorCodes.channelBinding]: 'auth-method',
  '28P01': 'auth-password',
  [clientErrorCodes.noPassword]: 'auth-password',
  '3D000': 'db-exists',
  // SQLSTATEs of a denied permission for the database, and of a database that accepts no connections.
  '42501': 'db-exists',
  '55000': 'db-exists',
  [clientErrorCodes.protocol]: 'not-postgres',
};

/** `Process 4711 holds an ACCESS EXCLUSIVE lock on pg_class for 32 s.`, with the statement that ends it. */
export function explainLocks(
  locks: readonly CatalogLock[],
): { readonly detail: string; readonly text: string } | undefined {
  const [first] = locks;
  if (first === undefined) return undefined;
  const { pid, catalog, seconds } = first;
  const since = seconds === undefined ? '' : `, in a transaction that is open for ${seconds} s`;
  const detail = `${pid === undefined ? 'A prepared transaction' : `Process ${pid}`} holds an ACCESS EXCLUSIVE lock on ${catalog}${since}. Every new session waits for this lock during the login.`;
  const text =
    pid === undefined
      ? 'End the transaction: SELECT gid FROM pg_prepared_xacts, then COMMIT PREPARED or ROLLBACK PREPARED.'
      : `Wait for its transaction, or end it from another database: SELECT pg_catalog.pg_terminate_backend(${pid}).`;
  return { detail, text };
}

/** Finds out why a login to PostgreSQL received no response. The diagnosis takes at most `limit` milliseconds. */
export async function diagnoseLogin(options: SourceConnectOptions, limit = 3000): Promise<LoginDiagnosis> {
  const others = ['postgres', 'template1'].filter((name) => name !== options.source.dbname);
  const [answersTlsRequest, ...found] = await Promise.all([
    asksForTls(options, limit),
    ...others.map((dbname) => readCatalogLocks(options, dbname, limit)),
  ]);
  const locks = found.find((one) => one.length > 0) ?? [];
  return { answersTlsRequest, locks: locks.filter((lock) => blocksDatabase(lock, options.source.dbname)) };
}

/** Connects without a password, so that no password is sent to a server that was not identified. */
async function asksForTls({ source, signal }: SourceConnectOptions, limit: number): Promise<boolean> {
  const asked = { ...source, ssl: 'require' as const, verify: undefined, password: undefined };
  try {
    const session = await connectPostgresql(asked, { dbname: source.dbname, limit, signal });
    await session.end();
    return true;
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    // The connection phase is `startup` from the TLS handshake on.
    return error.phase === 'startup' || error.code === clientErrorCodes.noTls || error.code === clientErrorCodes.tls;
  }
}

async function readCatalogLocks(
  { source, signal, onSend }: SourceConnectOptions,
  dbname: string,
  limit: number,
): Promise<readonly CatalogLock[]> {
  let session: PostgresqlSession | undefined;
  try {
    session = await connectPostgresql(source, { dbname, limit, signal });
    onSend(dbname, message);
    return decodeLocks((await session.query(message, limit)).flat());
  } catch (error) {
    if (error instanceof ConnectError || error instanceof QueryError) return [];
    throw error;
  } finally {
    await session?.end();
  }
}

const message = readOnlySql([catalogLocksSql]);

/** The locks that block logins to a database which did not respond. */
export function addBlockingLocks(access: DatabaseAccess, name: string, results: QueryResults): DatabaseAccess {
  if (access.kind !== 'lost') return access;
  const locks = queryValue(results, catalogLocksQuery) ?? [];
  return { ...access, locks: locks.filter((lock) => blocksDatabase(lock, name)) };
}
