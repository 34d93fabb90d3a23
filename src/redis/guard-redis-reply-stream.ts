import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { RedisReplyValidator } from './reply-validator.ts';

/**
 * Passes only bytes that the reader accepts to the listener that ioredis adds to the socket; other bytes end the
 * connection.
 * @returns the error of the reader; undefined if there was none
 */
export function guardRedisReplyStream(socket: Socket, reader: Pick<RedisReplyValidator, 'read'>): () => unknown {
  let failure: unknown;
  const events: EventEmitter = socket;
  const prependListener = events.prependListener.bind(socket);
  const check = (chunk: unknown): boolean => {
    if (failure !== undefined) return false;
    try {
      if (Buffer.isBuffer(chunk)) reader.read(chunk);
      return true;
    } catch (error) {
      failure = error;
      socket.destroy();
      return false;
    }
  };
  // ioredis calls this method of the socket to add its listener.
  Object.defineProperty(socket, 'prependListener', {
    value(event: string, listener: (chunk: unknown) => void) {
      const checked = (chunk: unknown) => {
        if (check(chunk)) listener(chunk);
      };
      return prependListener(event, event === 'data' ? checked : listener);
    },
  });
  return () => failure;
}
