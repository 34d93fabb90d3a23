import type { Socket } from 'node:net';
import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../platform/connect-error.ts';
import { parseRedisErrorCode, redactRedisServerMessage } from './command-error.ts';
import type { RedisEndpoint } from './endpoint.ts';
import { requestRedisReplyLine } from './resp.ts';
import type { RedisCommand, RedisConnectOptions } from './send-redis-command.ts';

export interface RedisAuthOutcome {
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
export async function authenticateRedisConnection(
  socket: Socket,
  source: RedisEndpoint,
  options: RedisConnectOptions,
): Promise<RedisAuthOutcome> {
  const password = source.password?.reveal() ?? '';
  const auth = password === '' ? undefined : await sendAuth(socket, source, password, options);
  const reply = await requestRedisReplyLine(socket, ['PING'], options);
  const authentication: RedisAuthOutcome = auth ?? { auth: 'open' };
  if (!reply.startsWith('-')) return authentication;
  const message = redactRedisServerMessage(reply.slice(1), source);
  const code = /^ERR operation not permitted/i.test(message) ? 'NOAUTH' : parseRedisErrorCode(message);
  if (loginErrors.has(code)) throw new DatabaseConnectError('startup', code, message);
  return { ...authentication, notice: { code, message } };
}

const loginErrors: ReadonlySet<string> = new Set(['NOAUTH', 'DENIED', clientSideDatabaseErrorCodes.maxClients]);

async function sendAuth(
  socket: Socket,
  source: RedisEndpoint,
  password: string,
  options: RedisConnectOptions,
): Promise<RedisAuthOutcome> {
  const command: RedisCommand =
    source.username === undefined ? ['AUTH', password] : ['AUTH', source.username, password];
  const reply = await requestRedisReplyLine(socket, command, options);
  if (!reply.startsWith('-')) return { auth: 'password' };
  const message = redactRedisServerMessage(reply.slice(1), source);
  if (/no password is set|without any password configured/i.test(message)) {
    return { auth: 'needless', authReply: message };
  }
  throw new DatabaseConnectError('startup', parseRedisErrorCode(message), message);
}
