import type { Answer } from './send.ts';

/** A body that was read to its end, compressed ones decoded. It stays in pieces until it is wanted as a whole. */
export interface Body {
  /** In bytes. */
  readonly size: number;
  readonly bytes: () => Buffer;
  /** The last bytes, at most so many. */
  readonly end: (length: number) => Buffer;
}

/** Reads a body of at most `limit` bytes; undefined when it is longer. */
export async function receiveBody({ body }: Answer, limit: number): Promise<Body | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream, so a server cannot make us swallow more.
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return bodyOf(chunks);
}

/** The same as UTF-8. */
export async function readBody(answer: Answer, limit: number): Promise<string | undefined> {
  return (await receiveBody(answer, limit))?.bytes().toString('utf8');
}

export function bodyOf(chunks: readonly Uint8Array[]): Body {
  const size = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  let pieces = chunks;
  const joined = (): Buffer => {
    const [only] = pieces;
    if (pieces.length === 1 && Buffer.isBuffer(only)) return only;
    const whole = Buffer.concat(pieces, size);
    pieces = [whole];
    return whole;
  };
  return {
    size,
    bytes: joined,
    end(length) {
      const last = pieces.at(-1) ?? new Uint8Array();
      const bytes = last.byteLength < length ? joined() : Buffer.from(last.buffer, last.byteOffset, last.byteLength);
      return bytes.subarray(Math.max(0, bytes.length - length));
    },
  };
}
