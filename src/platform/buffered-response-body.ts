import type { HttpResponse } from './http-sender.ts';

/** A complete, decompressed response body, whose chunks are joined on first use. */
export interface BufferedResponseBody {
  /** The length of the body in bytes. */
  readonly size: number;
  readonly bytes: () => Buffer;
  /** Returns the last `length` bytes of the body, or the whole body if it is shorter. */
  readonly end: (length: number) => Buffer;
}

/** Reads a response body of at most `limit` bytes; returns undefined when the body is longer. */
export async function bufferResponseBody(
  { body }: HttpResponse,
  limit: number,
): Promise<BufferedResponseBody | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream of the response body.
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return createBufferedResponseBody(chunks);
}

/** Reads a response body of at most `limit` bytes and decodes it as UTF-8. */
export async function readResponseBodyText(answer: HttpResponse, limit: number): Promise<string | undefined> {
  return (await bufferResponseBody(answer, limit))?.bytes().toString('utf8');
}

export function createBufferedResponseBody(chunks: readonly Uint8Array[]): BufferedResponseBody {
  const size = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let parts = chunks;
  const joined = (): Buffer => {
    const [only] = parts;
    if (parts.length === 1 && Buffer.isBuffer(only)) return only;
    const whole = Buffer.concat(parts, size);
    parts = [whole];
    return whole;
  };
  return {
    size,
    bytes: joined,
    end(length) {
      const last = parts.at(-1) ?? new Uint8Array();
      const bytes = last.byteLength < length ? joined() : Buffer.from(last.buffer, last.byteOffset, last.byteLength);
      return bytes.subarray(Math.max(0, bytes.length - length));
    },
  };
}
