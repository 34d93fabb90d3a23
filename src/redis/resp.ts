import type { Socket } from 'node:net';
import { ConnectError, connectErrorCodes } from '../platform/connect-error.ts';
import { toRedisConnectError } from './command-error.ts';
import { type TimeLimit, withTimeLimit } from './time-limit.ts';

/** A command as arrays of bulk strings (https://redis.io/docs/latest/develop/reference/protocol-spec/). */
export function encodeCommand(words: readonly string[]): Buffer {
  return Buffer.from(
    [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ''].join('\r\n'),
  );
}

/**
 * Sends a command whose reply is one line, and reads that line, its type first: `+OK`, `-NOAUTH …`. Without words it
 * only listens. What comes after the line stays unread in the socket. Throws a ConnectError.
 */
export async function exchangeLine(
  socket: Socket,
  words: readonly string[] | undefined,
  bound: TimeLimit,
): Promise<string> {
  const late = () => new ConnectError('startup', connectErrorCodes.timeout, 'connected, but no answer');
  try {
    return await withTimeLimit<string>(bound, late, (resolve, reject) => {
      let seen = Buffer.alloc(0);
      const take = (data: Buffer) => {
        seen = Buffer.concat([seen, data]);
        const end = seen.indexOf(0x0a);
        const stranger = nonRedisError(seen);
        if (stranger !== undefined) return reject(stranger);
        if (end < 0) return undefined;
        socket.pause();
        socket.off('data', take);
        if (end + 1 < seen.length) socket.unshift(seen.subarray(end + 1));
        return resolve(seen.subarray(0, end).toString('utf8').replace(/\r$/, ''));
      };
      const closed = () =>
        reject(new ConnectError('startup', connectErrorCodes.closed, 'the server closed the connection'));
      socket.on('data', take).once('error', reject).once('close', closed).resume();
      if (socket.destroyed) closed();
      else if (words !== undefined) socket.write(encodeCommand(words));
      return () => void socket.off('data', take).off('error', reject).off('close', closed);
    });
  } catch (error) {
    throw toRedisConnectError('startup', error);
  }
}

/** Bytes that no Redis begins a line with. */
function nonRedisError(seen: Buffer): ConnectError | undefined {
  const first = seen[0];
  // RFC 8446 §5.1: 21 is an alert, and 3 the first half of every version.
  if (first === 0x15 && (seen.length === 1 || seen[1] === 0x03)) {
    return new ConnectError('startup', connectErrorCodes.onlyTls, 'the server speaks TLS on this port');
  }
  const begins = first === undefined || '+-:$*\r\n'.includes(String.fromCharCode(first));
  if (begins && seen.length < 65_536) return undefined;
  return new ConnectError('startup', connectErrorCodes.protocol, 'what answers does not speak the protocol of Redis');
}
