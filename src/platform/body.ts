import type { Answer } from './send.ts';

/** Reads a body of at most `limit` bytes; undefined when it is longer. Compressed bodies arrive decoded. */
export async function readBytes({ body }: Answer, limit: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream, so a server cannot make us swallow more.
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The same as UTF-8. */
export async function readBody(answer: Answer, limit: number): Promise<string | undefined> {
  return (await readBytes(answer, limit))?.toString('utf8');
}
