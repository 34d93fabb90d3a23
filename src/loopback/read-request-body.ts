import type { IncomingMessage } from 'node:http';
import type { LoopbackRequestBody } from './loopback-request.ts';

/** The longest POST body, in bytes; an authorization response is much shorter. */
export const maxRequestBodyBytes = 16 * 1024;

/** Reads a body of at most `limit` bytes; undefined when the connection was closed before its end. */
export async function readRequestBody(
  message: IncomingMessage,
  limit: number,
): Promise<LoopbackRequestBody | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve) => {
    message.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        // The rest is discarded; the connection ends with the response.
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
