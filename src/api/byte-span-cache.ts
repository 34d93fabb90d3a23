import { noJsonValue } from './json-scan.ts';

/** Pieces of JSON text that were seen before. */
export interface ByteSpanCache {
  /** Where the one that begins at `from` ends, if it is one of them, else `none`. */
  matchEnd(bytes: Buffer, from: number): number;
  /** Remembers the one between these places, if that is worth it. */
  remember(bytes: Buffer, from: number, end: number): void;
}

/** Shorter ones are read as fast as they are compared. */
const minSpanLength = 256;
const maxSpans = 4;
/** Where so many in a row were new, the next will be new as well. */
const maxMisses = 50;

/**
 * The droplets of a list have few images, sizes and regions, which are most of its text and the same to the byte: what was
 * read once is only compared then.
 */
export function createByteSpanCache(): ByteSpanCache {
  /** The latest first. */
  const pieces: Buffer[] = [];
  let learnt = 0;
  return {
    matchEnd(bytes, from) {
      for (const piece of pieces) {
        const end = from + piece.length;
        if (end > bytes.length || bytes.compare(piece, 0, piece.length, from, end) !== 0) continue;
        learnt = 0;
        return end;
      }
      return noJsonValue;
    },
    remember(bytes, from, end) {
      if (end - from < minSpanLength || learnt === maxMisses) return;
      learnt += 1;
      // Nothing is compared in vain any more.
      if (learnt === maxMisses) return void pieces.splice(0);
      pieces.unshift(Buffer.from(bytes.subarray(from, end)));
      pieces.length = Math.min(pieces.length, maxSpans);
    },
  };
}
