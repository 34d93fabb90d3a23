import { noJsonValue } from './json-value-end-finder.ts';

/** Caches pieces of JSON text that the scanner has read before. */
export interface ScannedJsonTextCache {
  /** The end of the cached piece of text that starts at `from`, or `noJsonValue`. */
  matchEnd(bytes: Buffer, from: number): number;
  /** Caches the bytes from `from` to `end`, if comparing them later is faster than parsing them again. */
  remember(bytes: Buffer, from: number, end: number): void;
}

/** Comparing a shorter piece of text takes as long as scanning it. */
const minSpanLength = 256;
const maxSpans = 4;
/** The cache is disabled after this number of consecutive misses. */
const maxMisses = 50;

/**
 * The droplets of a list share a few images, sizes and regions; these make up most of the text and are equal byte for byte. A
 * piece of text that was scanned once is recognized by comparison afterwards.
 */
export function createScannedJsonTextCache(): ScannedJsonTextCache {
  /** The cached pieces of text, the most recently used first. */
  const pieces: Buffer[] = [];
  let misses = 0;
  return {
    matchEnd(bytes, from) {
      for (const piece of pieces) {
        const end = from + piece.length;
        if (end > bytes.length || bytes.compare(piece, 0, piece.length, from, end) !== 0) continue;
        misses = 0;
        return end;
      }
      return noJsonValue;
    },
    remember(bytes, from, end) {
      if (end - from < minSpanLength || misses === maxMisses) return;
      misses += 1;
      // From now on the cache stays empty, because searching it costs time and finds nothing.
      if (misses === maxMisses) return void pieces.splice(0);
      pieces.unshift(Buffer.from(bytes.subarray(from, end)));
      pieces.length = Math.min(pieces.length, maxSpans);
    },
  };
}
