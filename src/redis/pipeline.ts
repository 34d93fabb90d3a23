import type { Socket } from 'node:net';
import { createLimit } from '../platform/memory.ts';
import { clientErrorCodes } from '../platform/network-errors.ts';
import { CommandError, describeAbort, parseErrorCode, redactServerMessage } from './command-error.ts';
import type { RedisEndpoint } from './endpoint.ts';
import { openSocket } from './redis-socket.ts';
import { authenticateRedis, type RedisConnectOptions, sendCommand } from './resp.ts';

/** A command whose parts are bytes, each written as one latin1 character: a key need not be text. */
export type PipelinedCommand = readonly [name: string, ...rest: readonly string[]];

/** A reply in RESP2; a bulk string is bytes. A refused command is a value, because the replies after it count too. */
export type PipelinedReply = Buffer | string | number | null | CommandError | readonly PipelinedReply[];

/**
 * A session for many small commands. It sends them in one write and reads the replies without a promise or a timer for
 * each, which is about ten times as fast as `RedisConnection`.
 */
export interface RedisPipeline {
  /** Sends all commands at once; resolves with their replies in order. Throws a CommandError when the session is lost. */
  exchange(commands: readonly PipelinedCommand[], limit?: number): Promise<readonly PipelinedReply[]>;
  end(): void;
}

interface PendingExchange {
  readonly replies: PipelinedReply[];
  readonly count: number;
  readonly settle: (error?: CommandError) => void;
}

/** Opens a session with TCP, TLS, AUTH and PING. Throws a ConnectError, and then leaves no socket open. */
export async function connectPipeline(source: RedisEndpoint, options: RedisConnectOptions): Promise<RedisPipeline> {
  const { socket } = await openSocket(source, options);
  try {
    await authenticateRedis(socket, source, options);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return createPipeline(socket, source, options);
}

function createPipeline(socket: Socket, source: RedisEndpoint, options: RedisConnectOptions): RedisPipeline {
  const memory = (options.memory ?? createLimit('statement')).open();
  const pending: PendingExchange[] = [];
  let lost: CommandError | undefined;
  const lose = (error: CommandError): void => {
    lost ??= error;
    socket.destroy();
    memory.close();
    for (const one of pending.splice(0)) one.settle(lost);
  };
  const reader = createReplyReader((message) => {
    const text = redactServerMessage(message, source);
    return new CommandError(parseErrorCode(text), text, false);
  });
  const take = (chunk: Buffer): void => {
    try {
      memory.add(chunk.length);
      for (const reply of reader.read(chunk)) {
        const [first] = pending;
        if (first === undefined) throw new Error('the server sent a reply to no command');
        first.replies.push(reply);
        if (first.replies.length < first.count) continue;
        pending.shift();
        memory.nextStatement();
        first.settle();
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      lose(new CommandError(clientErrorCodes.protocol, reason, true));
    }
  };
  const close = (): void => lose(new CommandError(clientErrorCodes.closed, 'the server closed the connection', true));
  const abort = (): void => {
    const reason: unknown = options.signal?.reason;
    const text = reason instanceof DOMException ? describeAbort(reason) : 'cancelled';
    lose(new CommandError(clientErrorCodes.aborted, text, true));
  };
  options.signal?.addEventListener('abort', abort);
  socket.on('data', take).on('error', close).on('close', close).resume();
  return {
    exchange(commands, limit = 60_000) {
      if (lost !== undefined) return Promise.reject(lost);
      if (commands.length === 0) return Promise.resolve([]);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => lose(new CommandError(clientErrorCodes.timeout, `no response within ${limit / 1000} s`, true)),
          limit,
        );
        const replies: PipelinedReply[] = [];
        const settle = (error?: CommandError): void => {
          clearTimeout(timer);
          if (error === undefined) resolve(replies);
          else reject(error);
        };
        pending.push({ replies, count: commands.length, settle });
        const texts = commands.map((command) => sendCommand(command, options, encodePipelined));
        socket.write(Buffer.from(texts.join(''), 'latin1'));
      });
    },
    end() {
      options.signal?.removeEventListener('abort', abort);
      close();
    },
  };
}

function encodePipelined(command: readonly (string | Uint8Array)[]): string {
  let text = `*${command.length}\r\n`;
  for (const part of command) {
    const bytes = typeof part === 'string' ? part : Buffer.from(part).toString('latin1');
    text += `$${bytes.length}\r\n${bytes}\r\n`;
  }
  return text;
}

const maxBulkString = 16 * 2 ** 20;
const maxElements = 1_000_000;
const maxDepth = 16;
/** The longest line that is no bulk string: a number, a status or an error. */
const maxLine = 65_536;

/**
 * Reads replies of RESP 2. Bytes are kept only until a reply is complete, and a reply is parsed again only when the bytes
 * that it lacked have arrived. `read` throws for bytes that no Redis server may send.
 */
export function createReplyReader(toError: (message: string) => CommandError) {
  let bytes: Buffer = Buffer.alloc(0);
  let waiting: Buffer[] = [];
  let waitingLength = 0;
  /** So many bytes must be there before parsing makes sense. */
  let needed = 1;
  let at = 0;

  /** The end of the line that begins at `at`, without its line break; -1 when it has not arrived. */
  const lineEnd = (): number => {
    const end = bytes.indexOf(0x0a, at);
    if (end < 0) {
      if (bytes.length - at > maxLine) throw malformed();
      needed = bytes.length + 1;
      return -1;
    }
    if (end === at || bytes[end - 1] !== 0x0d) throw malformed();
    return end - 1;
  };

  const numberIn = (from: number, end: number): number => {
    const isNegative = bytes[from] === 0x2d;
    const first = isNegative || bytes[from] === 0x2b ? from + 1 : from;
    if (first === end || end - first > 20) throw malformed();
    let value = 0;
    for (let index = first; index < end; index += 1) {
      const digit = bytes[index]! - 0x30;
      if (digit < 0 || digit > 9) throw malformed();
      value = value * 10 + digit;
    }
    return isNegative ? -value : value;
  };

  /** undefined: the reply is not complete. */
  const parse = (depth: number): PipelinedReply | undefined => {
    if (depth > maxDepth) throw new Error(`the reply is nested more than ${maxDepth} deep`);
    if (at >= bytes.length) {
      needed = at + 1;
      return undefined;
    }
    const type = bytes[at];
    const end = lineEnd();
    if (end < 0) return undefined;
    const from = at + 1;
    at = end + 2;
    switch (type) {
      case 0x2b:
        return bytes.toString('latin1', from, end);
      case 0x2d:
        return toError(bytes.toString('utf8', from, end));
      case 0x3a:
        return numberIn(from, end);
      case 0x24: {
        const length = numberIn(from, end);
        if (length === -1) return null;
        if (length < 0 || length > maxBulkString) throw tooLong(length, maxBulkString);
        if (at + length + 2 > bytes.length) {
          needed = at + length + 2;
          return undefined;
        }
        const value = bytes.subarray(at, at + length);
        at += length + 2;
        return value;
      }
      case 0x2a: {
        const length = numberIn(from, end);
        if (length === -1) return null;
        if (length < 0 || length > maxElements) throw tooLong(length, maxElements);
        const list: PipelinedReply[] = [];
        for (let index = 0; index < length; index += 1) {
          const element = parse(depth + 1);
          if (element === undefined) return undefined;
          list.push(element);
        }
        return list;
      }
      default:
        throw malformed();
    }
  };

  return {
    read(chunk: Buffer): readonly PipelinedReply[] {
      waiting.push(chunk);
      waitingLength += chunk.length;
      if (waitingLength < needed) return [];
      bytes = waiting.length === 1 ? chunk : Buffer.concat(waiting);
      const replies: PipelinedReply[] = [];
      let complete = 0;
      for (;;) {
        at = complete;
        const reply = parse(0);
        if (reply === undefined) break;
        complete = at;
        replies.push(reply);
      }
      const rest = bytes.subarray(complete);
      needed -= complete;
      waiting = rest.length === 0 ? [] : [rest];
      waitingLength = rest.length;
      return replies;
    },
  };
}

function malformed(): Error {
  return new Error('the reply is not of the Redis protocol');
}

function tooLong(length: number, limit: number): Error {
  return new Error(`the server announced a reply of ${length} bytes or elements, more than ${limit}`);
}
