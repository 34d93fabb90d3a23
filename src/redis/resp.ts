import type { Socket } from 'node:net';
import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../platform/connect-error.ts';
import { toRedisConnectError } from './command-error.ts';
import { type RedisCommand, type RedisConnectOptions, sendRedisCommand } from './send-redis-command.ts';
import { withTimeLimit } from './time-limit-options.ts';

/** Encodes a command as an array of bulk strings (https://redis.io/docs/latest/develop/reference/protocol-spec/). */
export function encodeRedisCommand(command: RedisCommand): Buffer {
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
export async function requestRedisReplyLine(
  socket: Socket,
  command: RedisCommand | undefined,
  options: RedisConnectOptions,
): Promise<string> {
  const late = () =>
    new DatabaseConnectError('startup', clientSideDatabaseErrorCodes.timeout, 'connected, but no response');
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
        reject(
          new DatabaseConnectError('startup', clientSideDatabaseErrorCodes.closed, 'the server closed the connection'),
        );
      socket.on('data', take).once('error', reject).once('close', closed).resume();
      if (socket.destroyed) closed();
      else if (command !== undefined)
        sendRedisCommand(command, options, (sent) => socket.write(encodeRedisCommand(sent)));
      return () => void socket.off('data', take).off('error', reject).off('close', closed);
    });
  } catch (error) {
    throw toRedisConnectError('startup', error);
  }
}

/** The error for bytes with which no reply of a Redis server begins; undefined if they may be a reply. */
function nonRedisError(received: Buffer): DatabaseConnectError | undefined {
  const first = received[0];
  // The beginning of a TLS alert record: type 21, then the major version 3 (RFC 8446 §5.1).
  if (first === 0x15 && (received.length === 1 || received[1] === 0x03)) {
    return new DatabaseConnectError(
      'startup',
      clientSideDatabaseErrorCodes.onlyTls,
      'the server requires TLS on this port',
    );
  }
  const isReply = first === undefined || '+-:$*\r\n'.includes(String.fromCharCode(first));
  if (isReply && received.length < 65_536) return undefined;
  return new DatabaseConnectError(
    'startup',
    clientSideDatabaseErrorCodes.protocol,
    'the service on this port does not use the Redis protocol',
  );
}
