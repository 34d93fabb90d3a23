import { ConnectError, connectErrorCodes } from '../../platform/connect-error.ts';
import { connectRedis, type RedisSession } from '../../redis/connection.ts';
import type { RedisSource } from '../../redis/source.ts';
import { findReachableAddress } from '../network/find-reachable-address.ts';
import type { AddressFacts, TlsFacts } from '../network/network-facts.ts';
import type { RedisConnectionResult } from './source-facts.ts';

export interface OpenedRedisSource {
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly connection: RedisConnectionResult;
  /** undefined: not entered. Whoever has it ends it. */
  readonly session: RedisSession | undefined;
  /** With the address that was dialled. */
  readonly source: RedisSource;
  /** What was said on the way. */
  readonly sent: readonly string[];
}

/** Milliseconds for a name, for TCP, and for TLS with AUTH and PING. */
const connectTimeout = 5000;

/** Looks the host up, dials, and says who we are. What goes wrong is a fact, not an error. */
export async function openRedisSource(given: RedisSource, signal: AbortSignal): Promise<OpenedRedisSource> {
  const search = findReachableAddress(given.host, given.port, { contradictions: [], limit: connectTimeout, signal });
  const open = await search.firstReachable;
  const sent = [...(given.password === undefined ? [] : ['AUTH (not shown)']), 'PING'];
  if (open === undefined) {
    const address = await search.facts;
    return {
      address,
      tls: tlsNotOffered,
      connection: unreachable(address),
      session: undefined,
      source: given,
      sent: [],
    };
  }
  const source = { ...given, address: open };
  try {
    const [session, address] = await Promise.all([
      connectRedis(source, { limit: connectTimeout, signal }),
      search.facts,
    ]);
    const tls: TlsFacts = session.tls === undefined ? tlsNotOffered : { offered: 'yes', ...session.tls };
    return { address, tls, connection: { kind: 'entered', ...session.authentication }, session, source, sent };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const { phase, code, message } = error;
    const entry: RedisConnectionResult = { kind: 'refused', phase, code, message };
    return { address: await search.facts, tls: tlsOf(error), connection: entry, session: undefined, source, sent };
  }
}

/** Nobody says AUTH without a password, whatever name was given: a replica does not either. */
export function authenticatedUser({ username }: RedisSource, entry: RedisConnectionResult): string {
  return entry.kind === 'entered' && entry.auth === 'password' ? (username ?? 'default') : 'default';
}

const tlsNotOffered: TlsFacts = { offered: 'not_asked' };

function tlsOf({ phase, code, message }: ConnectError): TlsFacts {
  if (code === connectErrorCodes.noTls) return { offered: 'no', plaintext: 'accepted' };
  if (code === connectErrorCodes.onlyTls) return { offered: 'yes', plaintext: 'refused' };
  return phase === 'tls' ? { offered: 'yes', failure: message } : tlsNotOffered;
}

function unreachable(address: AddressFacts): RedisConnectionResult {
  const code = address.connects.find(({ error }) => error !== undefined)?.error ?? 'ENOTFOUND';
  const message = address.lookup.kind === 'failed' ? address.lookup.reason : `no connection (${code})`;
  return { kind: 'refused', phase: 'network', code, message };
}
