import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../../platform/connect-error.ts';
import {
  createDatabaseResponseMemoryLimit,
  type DatabaseResponseMemoryLimit,
} from '../../../platform/response-memory.ts';
import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import type { RedisConnectOptions } from '../../../redis/send-redis-command.ts';
import { findReachableAddress } from '../network/find-reachable-address.ts';
import type { SourceAddressFacts, TlsFacts } from '../network/network-facts.ts';
import type { RedisConnectionResult } from './source-facts.ts';

export interface RedisSourceOpenResult {
  readonly address: SourceAddressFacts;
  readonly tls: TlsFacts;
  readonly connection: RedisConnectionResult;
  /** The open session, which the caller must end; undefined if the connection or the login failed. */
  readonly session: RedisConnection | undefined;
  /** The source with the IP address that the connection was made to. */
  readonly source: RedisEndpoint;
  /** Memory limit that all sessions of the preflight share, because their replies are kept. */
  readonly memory: DatabaseResponseMemoryLimit;
}

interface OpenRedisSourceOptions extends Omit<RedisConnectOptions, 'limit'> {
  readonly signal: AbortSignal;
}

/** Time limits in milliseconds: for the host name, for TCP, and for TLS with AUTH and PING. */
const connectTimeout = 5000;

/**
 * Looks up the host of the Redis source, connects and authenticates. A failed connection is part of the result and does
 * not throw.
 */
export async function openRedisSource(
  given: RedisEndpoint,
  options: OpenRedisSourceOptions,
): Promise<RedisSourceOpenResult> {
  const { signal } = options;
  const memory = createDatabaseResponseMemoryLimit('always');
  const search = findReachableAddress(given.host, given.port, { contradictions: [], limit: connectTimeout, signal });
  const reachable = await search.firstReachable;
  if (reachable === undefined) {
    const address = await search.facts;
    return { address, tls: tlsNotTried, connection: unreachable(address), session: undefined, source: given, memory };
  }
  const source = { ...given, address: reachable };
  try {
    const [session, address] = await Promise.all([
      connectRedis(source, { ...options, limit: connectTimeout, memory }),
      search.facts,
    ]);
    const tls: TlsFacts =
      session.tls === undefined ? tlsNotTried : { offered: 'yes', ...session.tls, verified: source.ca !== undefined };
    return { address, tls, connection: { kind: 'connected', ...session.authentication }, session, source, memory };
  } catch (error) {
    if (!(error instanceof DatabaseConnectError)) throw error;
    const { phase, code, message } = error;
    const connection: RedisConnectionResult = { kind: 'refused', phase, code, message };
    return { address: await search.facts, tls: tlsFactsOf(error), connection, session: undefined, source, memory };
  }
}

/**
 * The name of the ACL user that the session uses. AUTH is not sent without a password, even if a user name was given; a
 * Redis replica does the same.
 */
export function getAuthenticatedRedisUser({ username }: RedisEndpoint, connection: RedisConnectionResult): string {
  return connection.kind === 'connected' && connection.auth === 'password' ? (username ?? 'default') : 'default';
}

const tlsNotTried: TlsFacts = { offered: 'not_asked' };

function tlsFactsOf({ phase, code, message }: DatabaseConnectError): TlsFacts {
  if (code === clientSideDatabaseErrorCodes.noTls) return { offered: 'no', plaintext: 'accepted' };
  if (code === clientSideDatabaseErrorCodes.onlyTls) return { offered: 'yes', plaintext: 'refused' };
  return phase === 'tls' ? { offered: 'yes', failure: message } : tlsNotTried;
}

function unreachable(address: SourceAddressFacts): RedisConnectionResult {
  const code = address.connects.find(({ error }) => error !== undefined)?.error ?? 'ENOTFOUND';
  const message = address.lookup.kind === 'failed' ? address.lookup.reason : `no connection (${code})`;
  return { kind: 'refused', phase: 'network', code, message };
}
