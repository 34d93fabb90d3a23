import { createByteValidator } from './byte-validator.ts';

/**
 * A unique index whose keys are compared. `columns`: the position of each key column among the copied columns, which
 * begin with all key columns.
 */
export interface ScannedUniqueKey {
  readonly columns: readonly number[];
  /** NULLS NOT DISTINCT: rows with NULL are compared too. */
  readonly nullsEqual: boolean;
}

export interface RowKeyAndEncodingScannerOptions {
  /** Number of columns at the start of each row that belong to unique keys. */
  readonly keyColumns: number;
  readonly keys: readonly ScannedUniqueKey[];
  /**
   * This function is called for each unique key of each row. It is not called for a key with a NULL that is never equal
   * to another key. `row` contains the complete row if rows do not arrive in parts.
   */
  readonly onKey: (key: number, high: number, low: number, row: Uint8Array) => void;
  /** The encoding of the bytes, as pg_encoding_to_char() names it; undefined if the bytes are not checked. */
  readonly encoding?: string | undefined;
  /** A random key, so that the owner of the data cannot choose values with equal hashes. */
  readonly seeds: readonly [number, number];
}

export interface RowKeyAndEncodingScanner {
  /** @param part a row in the text format of COPY, or a part of a large row; the last part ends with a line feed */
  add(part: Uint8Array): void;
  readonly found: ScannedRowStatistics;
}

/** The rows, sizes and invalid bytes that the scan of a table has found so far. */
export interface ScannedRowStatistics {
  readonly rows: number;
  readonly bytes: number;
  /** Bytes of the longest row. */
  readonly longestRow: number;
  /** Number of rows with invalid bytes, by the position of the column. */
  readonly invalid: ReadonlyMap<number, number>;
}

/**
 * Reads rows without decoding them. COPY escapes tabs and line feeds in values, so two values are equal if their bytes
 * are equal.
 */
export function createRowKeyAndEncodingScanner({
  keyColumns,
  keys,
  onKey,
  encoding,
  seeds,
}: RowKeyAndEncodingScannerOptions): RowKeyAndEncodingScanner {
  const validator = encoding === undefined ? undefined : createByteValidator(encoding);
  const invalid = new Map<number, number>();
  const found = { rows: 0, bytes: 0, longestRow: 0, invalid };
  const fields = createFieldHasher(keyColumns, seeds);
  let rowBytes = 0;
  const invalidFields = new Set<number>();
  const onInvalid = (field: number) => void invalidFields.add(field);
  return {
    found,
    add(part) {
      const isWhole = rowBytes === 0 && part.at(-1) === lineFeed;
      rowBytes += part.length;
      found.bytes += part.length;
      fields.add(part);
      // A whole row is tested first, which is fast. Only if the row is not valid, the column with the invalid bytes is
      // searched.
      if (validator !== undefined && !(isWhole && validator.isValid(part))) {
        if (isWhole) validator.reset();
        validator.scan(part, onInvalid);
      }
      if (part.at(-1) !== lineFeed) return;
      found.rows += 1;
      found.longestRow = Math.max(found.longestRow, rowBytes);
      if (invalidFields.size > 0) {
        for (const field of invalidFields) invalid.set(field, (invalid.get(field) ?? 0) + 1);
        invalidFields.clear();
      }
      if (!isWhole) validator?.reset();
      for (let key = 0; key < keys.length; key += 1) {
        const { columns, nullsEqual } = keys[key]!;
        let [high, low] = seeds;
        let isDistinct = false;
        for (const column of columns) {
          isDistinct ||= fields.isNull[column] === 1;
          high = mix(high, fields.high[column]!, 0x85ebca6b);
          low = mix(low, fields.low[column]!, 0xc2b2ae35);
        }
        if (!isDistinct || nullsEqual) onKey(key, finish(high), finish(low), part);
      }
      rowBytes = 0;
      fields.reset();
    },
  };
}

/**
 * Joins the parts of a row. A row above 16 MiB is left out. The row contains only the columns of an index, and an index
 * entry has at most some kB after compression.
 */
export function joinCopyRowParts(take: (row: Uint8Array) => void): (part: Uint8Array) => void {
  let parts: Uint8Array[] = [];
  let size = 0;
  return (part) => {
    const isEnd = part.at(-1) === lineFeed;
    if (isEnd && size === 0) return take(part);
    size += part.length;
    // The bytes of each received part of a row are overwritten by the next part.
    if (size <= maxJoined) parts.push(Uint8Array.from(part));
    if (!isEnd) return undefined;
    if (size <= maxJoined) take(Buffer.concat(parts));
    parts = [];
    size = 0;
  };
}

const maxJoined = 16 * 2 ** 20;

const lineFeed = 0x0a;
const tab = 0x09;
const backslash = 0x5c;
const letterN = 0x4e;

interface FieldHasher {
  add(part: Uint8Array): void;
  reset(): void;
  readonly high: Int32Array;
  readonly low: Int32Array;
  /** For each hashed field: 1 if the field is NULL, otherwise 0. */
  readonly isNull: Uint8Array;
}

/** Hashes of the first `count` fields of a row. */
function createFieldHasher(count: number, [highSeed, lowSeed]: readonly [number, number]): FieldHasher {
  const result = { high: new Int32Array(count), low: new Int32Array(count), isNull: new Uint8Array(count) };
  let field = 0;
  let high = highSeed;
  let low = lowSeed;
  let length = 0;
  let maybeNull = true;
  const begin = () => {
    high = highSeed;
    low = lowSeed;
    length = 0;
    maybeNull = true;
  };
  return {
    ...result,
    reset() {
      field = 0;
      begin();
    },
    add(part) {
      for (let at = 0; field < count && at < part.length; at += 1) {
        const byte = part[at]!;
        if (byte === tab || byte === lineFeed) {
          result.high[field] = finish(high);
          result.low[field] = finish(low ^ length);
          // `\N` is NULL; a backslash in a value is doubled.
          result.isNull[field] = maybeNull && length === 2 ? 1 : 0;
          field += 1;
          begin();
        } else {
          if (length < 2 && byte !== (length === 0 ? backslash : letterN)) maybeNull = false;
          high = mix(high, byte, 0x85ebca6b);
          low = mix(low, byte, 0xc2b2ae35);
          length += 1;
        }
      }
    },
  };
}

/** Steps of MurmurHash3, with another factor for each half of the hash. */
function mix(hash: number, value: number, factor: number): number {
  const product = Math.imul(hash ^ value, factor);
  return (product << 13) | (product >>> 19);
}

function finish(hash: number): number {
  let one = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  one = Math.imul(one ^ (one >>> 13), 0xc2b2ae35);
  return (one ^ (one >>> 16)) >>> 0;
}
