import { ConnectError, connectErrorCodes } from '../platform/connect-error.ts';
import { errorCodeOf, redactServerMessage } from './command-error.ts';
import { openRedisSocket } from './redis-socket.ts';
import { exchangeLine } from './resp.ts';
import type { RedisSource } from './source.ts';
import type { TimeLimit } from './time-limit.ts';

/**
 * The better reason for a connection that failed without one: another connection is made that says nothing about us.
 * Servers hang up without a word on the wrong kind of connection, or wait for ever.
 */
export async function explainConnectError(
  error: ConnectError,
  source: RedisSource,
  bound: TimeLimit,
): Promise<ConnectError> {
  const patience = { ...bound, limit: Math.min(bound.limit, 2000) };
  if (source.ssl === 'require') {
    const unclear =
      error.phase === 'tls' && error.code === connectErrorCodes.tls && /no answer|was closed/.test(error.message);
    if (!unclear || !(await speaksPlain(source, patience))) return error;
    return new ConnectError(
      'tls',
      connectErrorCodes.noTls,
      'the server does not speak TLS on this port (it answers without)',
    );
  }
  if (
    error.phase !== 'startup' ||
    (error.code !== connectErrorCodes.closed && error.code !== connectErrorCodes.timeout)
  )
    return error;
  const said = await unsolicitedError(source, patience);
  if (said !== undefined) return said;
  if (!(await speaksTls(source, patience))) return error;
  return new ConnectError('startup', connectErrorCodes.onlyTls, 'the server speaks TLS on this port');
}

/** A server that hangs up may have said why, and our own bytes made the system drop it: silent, we hear it. */
async function unsolicitedError(source: RedisSource, bound: TimeLimit): Promise<ConnectError | undefined> {
  const line = await readLine(source, undefined, { ...bound, limit: 500 });
  if (line?.startsWith('-') !== true) return undefined;
  const message = redactServerMessage(line.slice(1), source);
  return new ConnectError('startup', errorCodeOf(message), message);
}

async function speaksPlain(source: RedisSource, bound: TimeLimit): Promise<boolean> {
  const line = await readLine({ ...source, ssl: 'disable' }, ['PING'], bound);
  return line !== undefined;
}

/** One line, over a connection of its own. */
async function readLine(
  source: RedisSource,
  words: readonly string[] | undefined,
  bound: TimeLimit,
): Promise<string | undefined> {
  try {
    const { socket } = await openRedisSocket(source, bound);
    return await exchangeLine(socket, words, bound).finally(() => socket.destroy());
  } catch {
    return undefined;
  }
}

async function speaksTls(source: RedisSource, bound: TimeLimit): Promise<boolean> {
  try {
    const { socket } = await openRedisSocket({ ...source, ssl: 'require', ca: undefined }, bound);
    socket.destroy();
    return true;
  } catch {
    return false;
  }
}
