import { StringDecoder } from 'node:string_decoder';
import type { Answer } from './send.ts';

/** Reads a body of at most `limit` bytes as UTF-8; undefined when it is longer. Compressed bodies arrive decoded. */
export async function readBody(answer: Answer, limit: number): Promise<string | undefined> {
  if (answer.body === null) return '';
  const decoder = new StringDecoder('utf8');
  let text = '';
  let size = 0;
  for await (const chunk of answer.body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the stream, so a server cannot make us swallow more.
    if (size > limit) return undefined;
    text += decoder.write(chunk);
  }
  return text + decoder.end();
}
