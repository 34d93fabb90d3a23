import { createHash, hash } from 'node:crypto';

/** The number of rows of a table, and a digest of their text that does not depend on their order. */
export interface TableContentDigest {
  readonly rows: number;
  /** A hexadecimal digest; two tables with equal digests have the same rows. */
  readonly digest: string;
}

export interface TableDigestBuilder {
  /** @param part a row in the text format of COPY, or a part of a large row; the last part ends with a line feed */
  add(part: Uint8Array): void;
  content(): TableContentDigest;
}

/**
 * Adds the hashes of the rows: a sum does not depend on the order of rows, and counts equal rows as often as they
 * occur.
 */
export function createTableDigestBuilder(): TableDigestBuilder {
  let rows = 0;
  const sum = new Uint32Array(4);
  let large: ReturnType<typeof createHash> | undefined;
  return {
    add(part) {
      // Each line feed ends a row, because COPY escapes a line feed in a value.
      const isEnd = part.at(-1) === 0x0a;
      if (large !== undefined || !isEnd) large = (large ?? createHash('sha256')).update(part);
      if (!isEnd) return;
      const bytes = large?.digest() ?? hash('sha256', part, 'buffer');
      large = undefined;
      rows += 1;
      for (let lane = 0; lane < sum.length; lane += 1) sum[lane]! += bytes.readUInt32LE(lane * 4);
    },
    content: () => ({ rows, digest: [...sum].map((lane) => lane.toString(16).padStart(8, '0')).join('') }),
  };
}
