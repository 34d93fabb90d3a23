import type { Socket } from 'node:net';
import type { TlsSession } from '../platform/tls-session.ts';
import type { Bound } from './bounded.ts';
import { bounded } from './bounded.ts';
import { dial, type Line } from './dial.ts';
import { type Entered, enter } from './entry.ts';
import { explained } from './explain.ts';
import { CommandError, ConnectError, codeIn, endedWords, networkError, ownCodes, serverWords } from './failure.ts';
import type { Client } from './ioredis.ts';
import type { RedisSource } from './source.ts';

/** What a server answers, as RESP2 has it. */
export type Reply = string | number | null | Uint8Array | readonly Reply[];

export type Words = readonly [name: string, ...rest: readonly (string | Uint8Array)[]];

export interface RedisSession {
  readonly entered: Entered;
  /** undefined: not encrypted. */
  readonly tls: TlsSession | undefined;
  /**
   * Sends a command at once, behind those that wait for their reply. Throws a CommandError.
   * @param limit milliseconds, 10 s unless told; then the session is given up
   */
  send(words: Words, limit?: number): Promise<Reply>;
  /** The same, with texts as bytes: keys need not be text. */
  sendRaw(words: Words, limit?: number): Promise<Reply>;
  end(): void;
}

/**
 * Opens a session: TCP, TLS, AUTH, PING, and nothing else. It never connects again by itself and never queues.
 * Throws a ConnectError, and leaves nothing open behind it.
 */
export async function connect(source: RedisSource, bound: Bound): Promise<RedisSession> {
  try {
    return await open(source, bound);
  } catch (error) {
    throw error instanceof ConnectError ? await explained(error, source, bound) : error;
  }
}

async function open(source: RedisSource, bound: Bound): Promise<RedisSession> {
  const line = await dial(source, bound);
  try {
    const entered = await enter(line.socket, source, bound);
    return await session(line, entered, source, bound);
  } catch (error) {
    line.socket.destroy();
    // A line that is cut while ioredis takes it over fails in its words.
    throw networkError('startup', error);
  }
}

async function session(line: Line, entered: Entered, source: RedisSource, bound: Bound): Promise<RedisSession> {
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
  const flood = damOf(line.socket);
  const toError = (error: unknown) => {
    if (error instanceof CommandError) return error;
    if (flood.isOver()) return new CommandError(ownCodes.protocol, floodWords, true);
    if (error instanceof DOMException) return new CommandError(ownCodes.aborted, endedWords(error), true);
    if (!(error instanceof ReplyError)) return new CommandError(ownCodes.closed, closedWords, true);
    const message = serverWords(error.message, source);
    return new CommandError(codeIn(message), message, false);
  };
  bound.signal?.addEventListener('abort', drop);
  const ask = async (send: Client['call'], words: Words, limit = 10_000) => {
    const reply = await answer(() => send.apply(client, [...words]), { limit, signal: bound.signal, drop, toError });
    flood.answered();
    return reply;
  };
  return {
    entered,
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

interface Asking {
  /** Milliseconds. */
  readonly limit: number;
  readonly signal: AbortSignal | undefined;
  readonly drop: () => void;
  readonly toError: (error: unknown) => CommandError;
}

async function answer(call: () => Promise<unknown>, { limit, signal, drop, toError }: Asking): Promise<Reply> {
  const late = () => new CommandError(ownCodes.timeout, `no answer within ${limit / 1000} s`, true);
  try {
    return await bounded<Reply>({ limit }, late, (resolve, reject) => {
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
function damOf(socket: Socket) {
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

function readReply(value: unknown): Reply {
  if (typeof value === 'string' || typeof value === 'number' || value === null) return value;
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(readReply);
  return String(value);
}
