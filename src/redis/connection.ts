import type { Socket } from 'node:net';
import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../platform/connect-error.ts';
import { createDatabaseResponseMemoryLimit } from '../platform/response-memory.ts';
import type { TlsConnectionInfo } from '../platform/tls-connection-info.ts';
import { authenticateRedisConnection, type RedisAuthOutcome } from './authenticate.ts';
import {
  describeRedisAbortError,
  parseRedisErrorCode,
  RedisCommandError,
  redactRedisServerMessage,
  toRedisConnectError,
} from './command-error.ts';
import type { RedisEndpoint } from './endpoint.ts';
import { guardRedisReplyStream } from './guard-redis-reply-stream.ts';
import type { Client } from './ioredis.ts';
import { probeCauseOfRedisConnectError } from './probe-cause-of-connect-error.ts';
import { type ConnectedRedisSocket, openRedisSocket } from './redis-socket.ts';
import { createRedisReplyValidator } from './reply-validator.ts';
import { type RedisCommand, type RedisConnectOptions, sendRedisCommand } from './send-redis-command.ts';
import { withTimeLimit } from './time-limit-options.ts';

/** A reply in RESP2. */
export type RedisReply = string | number | null | Uint8Array | readonly RedisReply[];

export interface RedisConnection {
  readonly authentication: RedisAuthOutcome;
  /** undefined: not encrypted. */
  readonly tls: TlsConnectionInfo | undefined;
  /**
   * Sends a command at once, without waiting for earlier replies. Throws a CommandError.
   * @param limit milliseconds until the session is closed for lack of a reply (default: 10 s)
   */
  send(command: RedisCommand, limit?: number): Promise<RedisReply>;
  /** Sends a command like `send`, but returns bulk strings as bytes, because keys need not be text. */
  sendRaw(command: RedisCommand, limit?: number): Promise<RedisReply>;
  end(): void;
}

/**
 * Opens a Redis session with TCP, TLS, AUTH and PING only. The session never reconnects and never
 * queues commands. Throws a ConnectError, and then leaves no socket open.
 */
export async function connectRedis(source: RedisEndpoint, options: RedisConnectOptions): Promise<RedisConnection> {
  try {
    return await open(source, options);
  } catch (error) {
    throw error instanceof DatabaseConnectError ? await probeCauseOfRedisConnectError(error, source, options) : error;
  }
}

async function open(source: RedisEndpoint, options: RedisConnectOptions): Promise<RedisConnection> {
  const connection = await openRedisSocket(source, options);
  try {
    const authentication = await authenticateRedisConnection(connection.socket, source, options);
    return await createSession(connection, authentication, source, options);
  } catch (error) {
    connection.socket.destroy();
    // A connection that breaks while ioredis takes it over fails with an error of ioredis.
    throw toRedisConnectError('startup', error);
  }
}

async function createSession(
  { socket, tls }: ConnectedRedisSocket,
  authentication: RedisAuthOutcome,
  source: RedisEndpoint,
  options: RedisConnectOptions,
): Promise<RedisConnection> {
  const { Client: RedisClient, ReplyError } = await import('./ioredis.ts');
  const client = new RedisClient({
    Connector: connectorOf(socket),
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
  // ioredis prints errors if no listener for `error` exists. This listener is empty, because callers receive the errors
  // with the replies.
  client.on('error', () => {});
  const reader = createRedisReplyValidator(options.memory ?? createDatabaseResponseMemoryLimit('statement'));
  const replyFailure = guardRedisReplyStream(socket, reader);
  await client.connect();
  const drop = () => {
    reader.close();
    socket.destroy();
  };
  const toError = (error: unknown) => {
    if (error instanceof RedisCommandError) return error;
    const refused = replyFailure();
    if (refused instanceof Error)
      return new RedisCommandError(clientSideDatabaseErrorCodes.protocol, refused.message, true);
    if (error instanceof DOMException)
      return new RedisCommandError(clientSideDatabaseErrorCodes.aborted, describeRedisAbortError(error), true);
    if (!(error instanceof ReplyError))
      return new RedisCommandError(clientSideDatabaseErrorCodes.closed, closedByServer, true);
    const message = redactRedisServerMessage(error.message, source);
    return new RedisCommandError(parseRedisErrorCode(message), message, false);
  };
  options.signal?.addEventListener('abort', drop);
  const send = async (call: Client['call'], command: RedisCommand, limit = 10_000) => {
    const reply = await awaitReply(() => sendRedisCommand(command, options, (sent) => call.apply(client, [...sent])), {
      limit,
      signal: options.signal,
      drop,
      toError,
    });
    reader.nextReply();
    return reply;
  };
  return {
    authentication,
    tls,
    send: (command, limit) => send(client.call, command, limit),
    sendRaw: (command, limit) => send(client.callBuffer, command, limit),
    end() {
      options.signal?.removeEventListener('abort', drop);
      client.disconnect();
      drop();
    },
  };
}

/**
 * ioredis calls this function with `new` and uses the returned connector, whose connection was opened and authenticated
 * before.
 */
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
  readonly toError: (error: unknown) => RedisCommandError;
}

async function awaitReply(
  call: () => Promise<unknown>,
  { limit, signal, drop, toError }: ReplyOptions,
): Promise<RedisReply> {
  const late = () =>
    new RedisCommandError(clientSideDatabaseErrorCodes.timeout, `no response within ${limit / 1000} s`, true);
  try {
    return await withTimeLimit<RedisReply>({ limit }, late, (resolve, reject) => {
      call().then((value) => resolve(decodeReply(value)), reject);
      return () => {};
    });
  } catch (error) {
    // An aborted signal closes the socket, so commands fail; the error then has the reason of the signal.
    const failure = toError(signal?.aborted === true ? signal.reason : error);
    if (failure.lost) drop();
    throw failure;
  }
}

const closedByServer = 'the server closed the connection';

function decodeReply(value: unknown): RedisReply {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(decodeReply);
  return String(value);
}
