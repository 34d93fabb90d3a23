import type { IncomingMessage } from 'node:http';
import type { LoopbackHttpRequestBody } from './loopback-http-request.ts';

/** The maximum length of a POST body, in bytes; an authorization response is much shorter. */
export const maxLoopbackRequestBodyBytes = 16 * 1024;

/** Reads a request body of at most `limit` bytes; returns undefined when the connection was closed before the body was complete. */
export async function readLoopbackRequestBody(
  message: IncomingMessage,
  limit: number,
): Promise<LoopbackHttpRequestBody | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve) => {
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        // The rest of a body that is too long is discarded, and the connection is closed after the response.
        chunks.length = 0;
        resolve({ kind: 'too_long' });
        return;
      }
      chunks.push(chunk);
    });
    message.once('end', () => resolve({ kind: 'text', text: Buffer.concat(chunks).toString('utf8') }));
    message.once('error', () => resolve(undefined));
    message.once('close', () => resolve(undefined));
  });
}
