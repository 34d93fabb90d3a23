import type { RedisCommand } from '../../redis/connection.ts';
import { formatRedisCommand } from '../../redis/quote.ts';
import { encodeCommand } from '../../redis/resp.ts';

export interface SentCounter {
  readonly addCommand: (words: RedisCommand) => void;
  readonly addLine: (line: string) => void;
  readonly count: () => number;
  readonly bytes: () => number;
}

/** Counts and tells what is sent. */
export function createSentCounter(onQuery: ((place: string, text: string) => void) | undefined): SentCounter {
  let count = 0;
  let bytes = 0;
  const said = (line: string) => {
    count += 1;
    onQuery?.('server', line);
  };
  return {
    addLine: said,
    addCommand(words) {
      const texts = words.map((word) => (typeof word === 'string' ? word : Buffer.from(word).toString('utf8')));
      bytes += encodeCommand(texts).length;
      said(formatRedisCommand(...texts));
    },
    count: () => count,
    bytes: () => bytes,
  };
}
