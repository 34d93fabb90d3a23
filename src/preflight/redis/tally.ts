import type { Words } from '../../redis/connection.ts';
import { commandLine } from '../../redis/quote.ts';
import { encode } from '../../redis/wire.ts';

export interface Tally {
  readonly heard: (words: Words) => void;
  readonly said: (line: string) => void;
  readonly count: () => number;
  readonly bytes: () => number;
}

/** Counts and tells what is sent. */
export function tallyOf(onQuery: ((place: string, text: string) => void) | undefined): Tally {
  let count = 0;
  let bytes = 0;
  const said = (line: string) => {
    count += 1;
    onQuery?.('server', line);
  };
  return {
    said,
    heard(words) {
      const texts = words.map((word) => (typeof word === 'string' ? word : Buffer.from(word).toString('utf8')));
      bytes += encode(texts).length;
      said(commandLine(...texts));
    },
    count: () => count,
    bytes: () => bytes,
  };
}
