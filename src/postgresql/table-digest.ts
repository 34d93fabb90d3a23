import { createHash, hash, randomBytes } from 'node:crypto';

/** The number of rows of a table, and a digest of the rows that does not depend on the order of the rows. */
export interface TableContentDigest {
  readonly rows: number;
  /** Hexadecimal. Two tables with equal digests have the same rows. Digests of different processes cannot be compared. */
  readonly digest: string;
}

export interface TableDigestBuilder {
  /** @param part a row in the text format of COPY, or a part of a large row; the last part ends with a line feed */
  add(part: Uint8Array): void;
  content(): TableContentDigest;
}

/**
 * A random secret that is part of the hash of every row. Without a secret, anybody can compute two sets of rows whose hashes
 * have the same sum, in less than a second.
 */
const secret = randomBytes(32);

/** Rows up to this number of bytes are hashed in one call, which is faster. */
const maxSmallRow = 65_536;

/**
 * Adds the hashes of the rows: a sum does not depend on the order of rows, and counts equal rows as often as they
 * occur.
 */
export function createTableDigestBuilder(): TableDigestBuilder {
  let rows = 0;
  const sum = new Uint32Array(4);
  let large: ReturnType<typeof createHash> | undefined;
  const addHash = (bytes: Buffer) => {
    rows += 1;
    for (let lane = 0; lane < sum.length; lane += 1) sum[lane]! += bytes.readUInt32LE(lane * 4);
  };
  const endLargeRow = () => {
    if (large !== undefined) addHash(large.digest());
    large = undefined;
  };
  return {
    add(part) {
      // Each line feed ends a row, because COPY escapes a line feed in a value.
      const isEnd = part.at(-1) === 0x0a;
      if (large === undefined && isEnd && part.length <= maxSmallRow) {
        smallRow.set(part, secret.length);
        addHash(hash('sha256', smallRow.subarray(0, secret.length + part.length), 'buffer'));
        return;
      }
      large = (large ?? createHash('sha256').update(secret)).update(part);
      if (isEnd) endLargeRow();
    },
    content() {
      // The last row also counts if the server did not send its end.
      endLargeRow();
      return { rows, digest: [...sum].map((lane) => lane.toString(16).padStart(8, '0')).join('') };
    },
  };
}

const smallRow = Buffer.alloc(secret.length + maxSmallRow);
smallRow.set(secret);
