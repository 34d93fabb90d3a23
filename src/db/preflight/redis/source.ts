import type { Socket } from 'node:net';
import { createLimit, type MemoryLimit } from '../../../platform/memory.ts';
import { ConnectError, clientErrorCodes } from '../../../platform/network-errors.ts';
import { parseErrorCode, redactServerMessage } from '../../../redis/command-error.ts';
import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { openSocket } from '../../../redis/redis-socket.ts';
import { authenticateRedis, type RedisConnectOptions, requestLine } from '../../../redis/resp.ts';
import { type AddressFacts, findReachable, type TlsFacts } from '../network/addresses.ts';
import type { CopyStart, PsyncResult, RedisConnectionResult } from './source-facts.ts';

/** A write to a closed connection fails with EPIPE or ECONNRESET. */
export const disconnectCodes: ReadonlySet<string> = new Set([clientErrorCodes.closed, 'EPIPE']);

export interface OpenedSource {
  readonly address: AddressFacts;
  readonly tls: TlsFacts;
  readonly connection: RedisConnectionResult;
  /** The open session, which the caller must end; undefined if the connection or the login failed. */
  readonly session: RedisConnection | undefined;
  /** The source with the IP address that the connection was made to. */
  readonly source: RedisEndpoint;
  /** Memory limit that all sessions of the preflight share, because their replies are kept. */
  readonly memory: MemoryLimit;
}

interface OpenOptions extends Omit<RedisConnectOptions, 'limit'> {
  readonly signal: AbortSignal;
}

/** Time limits in milliseconds: for the host name, for TCP, and for TLS with AUTH and PING. */
const connectTimeout = 5000;

/**
 * Looks up the host of the Redis source, connects and authenticates. A failed connection is part of the result and does
 * not throw.
 */
export async function openRedisSource(given: RedisEndpoint, options: OpenOptions): Promise<OpenedSource> {
  const { signal } = options;
  const memory = createLimit('always');
  const search = findReachable(given.host, given.port, { contradictions: [], limit: connectTimeout, signal });
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
    if (!(error instanceof ConnectError)) throw error;
    const { phase, code, message } = error;
    const connection: RedisConnectionResult = { kind: 'refused', phase, code, message };
    return { address: await search.facts, tls: tlsFactsOf(error), connection, session: undefined, source, memory };
  }
}

/**
 * The name of the ACL user that the session uses. AUTH is not sent without a password, even if a user name was given; a
 * Redis replica does the same.
 */
export function authenticatedUser({ username }: RedisEndpoint, connection: RedisConnectionResult): string {
  return connection.kind === 'connected' && connection.auth === 'password' ? (username ?? 'default') : 'default';
}

const tlsNotTried: TlsFacts = { offered: 'not_asked' };

function tlsFactsOf({ phase, code, message }: ConnectError): TlsFacts {
  if (code === clientErrorCodes.noTls) return { offered: 'no', plaintext: 'accepted' };
  if (code === clientErrorCodes.onlyTls) return { offered: 'yes', plaintext: 'refused' };
  return phase === 'tls' ? { offered: 'yes', failure: message } : tlsNotTried;
}

function unreachable(address: AddressFacts): RedisConnectionResult {
  const code = address.connects.find(({ error }) => error !== undefined)?.error ?? 'ENOTFOUND';
  const message = address.lookup.kind === 'failed' ? address.lookup.reason : `no connection (${code})`;
  return { kind: 'refused', phase: 'network', code, message };
}

/** The description of `--probe`, for the help and for the report. */
export const probeDescription =
  'A probe requests a full synchronization on a connection of its own, as the target will (REPLCONF, PSYNC ? -1), and disconnects when the copy begins. The source forks a child that begins a BGSAVE; nothing else changes.';

interface PsyncProbeOptions extends RedisConnectOptions {
  /** Time limit in milliseconds from the reply to PSYNC to the first byte of the copy. */
  readonly copyLimit: number;
}

/**
 * Requests a full synchronization with PSYNC, and disconnects when the copy begins. The source forks for a BGSAVE
 * because of PSYNC.
 */
export async function probePsync(source: RedisEndpoint, options: PsyncProbeOptions): Promise<PsyncResult> {
  try {
    const { socket } = await openSocket(source, options);
    try {
      await authenticateRedis(socket, source, options);
      // REPLCONF, the first command of a replica, allows the source to send the copy without a file.
      await requestLine(socket, ['REPLCONF', 'capa', 'eof', 'capa', 'psync2'], options);
      const reply = await requestLine(socket, ['PSYNC', '?', '-1'], options);
      if (reply.startsWith('-')) {
        const message = redactServerMessage(reply.slice(1), source);
        // For a copy through a file the source forks before it replies to PSYNC.
        if (/\bBGSAVE failed\b/.test(message)) {
          return { kind: 'accepted', reply: 'a copy was attempted', copy: { kind: 'failed', reason: message } };
        }
        return { kind: 'refused', code: parseErrorCode(message), message };
      }
      const copy = await awaitCopy(socket, reply, source, options);
      return { kind: 'accepted', reply: reply === '' ? 'the copy was started' : reply, copy };
    } finally {
      socket.destroy();
    }
  } catch (error) {
    if (error instanceof ConnectError) return { kind: 'refused', code: error.code, message: error.message };
    throw error;
  }
}

/**
 * The source sends empty lines while it forks, waits for other replicas (repl-diskless-sync-delay), or writes the RDB
 * file. The copy begins with `$` and its length, or with `$EOF:` if the source sends it without a file.
 */
async function awaitCopy(
  socket: Socket,
  reply: string,
  source: RedisEndpoint,
  options: PsyncProbeOptions,
): Promise<CopyStart> {
  const end = performance.now() + options.copyLimit;
  let line = reply;
  try {
    while (!line.startsWith('$')) {
      if (line.startsWith('-')) return { kind: 'failed', reason: redactServerMessage(line.slice(1), source) };
      const left = end - performance.now();
      if (left <= 0) return copyIsLate(options);
      line = await requestLine(socket, undefined, { ...options, limit: left });
    }
    return { kind: 'started' };
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return error.code === clientErrorCodes.timeout ? copyIsLate(options) : { kind: 'failed', reason: error.message };
  }
}

function copyIsLate({ copyLimit }: PsyncProbeOptions): CopyStart {
  return { kind: 'late', reason: `the copy did not begin within ${Math.round(copyLimit / 1000)} s` };
}
