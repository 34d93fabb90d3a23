import type { Socket } from 'node:net';
import { ConnectError, connectErrorCodes } from '../platform/connect-error.ts';
import { errorCodeOf, redactServerMessage } from './command-error.ts';
import { exchangeLine } from './resp.ts';
import type { RedisSource } from './source.ts';
import type { TimeLimit } from './time-limit.ts';

export interface RedisAuthentication {
  /** `needless`: a password was given and the server has none; `open`: none was given, none was asked for. */
  readonly auth: 'password' | 'needless' | 'open';
  /** What the server said to the needless password. */
  readonly authReply?: string;
  /** The error PING got though we are in: LOADING, MISCONF, MASTERDOWN, NOPERM. */
  readonly notice?: { readonly code: string; readonly message: string };
}

/**
 * Says who we are, and PING. By hand, because ioredis swallows some refusals of AUTH, prints others, and keeps the
 * password in its errors. Throws a ConnectError with the server's own words.
 */
export async function authenticate(
  socket: Socket,
  source: RedisSource,
  bound: TimeLimit,
): Promise<RedisAuthentication> {
  const password = source.password?.reveal() ?? '';
  const auth = password === '' ? undefined : await sendAuth(socket, source, password, bound);
  const reply = await exchangeLine(socket, ['PING'], bound);
  const entered: RedisAuthentication = auth ?? { auth: 'open' };
  if (!reply.startsWith('-')) return entered;
  const message = redactServerMessage(reply.slice(1), source);
  const code = /^ERR operation not permitted/i.test(message) ? 'NOAUTH' : errorCodeOf(message);
  if (outside.has(code)) throw new ConnectError('startup', code, message);
  return { ...entered, notice: { code, message } };
}

const outside: ReadonlySet<string> = new Set(['NOAUTH', 'DENIED', connectErrorCodes.maxClients]);

async function sendAuth(
  socket: Socket,
  source: RedisSource,
  password: string,
  bound: TimeLimit,
): Promise<RedisAuthentication> {
  const words = source.username === undefined ? ['AUTH', password] : ['AUTH', source.username, password];
  const reply = await exchangeLine(socket, words, bound);
  if (!reply.startsWith('-')) return { auth: 'password' };
  const message = redactServerMessage(reply.slice(1), source);
  if (/no password is set|without any password configured/i.test(message)) {
    return { auth: 'needless', authReply: message };
  }
  throw new ConnectError('startup', errorCodeOf(message), message);
}
