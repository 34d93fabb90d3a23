import { ConnectError, clientErrorCodes } from '../platform/network-errors.ts';
import { parseErrorCode, redactServerMessage } from './command-error.ts';
import type { RedisEndpoint } from './endpoint.ts';
import { openSocket } from './redis-socket.ts';
import { type RedisCommand, type RedisConnectOptions, requestLine } from './resp.ts';

/**
 * Opens further connections, on which no password is sent, to find out why a connection ended without an error message.
 * Such a failure is typical of a server with another TLS setting: it closes the connection without a message, or never
 * responds.
 */
export async function probeConnectError(
  error: ConnectError,
  source: RedisEndpoint,
  options: RedisConnectOptions,
): Promise<ConnectError> {
  const short = { ...options, limit: Math.min(options.limit, 2000) };
  if (source.ssl === 'require') {
    const isUnclear =
      error.phase === 'tls' && error.code === clientErrorCodes.tls && /no response|was closed/.test(error.message);
    if (!isUnclear || !(await speaksPlain(source, short))) return error;
    return new ConnectError(
      'tls',
      clientErrorCodes.noTls,
      'the server does not support TLS on this port (it responds without TLS)',
    );
  }
  if (
    error.phase !== 'startup' ||
    (error.code !== clientErrorCodes.closed && error.code !== clientErrorCodes.timeout)
  ) {
    return error;
  }
  const said = await unsolicitedError(source, short);
  if (said !== undefined) return said;
  if (!(await speaksTls(source, short))) return error;
  return new ConnectError('startup', clientErrorCodes.onlyTls, 'the server requires TLS on this port');
}

/**
 * Reads the error that a server sends before it closes the connection, without sending any bytes, because the operating
 * system may drop the error otherwise.
 */
async function unsolicitedError(
  source: RedisEndpoint,
  options: RedisConnectOptions,
): Promise<ConnectError | undefined> {
  const line = await readLine(source, undefined, { ...options, limit: 500 });
  if (line?.startsWith('-') !== true) return undefined;
  const message = redactServerMessage(line.slice(1), source);
  return new ConnectError('startup', parseErrorCode(message), message);
}

async function speaksPlain(source: RedisEndpoint, options: RedisConnectOptions): Promise<boolean> {
  const line = await readLine({ ...source, ssl: 'disable' }, ['PING'], options);
  return line !== undefined;
}

/** Sends the command, if given, on a separate connection and reads the first line of the reply. */
async function readLine(
  source: RedisEndpoint,
  command: RedisCommand | undefined,
  options: RedisConnectOptions,
): Promise<string | undefined> {
  try {
    const { socket } = await openSocket(source, options);
    return await requestLine(socket, command, options).finally(() => socket.destroy());
  } catch {
    return undefined;
  }
}

async function speaksTls(source: RedisEndpoint, options: RedisConnectOptions): Promise<boolean> {
  try {
    const { socket } = await openSocket({ ...source, ssl: 'require', ca: undefined }, options);
    socket.destroy();
    return true;
  } catch {
    return false;
  }
}
