import type { Socket } from 'node:net';
import type { MemoryLimit } from '../platform/memory.ts';
import { ConnectError, clientErrorCodes } from '../platform/network-errors.ts';
import { parseErrorCode, redactServerMessage, toConnectError } from './command-error.ts';
import type { RedisEndpoint } from './endpoint.ts';
import { type TimeLimitOptions, withTimeLimit } from './redis-socket.ts';

/** Encodes a command as an array of bulk strings (https://redis.io/docs/latest/develop/reference/protocol-spec/). */
export function encodeCommand(command: RedisCommand): Buffer {
  const parts = command.map((part) => (part instanceof Uint8Array ? part : Buffer.from(part)));
  return Buffer.concat([
    Buffer.from(`*${parts.length}\r\n`),
    ...parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')]),
  ]);
}

/**
 * Sends a command and reads the first line of the reply, including the type character: `+OK`, `-NOAUTH …`. Without a
 * command the function only reads. Bytes after the line stay unread in the socket. Throws a ConnectError.
 */
export async function requestLine(
  socket: Socket,
  command: RedisCommand | undefined,
  options: RedisConnectOptions,
): Promise<string> {
  const late = () => new ConnectError('startup', clientErrorCodes.timeout, 'connected, but no response');
  try {
    return await withTimeLimit<string>(options, late, (resolve, reject) => {
      let received = Buffer.alloc(0);
      const take = (data: Buffer) => {
        received = Buffer.concat([received, data]);
        const end = received.indexOf(0x0a);
        // What follows the line may be long: a source sends its RDB copy at once.
        const error = nonRedisError(end < 0 ? received : received.subarray(0, end));
        if (error !== undefined) return reject(error);
        if (end < 0) return undefined;
        socket.pause();
        socket.off('data', take);
        if (end + 1 < received.length) socket.unshift(received.subarray(end + 1));
        return resolve(received.subarray(0, end).toString('utf8').replace(/\r$/, ''));
      };
      const closed = () =>
        reject(new ConnectError('startup', clientErrorCodes.closed, 'the server closed the connection'));
      socket.on('data', take).once('error', reject).once('close', closed).resume();
      if (socket.destroyed) closed();
      else if (command !== undefined) sendCommand(command, options, (sent) => socket.write(encodeCommand(sent)));
      return () => void socket.off('data', take).off('error', reject).off('close', closed);
    });
  } catch (error) {
    throw toConnectError('startup', error);
  }
}

/** The error for bytes with which no reply of a Redis server begins; undefined if they may be a reply. */
function nonRedisError(received: Buffer): ConnectError | undefined {
  const first = received[0];
  // The beginning of a TLS alert record: type 21, then the major version 3 (RFC 8446 §5.1).
  if (first === 0x15 && (received.length === 1 || received[1] === 0x03)) {
    return new ConnectError('startup', clientErrorCodes.onlyTls, 'the server requires TLS on this port');
  }
  const isReply = first === undefined || '+-:$*\r\n'.includes(String.fromCharCode(first));
  if (isReply && received.length < 65_536) return undefined;
  return new ConnectError(
    'startup',
    clientErrorCodes.protocol,
    'the service on this port does not use the Redis protocol',
  );
}

export interface AuthOutcome {
  /**
   * `password`: the server accepted AUTH; `needless`: a password was given, but the server has none;
   * `open`: no password was given and none is required.
   */
  readonly auth: 'password' | 'needless' | 'open';
  /** The server's reply to AUTH if the server requires no password. */
  readonly authReply?: string;
  /** An error in the reply to PING that does not end the session: LOADING, MISCONF, MASTERDOWN, NOPERM. */
  readonly notice?: { readonly code: string; readonly message: string };
}

/**
 * Sends AUTH and PING on a new connection. ioredis does not send AUTH, because it hides some errors of AUTH, prints
 * others, and keeps the password in its errors. Throws a ConnectError with the server's own message.
 */
export async function authenticateRedis(
  socket: Socket,
  source: RedisEndpoint,
  options: RedisConnectOptions,
): Promise<AuthOutcome> {
  const password = source.password?.reveal() ?? '';
  const auth = password === '' ? undefined : await sendAuth(socket, source, password, options);
  const reply = await requestLine(socket, ['PING'], options);
  const authentication: AuthOutcome = auth ?? { auth: 'open' };
  if (!reply.startsWith('-')) return authentication;
  const message = redactServerMessage(reply.slice(1), source);
  const code = /^ERR operation not permitted/i.test(message) ? 'NOAUTH' : parseErrorCode(message);
  if (loginErrors.has(code)) throw new ConnectError('startup', code, message);
  return { ...authentication, notice: { code, message } };
}

const loginErrors: ReadonlySet<string> = new Set(['NOAUTH', 'DENIED', clientErrorCodes.maxClients]);

async function sendAuth(
  socket: Socket,
  source: RedisEndpoint,
  password: string,
  options: RedisConnectOptions,
): Promise<AuthOutcome> {
  const command: RedisCommand =
    source.username === undefined ? ['AUTH', password] : ['AUTH', source.username, password];
  const reply = await requestLine(socket, command, options);
  if (!reply.startsWith('-')) return { auth: 'password' };
  const message = redactServerMessage(reply.slice(1), source);
  if (/no password is set|without any password configured/i.test(message)) {
    return { auth: 'needless', authReply: message };
  }
  throw new ConnectError('startup', parseErrorCode(message), message);
}

/** The name of a command and its arguments, which may be bytes because keys need not be text. */
export type RedisCommand = readonly [name: string, ...rest: readonly (string | Uint8Array)[]];

export interface RedisConnectOptions extends TimeLimitOptions {
  /**
   * Memory limit shared by sessions whose replies are kept at the same time (default: a limit for each reply alone).
   */
  readonly memory?: MemoryLimit | undefined;
  /** Called with every command just before it is sent, in which a password is replaced by `***`. */
  readonly onCommand?: ((command: RedisCommand) => void) | undefined;
}

/** Every command to a Redis server is sent by this function, so that all commands are reported and counted. */
export function sendCommand<T>(
  command: RedisCommand,
  { onCommand }: Pick<RedisConnectOptions, 'onCommand'>,
  transmit: (command: RedisCommand) => T,
): T {
  onCommand?.(/^AUTH$/i.test(command[0]) ? ['AUTH', '***'] : command);
  return transmit(command);
}
