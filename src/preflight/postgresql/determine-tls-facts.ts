import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../platform/connect-error.ts';
import type { TlsConnectionInfo } from '../../platform/tls-connection-info.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import { verifiesServerIdentity } from '../../postgresql/ssl-options.ts';
import type { TlsFacts } from '../network/network-facts.ts';
import type { PostgresqlSourceConnectOptions } from './source-connect-options.ts';

/**
 * Determines the TLS facts from a session, or from the error of a failed login. If the login may succeed with the other
 * TLS setting (with TLS instead of without, or the reverse), the function opens a second connection with that setting.
 * It sends no password, and finds out whether pg_hba.conf accepts the connection.
 */
export async function determinePostgresqlTlsFacts(
  options: PostgresqlSourceConnectOptions,
  result: PostgresqlSession | DatabaseConnectError,
): Promise<TlsFacts> {
  const refused = result instanceof DatabaseConnectError ? result : undefined;
  if (refused !== undefined && (refused.phase === 'network' || codesWithoutTlsAnswer.has(refused.code))) {
    return { offered: 'not_asked', ...sessionTlsFacts(refused.tls) };
  }
  if (options.source.ssl === 'disable') return probeWithTls(options, refused);
  if (refused?.code === clientSideDatabaseErrorCodes.noTls) {
    const attempt = await connectWithoutPassword(options, 'disable');
    return { offered: 'no', plaintext: attempt.passedHostRules ? 'accepted' : 'refused' };
  }
  if (refused?.phase === 'tls') return { offered: 'yes', failure: refused.message };
  const verified = refused === undefined && verifiesServerIdentity(options.source.verify);
  return { offered: 'yes', ...sessionTlsFacts(result.tls), ...(verified ? { verified } : {}) };
}

/** Finds out whether the server supports TLS, after a connection that was made without TLS as requested. */
async function probeWithTls(
  options: PostgresqlSourceConnectOptions,
  refused: DatabaseConnectError | undefined,
): Promise<TlsFacts> {
  const attempt = await connectWithoutPassword(options, 'require');
  if (attempt.code === clientSideDatabaseErrorCodes.noTls) return { offered: 'no', ...plaintextFacts(refused, false) };
  if (attempt.phase === 'tls') return { offered: 'yes', failure: attempt.message, ...plaintextFacts(refused, false) };
  return { offered: 'yes', ...sessionTlsFacts(attempt.tls), ...plaintextFacts(refused, attempt.passedHostRules) };
}

/** If pg_hba.conf refuses the connection without TLS and accepts it with TLS, it requires TLS. */
function plaintextFacts(
  refused: DatabaseConnectError | undefined,
  passedWithTls: boolean,
): Pick<TlsFacts, 'plaintext'> {
  if (refused === undefined || refused.code !== noHostRule) return { plaintext: 'accepted' };
  return passedWithTls ? { plaintext: 'refused' } : {};
}

interface LoginAttempt {
  /** Whether pg_hba.conf accepted the connection, so that the login got at least as far as the password request. */
  readonly passedHostRules: boolean;
  readonly phase?: string;
  readonly code?: string;
  readonly message: string;
  readonly tls?: TlsConnectionInfo | undefined;
}

/** Connects until the server requests the password, so that no password is sent without TLS. */
async function connectWithoutPassword(
  { source, timeouts, signal }: PostgresqlSourceConnectOptions,
  ssl: 'require' | 'disable',
): Promise<LoginAttempt> {
  const withoutPassword = { ...source, ssl, password: undefined };
  try {
    const session = await connectPostgresql(withoutPassword, {
      dbname: source.dbname,
      limit: timeouts.connect,
      signal,
    });
    await session.end();
    return { passedHostRules: true, message: '', tls: session.tls };
  } catch (error) {
    if (!(error instanceof DatabaseConnectError)) throw error;
    const { phase, code, message, tls } = error;
    return { passedHostRules: phase === 'startup' && code !== noHostRule, phase, code, message, tls };
  }
}

/** Codes of connection errors that do not show whether the server supports TLS. */
const codesWithoutTlsAnswer: ReadonlySet<string> = new Set([
  clientSideDatabaseErrorCodes.protocol,
  clientSideDatabaseErrorCodes.timeout,
  clientSideDatabaseErrorCodes.closed,
  clientSideDatabaseErrorCodes.aborted,
]);

/**
 * SQLSTATE 28000, invalid_authorization_specification: no line of pg_hba.conf matches, a line rejects the client, or
 * the role lacks LOGIN.
 */
const noHostRule = '28000';

function sessionTlsFacts(tls: TlsConnectionInfo | undefined): Partial<TlsFacts> {
  const { version, certificate } = tls ?? {};
  return { ...(version === undefined ? {} : { version }), ...(certificate === undefined ? {} : { certificate }) };
}
