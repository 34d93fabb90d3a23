import { none } from './json-scan.ts';

/** JSON objects that were seen before. */
export interface Familiar {
  /** Where the one that begins at `from` ends, if it is one of them, else `none`. */
  endOf(bytes: Buffer, from: number): number;
  /** Remembers the one between these places, if it is worth it. */
  learn(bytes: Buffer, from: number, end: number): void;
}

/** Shorter ones are read as fast as they are compared. */
const shortest = 256;
const most = 4;

/**
 * The droplets of a list have few images, sizes and regions, which are most of its text and the same to the byte: what was
 * read once is only compared then.
 */
export function createFamiliar(): Familiar {
  /** The latest first. */
  const objects: Buffer[] = [];
  return {
    endOf(bytes, from) {
      for (const object of objects) {
        const end = from + object.length;
        if (end <= bytes.length && bytes.compare(object, 0, object.length, from, end) === 0) return end;
      }
      return none;
    },
    learn(bytes, from, end) {
      if (bytes[from] !== openBrace || end - from < shortest) return;
      objects.unshift(Buffer.from(bytes.subarray(from, end)));
      objects.length = Math.min(objects.length, most);
    },
  };
}

const openBrace = 0x7b;
