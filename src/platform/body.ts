import type { Answer } from './send.ts';

/** Reads a body of at most `limit` bytes as UTF-8; undefined when it is longer. Compressed bodies arrive decoded. */
export async function readBody(answer: Answer, limit: number): Promise<string | undefined> {
  if (answer.body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream, so a server cannot make us swallow more.
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
