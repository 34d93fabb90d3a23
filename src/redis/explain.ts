import type { Bound } from './bounded.ts';
import { dial } from './dial.ts';
import { ConnectError, codeIn, ownCodes, serverWords } from './failure.ts';
import type { RedisSource } from './source.ts';
import { exchange } from './wire.ts';

/**
 * The better reason for a connection that failed without one: another connection is made that says nothing about us.
 * Servers hang up without a word on the wrong kind of connection, or wait for ever.
 */
export async function explained(error: ConnectError, source: RedisSource, bound: Bound): Promise<ConnectError> {
  const patience = { ...bound, limit: Math.min(bound.limit, 2000) };
  if (source.ssl === 'require') {
    const unclear = error.phase === 'tls' && error.code === ownCodes.tls && /no answer|was closed/.test(error.message);
    if (!unclear || !(await speaksPlain(source, patience))) return error;
    return new ConnectError('tls', ownCodes.noTls, 'the server does not speak TLS on this port (it answers without)');
  }
  if (error.phase !== 'startup' || (error.code !== ownCodes.closed && error.code !== ownCodes.timeout)) return error;
  const said = await unasked(source, patience);
  if (said !== undefined) return said;
  if (!(await speaksTls(source, patience))) return error;
  return new ConnectError('startup', ownCodes.onlyTls, 'the server speaks TLS on this port');
}

/** A server that hangs up may have said why, and our own bytes made the system drop it: silent, we hear it. */
async function unasked(source: RedisSource, bound: Bound): Promise<ConnectError | undefined> {
  const line = await listen(source, undefined, { ...bound, limit: 500 });
  if (line?.startsWith('-') !== true) return undefined;
  const message = serverWords(line.slice(1), source);
  return new ConnectError('startup', codeIn(message), message);
}

async function speaksPlain(source: RedisSource, bound: Bound): Promise<boolean> {
  const line = await listen({ ...source, ssl: 'disable' }, ['PING'], bound);
  return line !== undefined;
}

/** One line, over a connection of its own. */
async function listen(
  source: RedisSource,
  words: readonly string[] | undefined,
  bound: Bound,
): Promise<string | undefined> {
  try {
    const { socket } = await dial(source, bound);
    return await exchange(socket, words, bound).finally(() => socket.destroy());
  } catch {
    return undefined;
  }
}

async function speaksTls(source: RedisSource, bound: Bound): Promise<boolean> {
  try {
    const { socket } = await dial({ ...source, ssl: 'require', ca: undefined }, bound);
    socket.destroy();
    return true;
  } catch {
    return false;
  }
}
