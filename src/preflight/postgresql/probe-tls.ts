import { ConnectError, connectErrorCodes } from '../../platform/connect-error.ts';
import type { TlsSession } from '../../platform/tls-session.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import type { TlsFacts } from '../network/network-facts.ts';
import type { SourceConnectOptions } from './source-connect-options.ts';

/**
 * What the session, or its failure, tells of TLS. Where the other way to connect may be the cure, a second connection
 * without a password finds out whether it would be let past the host rules.
 */
export async function probeTls(
  door: SourceConnectOptions,
  outcome: PostgresqlSession | ConnectError,
): Promise<TlsFacts> {
  const refused = outcome instanceof ConnectError ? outcome : undefined;
  if (refused !== undefined && (refused.phase === 'network' || codesWithoutTlsAnswer.has(refused.code))) {
    return { offered: 'not_asked', ...sessionTlsFacts(refused.tls) };
  }
  if (door.source.ssl === 'disable') return probeWithTls(door, refused);
  if (refused?.code === connectErrorCodes.noTls) {
    const knock = await connectWithoutPassword(door, 'disable');
    return { offered: 'no', plaintext: knock.passedHostRules ? 'accepted' : 'refused' };
  }
  if (refused?.phase === 'tls') return { offered: 'yes', failure: refused.message };
  return { offered: 'yes', ...sessionTlsFacts(outcome.tls) };
}

/** The connection was made without TLS, as asked: would the server have it with? */
async function probeWithTls(door: SourceConnectOptions, refused: ConnectError | undefined): Promise<TlsFacts> {
  const knock = await connectWithoutPassword(door, 'require');
  if (knock.code === connectErrorCodes.noTls) return { offered: 'no', ...plaintextFacts(refused, false) };
  if (knock.phase === 'tls') return { offered: 'yes', failure: knock.message, ...plaintextFacts(refused, false) };
  return { offered: 'yes', ...sessionTlsFacts(knock.tls), ...plaintextFacts(refused, knock.passedHostRules) };
}

/** Refused by a host rule without TLS and let past one with it: then it was for want of TLS. */
function plaintextFacts(refused: ConnectError | undefined, pastWithTls: boolean): Pick<TlsFacts, 'plaintext'> {
  if (refused === undefined || refused.code !== noHostRule) return { plaintext: 'accepted' };
  return pastWithTls ? { plaintext: 'refused' } : {};
}

interface LoginAttempt {
  /** The host rules let it through, to the password or beyond. */
  readonly passedHostRules: boolean;
  readonly phase?: string;
  readonly code?: string;
  readonly message: string;
  readonly tls?: TlsSession | undefined;
}

/** Connects as far as one comes without a password, so that none is ever sent the other way. */
async function connectWithoutPassword(door: SourceConnectOptions, ssl: 'require' | 'disable'): Promise<LoginAttempt> {
  const { dbname } = door.source;
  const bare = { ...door.source, ssl, password: undefined };
  try {
    const session = await connectPostgresql(bare, { dbname, limit: door.timeouts.connect, signal: door.signal });
    await session.end();
    return { passedHostRules: true, message: '', tls: session.tls };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const { phase, code, message, tls } = error;
    return { passedHostRules: phase === 'startup' && code !== noHostRule, phase, code, message, tls };
  }
}

/** Nobody answered who could be asked about TLS. */
const codesWithoutTlsAnswer: ReadonlySet<string> = new Set([
  connectErrorCodes.protocol,
  connectErrorCodes.timeout,
  connectErrorCodes.closed,
  connectErrorCodes.aborted,
]);

/** invalid_authorization_specification: no rule, a rule that rejects, a role without LOGIN. */
const noHostRule = '28000';

function sessionTlsFacts(tls: TlsSession | undefined): Partial<TlsFacts> {
  const { version, certificate } = tls ?? {};
  return { ...(version === undefined ? {} : { version }), ...(certificate === undefined ? {} : { certificate }) };
}
