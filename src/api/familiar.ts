import { none } from './json-scan.ts';

/** Pieces of JSON text that were seen before. */
export interface Familiar {
  /** Where the one that begins at `from` ends, if it is one of them, else `none`. */
  endOf(bytes: Buffer, from: number): number;
  /** Remembers the one between these places, if that is worth it. */
  learn(bytes: Buffer, from: number, end: number): void;
}

/** Shorter ones are read as fast as they are compared. */
const shortest = 256;
const most = 4;
/** Where so many in a row were new, the next will be new as well. */
const patience = 50;

/**
 * The droplets of a list have few images, sizes and regions, which are most of its text and the same to the byte: what was
 * read once is only compared then.
 */
export function createFamiliar(): Familiar {
  /** The latest first. */
  const pieces: Buffer[] = [];
  let learnt = 0;
  return {
    endOf(bytes, from) {
      for (const piece of pieces) {
        const end = from + piece.length;
        if (end > bytes.length || bytes.compare(piece, 0, piece.length, from, end) !== 0) continue;
        learnt = 0;
        return end;
      }
      return none;
    },
    learn(bytes, from, end) {
      if (end - from < shortest || learnt === patience) return;
      learnt += 1;
      // Nothing is compared in vain any more.
      if (learnt === patience) return void pieces.splice(0);
      pieces.unshift(Buffer.from(bytes.subarray(from, end)));
      pieces.length = Math.min(pieces.length, most);
    },
  };
}
