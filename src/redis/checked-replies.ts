import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { ReplyReader } from './reply-reader.ts';

/**
 * Lets the listener that ioredis adds to the socket see only bytes that the reader accepts; others end the connection.
 * @returns the error of the reader; undefined: there was none
 */
export function checkReplies(socket: Socket, reader: Pick<ReplyReader, 'read'>): () => unknown {
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
  // ioredis adds its listener in this way when it takes the connection over.
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
