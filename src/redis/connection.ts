import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { createLimit, type MemoryLimit } from '../platform/memory.ts';
import { ConnectError, clientErrorCodes, type TlsInfo } from '../platform/network-errors.ts';
import { CommandError, describeAbort, parseErrorCode, redactServerMessage, toConnectError } from './command-error.ts';
import type { RedisEndpoint } from './endpoint.ts';
import type { Client } from './ioredis.ts';
import { probeConnectError } from './probe-cause-of-connect-error.ts';
import { type ConnectedSocket, openSocket, withTimeLimit } from './redis-socket.ts';
import {
  type AuthOutcome,
  authenticateRedis,
  type RedisCommand,
  type RedisConnectOptions,
  sendCommand,
} from './resp.ts';

interface ReplyValidator {
  /** Checks the bytes of the server as they arrive. Throws an Error for bytes that no Redis server may send. */
  read(chunk: Buffer): void;
  /**
   * Must be called when the caller has received a complete reply. The reply then no longer counts towards the memory limit.
   */
  nextReply(): void;
  close(): void;
}

/** Maximum bytes of one bulk string; far more than any command of this program returns. */
const maxBulkString = 16 * 2 ** 20;
/** Maximum bytes of a simple string or an error. */
const maxLine = 65_536;
const maxElements = 1_000_000;
const maxDepth = 16;
/** The measured memory in bytes that ioredis uses for a value, and for an array element that has not arrived yet. */
const valueCost = 150;
const elementCost = 8;

/**
 * Checks replies in RESP 2 before ioredis parses them, because ioredis allocates an array of any announced length, and
 * does not terminate on some malformed lengths. https://redis.io/docs/latest/develop/reference/protocol-spec/
 */
export function createReplyValidator(memory: MemoryLimit): ReplyValidator {
  const use = memory.open();
  /** The number of elements that each incomplete array still lacks. */
  const open: number[] = [];
  let line = '';
  let bulkLeft = 0;

  const endValue = (): void => {
    while (open.length > 0) {
      const left = open.pop()! - 1;
      if (left > 0) {
        open.push(left);
        return;
      }
    }
  };

  const readLine = (text: string): void => {
    if (text.indexOf('\r') !== text.length - 1) throw malformed();
    use.add(valueCost);
    const [type, value] = [text[0] ?? '', text.slice(1, -1)];
    if (type === '$' && value !== '-1') {
      bulkLeft = lengthIn(value, maxBulkString) + 2;
    } else if (type === '*' && value !== '-1' && value !== '0') {
      const length = lengthIn(value, maxElements);
      open.push(length);
      if (open.length > maxDepth) throw new Error(`the reply is nested more than ${maxDepth} deep`);
      use.add(length * elementCost);
    } else if ('+-$*'.includes(type) || (type === ':' && /^[+-]?\d{1,20}$/.test(value))) {
      endValue();
    } else {
      throw malformed();
    }
  };

  return {
    read(chunk) {
      use.add(chunk.length);
      for (let at = 0; at < chunk.length; ) {
        if (bulkLeft > 0) {
          const taken = Math.min(bulkLeft, chunk.length - at);
          at += taken;
          bulkLeft -= taken;
          if (bulkLeft === 0) endValue();
          continue;
        }
        const end = chunk.indexOf(0x0a, at);
        line += chunk.toString('latin1', at, end < 0 ? chunk.length : end);
        if (line.length > maxLine) throw new Error(`a line of the reply is longer than ${maxLine} bytes`);
        if (end < 0) return;
        const complete = line;
        line = '';
        at = end + 1;
        readLine(complete);
      }
    },
    nextReply: use.nextStatement,
    close: use.close,
  };
}

function lengthIn(text: string, limit: number): number {
  if (!/^\d{1,10}$/.test(text)) throw malformed();
  const length = Number(text);
  if (length > limit)
    throw new Error(`the server announced a reply of ${length} bytes or elements, more than ${limit}`);
  return length;
}

function malformed(): Error {
  return new Error('the reply is not of the Redis protocol');
}

/**
 * Passes only bytes that the reader accepts to the listener that ioredis adds to the socket; other bytes end the
 * connection.
 * @returns the error of the reader; undefined if there was none
 */
export function guardReplies(socket: Socket, reader: Pick<ReplyValidator, 'read'>): () => unknown {
  let failure: unknown;
  const events: EventEmitter = socket;
  const prependListener = events.prependListener.bind(socket);
  const check = (chunk: unknown): boolean => {
    if (failure !== undefined) return false;
    try {
      if (Buffer.isBuffer(chunk)) reader.read(chunk);
      return true;
    } catch (error) {
      failure = error;
      socket.destroy();
      return false;
    }
  };
  // ioredis calls this method of the socket to add its listener.
  Object.defineProperty(socket, 'prependListener', {
    value(event: string, listener: (chunk: unknown) => void) {
      const checked = (chunk: unknown) => {
        if (check(chunk)) listener(chunk);
      };
      return prependListener(event, event === 'data' ? checked : listener);
    },
  });
  return () => failure;
}

/** A reply in RESP2. */
export type RedisReply = string | number | null | Uint8Array | readonly RedisReply[];

export interface RedisConnection {
  readonly authentication: AuthOutcome;
  /** undefined: not encrypted. */
  readonly tls: TlsInfo | undefined;
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
    throw error instanceof ConnectError ? await probeConnectError(error, source, options) : error;
  }
}

async function open(source: RedisEndpoint, options: RedisConnectOptions): Promise<RedisConnection> {
  const connection = await openSocket(source, options);
  try {
    const authentication = await authenticateRedis(connection.socket, source, options);
    return await createSession(connection, authentication, source, options);
  } catch (error) {
    connection.socket.destroy();
    // A connection that breaks while ioredis takes it over fails with an error of ioredis.
    throw toConnectError('startup', error);
  }
}

async function createSession(
  { socket, tls }: ConnectedSocket,
  authentication: AuthOutcome,
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
  const reader = createReplyValidator(options.memory ?? createLimit('statement'));
  const replyFailure = guardReplies(socket, reader);
  await client.connect();
  const drop = () => {
    reader.close();
    socket.destroy();
  };
  const toError = (error: unknown) => {
    if (error instanceof CommandError) return error;
    const refused = replyFailure();
    if (refused instanceof Error) return new CommandError(clientErrorCodes.protocol, refused.message, true);
    if (error instanceof DOMException) return new CommandError(clientErrorCodes.aborted, describeAbort(error), true);
    if (!(error instanceof ReplyError)) return new CommandError(clientErrorCodes.closed, closedByServer, true);
    const message = redactServerMessage(error.message, source);
    return new CommandError(parseErrorCode(message), message, false);
  };
  options.signal?.addEventListener('abort', drop);
  const send = async (call: Client['call'], command: RedisCommand, limit = 10_000) => {
    const reply = await awaitReply(() => sendCommand(command, options, (sent) => call.apply(client, [...sent])), {
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
  readonly toError: (error: unknown) => CommandError;
}

async function awaitReply(
  call: () => Promise<unknown>,
  { limit, signal, drop, toError }: ReplyOptions,
): Promise<RedisReply> {
  const late = () => new CommandError(clientErrorCodes.timeout, `no response within ${limit / 1000} s`, true);
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
