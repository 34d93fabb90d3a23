import { sanitizeLine } from '../base/sanitize.ts';
import { DatabaseConnectError } from '../platform/connect-error.ts';
import type { PostgresqlMessageReader } from './message-reader.ts';
import type { Stream } from './pg.ts';

/**
 * The stream that the package pg reads: it contains only complete and checked messages. pg parses messages in a
 * listener and throws on some, such as a Kerberos request; no caller can catch this error, so the stream catches
 * it and destroys the connection.
 */
export function createPostgresqlMessageStream(
  stream: Stream,
  createReader: (deliver: (messages: Buffer) => void) => Pick<PostgresqlMessageReader, 'read'>,
): Stream {
  return {
    on(event, listener) {
      const reader = event === 'data' ? createReader((messages) => listener(messages)) : undefined;
      return stream.on(event, (...values) => {
        try {
          const [bytes] = values;
          if (reader !== undefined && Buffer.isBuffer(bytes)) reader.read(bytes);
          else listener(...values);
        } catch (error) {
          stream.destroy(error instanceof DatabaseConnectError ? error : new Error(sanitizeLine(String(error))));
        }
      });
    },
    destroy: (error) => stream.destroy(error),
  };
}
