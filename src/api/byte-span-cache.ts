import { noJsonValue } from './json-scan.ts';

/** Caches pieces of JSON text that were scanned before. */
export interface ByteSpanCache {
  /** The end of the cached piece that starts at `from`, or `noJsonValue`. */
  matchEnd(bytes: Buffer, from: number): number;
  /** Caches the bytes from `from` to `end`, if comparing them later is faster than parsing them again. */
  remember(bytes: Buffer, from: number, end: number): void;
}

/** Shorter pieces are scanned as fast as they are compared. */
const minSpanLength = 256;
const maxSpans = 4;
/** After so many consecutive misses the cache is disabled. */
const maxMisses = 50;

/**
 * The droplets of a list share few images, sizes and regions, which are most of its text and equal to the byte. A piece that
 * was scanned once is only compared afterwards.
 */
export function createByteSpanCache(): ByteSpanCache {
  /** Most recent first. */
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
      // No piece is compared in vain from now on.
      if (misses === maxMisses) return void pieces.splice(0);
      pieces.unshift(Buffer.from(bytes.subarray(from, end)));
      pieces.length = Math.min(pieces.length, maxSpans);
    },
  };
}
