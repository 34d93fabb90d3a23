import type { TlsSession } from '../../platform/tls-session.ts';
import { connect, type PgSession } from '../../postgresql/connection.ts';
import { ConnectError, ownCodes } from '../../postgresql/failure.ts';
import type { TlsFacts } from '../network/facts.ts';
import type { Door } from './door.ts';

/**
 * What the session, or its failure, tells of TLS. Where the other way to connect may be the cure, a second connection
 * without a password finds out whether it would be let past the host rules.
 */
export async function gatherTls(door: Door, outcome: PgSession | ConnectError): Promise<TlsFacts> {
  const refused = outcome instanceof ConnectError ? outcome : undefined;
  if (refused !== undefined && (refused.phase === 'network' || mute.has(refused.code))) {
    return { offered: 'not_asked', ...facts(refused.tls) };
  }
  if (door.source.ssl === 'disable') return beside(door, refused);
  if (refused?.code === ownCodes.noTls) {
    const knock = await knocks(door, 'disable');
    return { offered: 'no', plaintext: knock.past ? 'accepted' : 'refused' };
  }
  if (refused?.phase === 'tls') return { offered: 'yes', failure: refused.message };
  return { offered: 'yes', ...facts(outcome.tls) };
}

/** The connection was made without TLS, as asked: would the server have it with? */
async function beside(door: Door, refused: ConnectError | undefined): Promise<TlsFacts> {
  const knock = await knocks(door, 'require');
  if (knock.code === ownCodes.noTls) return { offered: 'no', ...plaintext(refused, false) };
  if (knock.phase === 'tls') return { offered: 'yes', failure: knock.message, ...plaintext(refused, false) };
  return { offered: 'yes', ...facts(knock.tls), ...plaintext(refused, knock.past) };
}

/** Refused by a host rule without TLS and let past one with it: then it was for want of TLS. */
function plaintext(refused: ConnectError | undefined, pastWithTls: boolean): Pick<TlsFacts, 'plaintext'> {
  if (refused === undefined || refused.code !== noHostRule) return { plaintext: 'accepted' };
  return pastWithTls ? { plaintext: 'refused' } : {};
}

interface Knock {
  /** The host rules let it through, to the password or beyond. */
  readonly past: boolean;
  readonly phase?: string;
  readonly code?: string;
  readonly message: string;
  readonly tls?: TlsSession | undefined;
}

/** Connects as far as one comes without a password, so that none is ever sent the other way. */
async function knocks(door: Door, ssl: 'require' | 'disable'): Promise<Knock> {
  const { dbname } = door.source;
  const bare = { ...door.source, ssl, password: undefined };
  try {
    const session = await connect(bare, { dbname, limit: door.limits.connect, signal: door.signal });
    await session.end();
    return { past: true, message: '', tls: session.tls };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const { phase, code, message, tls } = error;
    return { past: phase === 'startup' && code !== noHostRule, phase, code, message, tls };
  }
}

/** Nobody answered who could be asked about TLS. */
const mute: ReadonlySet<string> = new Set([ownCodes.protocol, ownCodes.timeout, ownCodes.closed, ownCodes.aborted]);

/** invalid_authorization_specification: no rule, a rule that rejects, a role without LOGIN. */
const noHostRule = '28000';

function facts(tls: TlsSession | undefined): Partial<TlsFacts> {
  const { version, certificate } = tls ?? {};
  return { ...(version === undefined ? {} : { version }), ...(certificate === undefined ? {} : { certificate }) };
}
