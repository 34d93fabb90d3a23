import type { Socket } from 'node:net';
import { ConnectError, connectErrorCodes } from '../platform/connect-error.ts';
import type { TlsSession } from '../platform/tls-session.ts';
import { authenticate, type RedisAuthentication } from './authenticate.ts';
import { abortReason, CommandError, errorCodeOf, redactServerMessage, toRedisConnectError } from './command-error.ts';
import { explainConnectError } from './explain-connect-error.ts';
import type { Client } from './ioredis.ts';
import { openRedisSocket, type RedisSocket } from './redis-socket.ts';
import type { RedisSource } from './source.ts';
import type { TimeLimit } from './time-limit.ts';
import { withTimeLimit } from './time-limit.ts';

/** What a server answers, as RESP2 has it. */
export type RedisReply = string | number | null | Uint8Array | readonly RedisReply[];

export type RedisCommand = readonly [name: string, ...rest: readonly (string | Uint8Array)[]];

export interface RedisSession {
  readonly authentication: RedisAuthentication;
  /** undefined: not encrypted. */
  readonly tls: TlsSession | undefined;
  /**
   * Sends a command at once, behind those that wait for their reply. Throws a CommandError.
   * @param limit milliseconds, 10 s unless told; then the session is given up
   */
  send(words: RedisCommand, limit?: number): Promise<RedisReply>;
  /** The same, with texts as bytes: keys need not be text. */
  sendRaw(words: RedisCommand, limit?: number): Promise<RedisReply>;
  end(): void;
}

/**
 * Opens a session: TCP, TLS, AUTH, PING, and nothing else. It never connects again by itself and never queues.
 * Throws a ConnectError, and leaves nothing open behind it.
 */
export async function connectRedis(source: RedisSource, bound: TimeLimit): Promise<RedisSession> {
  try {
    return await open(source, bound);
  } catch (error) {
    throw error instanceof ConnectError ? await explainConnectError(error, source, bound) : error;
  }
}

async function open(source: RedisSource, bound: TimeLimit): Promise<RedisSession> {
  const line = await openRedisSocket(source, bound);
  try {
    const entered = await authenticate(line.socket, source, bound);
    return await createSession(line, entered, source, bound);
  } catch (error) {
    line.socket.destroy();
    // A line that is cut while ioredis takes it over fails in its words.
    throw toRedisConnectError('startup', error);
  }
}

async function createSession(
  line: RedisSocket,
  entered: RedisAuthentication,
  source: RedisSource,
  bound: TimeLimit,
): Promise<RedisSession> {
  const { Client: Made, ReplyError } = await import('./ioredis.ts');
  const client = new Made({
    Connector: connectorOf(line.socket),
    protocol: 2,
    lazyConnect: true,
    retryStrategy: null,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    disableClientInfo: true,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
  });
  // Failures reach whoever waits for a reply; ioredis prints those that nobody listens for.
  client.on('error', () => {});
  await client.connect();
  const drop = () => void line.socket.destroy();
  const flood = limitUnreadBytes(line.socket);
  const toError = (error: unknown) => {
    if (error instanceof CommandError) return error;
    if (flood.isOver()) return new CommandError(connectErrorCodes.protocol, floodWords, true);
    if (error instanceof DOMException) return new CommandError(connectErrorCodes.aborted, abortReason(error), true);
    if (!(error instanceof ReplyError)) return new CommandError(connectErrorCodes.closed, closedWords, true);
    const message = redactServerMessage(error.message, source);
    return new CommandError(errorCodeOf(message), message, false);
  };
  bound.signal?.addEventListener('abort', drop);
  const ask = async (send: Client['call'], words: RedisCommand, limit = 10_000) => {
    const reply = await awaitReply(() => send.apply(client, [...words]), {
      limit,
      signal: bound.signal,
      drop,
      toError,
    });
    flood.answered();
    return reply;
  };
  return {
    authentication: entered,
    tls: line.tls,
    send: (words, limit) => ask(client.call, words, limit),
    sendRaw: (words, limit) => ask(client.callBuffer, words, limit),
    end() {
      bound.signal?.removeEventListener('abort', drop);
      client.disconnect();
      drop();
    },
  };
}

/** ioredis calls it with `new` and takes what it returns: the line that was dialled and entered before. */
function connectorOf(socket: Socket) {
  return function Connector() {
    return { connect: async () => socket, disconnect: () => void socket.destroy(), check: () => true };
  };
}

interface ReplyOptions {
  /** Milliseconds. */
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
  readonly drop: () => void;
  readonly toError: (error: unknown) => CommandError;
}

async function awaitReply(
  call: () => Promise<unknown>,
  { limit, signal, drop, toError }: ReplyOptions,
): Promise<RedisReply> {
  const late = () => new CommandError(connectErrorCodes.timeout, `no answer within ${limit / 1000} s`, true);
  try {
    return await withTimeLimit<RedisReply>({ limit }, late, (resolve, reject) => {
      call().then((value) => resolve(readReply(value)), reject);
      return () => {};
    });
  } catch (error) {
    // One listener serves all commands: the signal hangs up, and that is what they notice.
    const failure = toError(signal?.aborted === true ? signal.reason : error);
    if (failure.lost) drop();
    throw failure;
  }
}

/** No reply that is asked for comes near it; what never ends would fill the memory of this machine. */
const mostUnanswered = 32 * 2 ** 20;
const floodWords = 'more came than any Redis answers, and without an end';

/** Hangs up when too much comes between two replies. */
function limitUnreadBytes(socket: Socket) {
  let seen = 0;
  socket.on('data', (data: Uint8Array) => {
    seen += data.length;
    if (seen > mostUnanswered) socket.destroy();
  });
  return {
    isOver: () => seen > mostUnanswered,
    answered() {
      seen = 0;
    },
  };
}

const closedWords = 'the connection was closed by the other side';

function readReply(value: unknown): RedisReply {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(readReply);
  return String(value);
}
