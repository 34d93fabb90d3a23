/** Receives a hash of 64 bits as two numbers of 32 bits. */
export type HashVisitor = (high: number, low: number) => void;

/** The hashes of the keys of one index. */
export interface KeyHashes {
  add: HashVisitor;
  /** The hashes that may have been added more than once; undefined: there are too many for the memory. */
  repeated(): KeySet | undefined;
  /**
   * False if the repeated hashes can include hashes that were added once, because only a Bloom filter was kept in
   * memory.
   */
  isExact(): boolean;
  /** Bytes in use. */
  bytes(): number;
}

export interface KeySet {
  readonly size: number;
  /** Position of the hash; -1: it is not in the set. */
  find(high: number, low: number): number;
  /** The hashes at the positions for which `isPicked` returns true. */
  pick(isPicked: (position: number) => boolean): KeySet;
}

/**
 * Collects hashes in bounded memory. The hashes are stored unchanged while they need at most half of `memory`. Beyond
 * that, all hashes are moved into a Bloom filter, which uses the other half: a hash whose bits are already set may be a
 * repeated hash.
 * @param memory bytes
 */
export function createKeyHashes(memory: number): KeyHashes {
  let stored: HashList | undefined = createHashList();
  let filter: BloomFilter | undefined;
  let candidates: HashList | undefined = createHashList();
  const addToFilter: HashVisitor = (high, low) => {
    if (filter?.add(high, low) !== true) return;
    candidates?.add(high, low);
    if (candidates !== undefined && candidates.bytes() > memory / 8) candidates = undefined;
  };
  return {
    add(high, low) {
      if (stored === undefined) addToFilter(high, low);
      else {
        stored.add(high, low);
        if (stored.bytes() <= memory / 2) return;
        filter = createBloomFilter(memory / 2);
        stored.drain(addToFilter);
        stored = undefined;
      }
    },
    repeated: () => (stored === undefined ? candidates?.distinct() : stored.equalPairs()),
    isExact: () => stored !== undefined,
    bytes: () => (stored?.bytes() ?? 0) + (filter?.bytes ?? 0) + (candidates?.bytes() ?? 0),
  };
}

/** Collects distinct hashes; `undefined` once there are more than `limit`, each of eight bytes. */
export function createKeySet(limit: number): { add: HashVisitor; set(): KeySet | undefined } {
  let words: Uint32Array<ArrayBuffer> | undefined = new Uint32Array(2048);
  let filled = 0;
  return {
    add(high, low) {
      if (words === undefined) return;
      if (filled === words.length) {
        if (filled / 2 >= limit) {
          words = undefined;
          return;
        }
        const larger = new Uint32Array(words.length * 2);
        larger.set(words);
        words = larger;
      }
      words[filled] = low;
      words[filled + 1] = high;
      filled += 2;
    },
    set: () =>
      words === undefined ? undefined : createHashSet(new BigUint64Array(words.buffer, 0, filled / 2).sort()),
  };
}

/** Whether the hashes at two positions are equal; false if a position is beyond the last hash. */
type IsEqual = (a: number, b: number) => boolean;

interface HashList {
  add: HashVisitor;
  bytes(): number;
  /** Visits every hash and empties the list. */
  drain(visit: HashVisitor): void;
  /** The hashes that were added to this list more than once. */
  equalPairs(): KeySet;
  distinct(): KeySet;
}

const bucketCount = 64;
const firstChunk = 32;
const laterChunk = 4096;

/** Stores hashes in buckets by their first six bits, so that only one bucket at a time must be sorted. */
function createHashList(): HashList {
  const buckets = Array.from({ length: bucketCount }, (): Uint32Array<ArrayBuffer>[] => []);
  const filled = new Uint32Array(bucketCount);
  let bytes = 0;
  const sorted = (bucket: number): { readonly values: BigUint64Array; readonly isEqual: IsEqual } => {
    const chunks = buckets[bucket]!;
    const last = filled[bucket]!;
    const length = chunks.reduce((sum, chunk, at) => sum + (at === chunks.length - 1 ? last : chunk.length), 0);
    const words = new Uint32Array(length);
    let to = 0;
    for (const [at, chunk] of chunks.entries()) {
      words.set(at === chunks.length - 1 ? chunk.subarray(0, last) : chunk, to);
      to += chunk.length;
    }
    // Compares two words of 32 bits, because reading a value of 64 bits would create a BigInt.
    const isEqual: IsEqual = (a, b) => words[2 * a] === words[2 * b] && words[2 * a + 1] === words[2 * b + 1];
    return { values: new BigUint64Array(words.buffer).sort(), isEqual };
  };
  const select = (isSelected: (isEqual: IsEqual, at: number) => boolean): KeySet => {
    const found: bigint[] = [];
    for (let bucket = 0; bucket < bucketCount; bucket += 1) {
      const { values, isEqual } = sorted(bucket);
      for (let at = 0; at < values.length; at += 1) {
        if (!(at > 0 && isEqual(at, at - 1)) && isSelected(isEqual, at)) found.push(values[at]!);
      }
    }
    return createHashSet(BigUint64Array.from(found).sort());
  };
  return {
    add(high, low) {
      const bucket = high >>> 26;
      const chunks = buckets[bucket]!;
      let chunk = chunks.at(-1);
      if (chunk === undefined || filled[bucket] === chunk.length) {
        chunk = new Uint32Array(2 * (chunk === undefined ? firstChunk : laterChunk));
        bytes += chunk.byteLength;
        chunks.push(chunk);
        filled[bucket] = 0;
      }
      const at = filled[bucket]!;
      chunk[at] = low;
      chunk[at + 1] = high;
      filled[bucket] = at + 2;
    },
    bytes: () => bytes,
    drain(visit) {
      for (const [bucket, chunks] of buckets.entries()) {
        for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
          const end = chunks.length === 0 ? filled[bucket]! : chunk.length;
          for (let at = 0; at < end; at += 2) visit(chunk[at + 1]!, chunk[at]!);
        }
      }
    },
    equalPairs: () => select((isEqual, at) => isEqual(at, at + 1)),
    distinct: () => select(() => true),
  };
}

function createHashSet(values: BigUint64Array): KeySet {
  const words = new Uint32Array(2);
  const one = new BigUint64Array(words.buffer);
  return {
    size: values.length,
    find(high, low) {
      words[0] = low;
      words[1] = high;
      const wanted = one[0]!;
      let from = 0;
      let to = values.length;
      while (from < to) {
        const middle = (from + to) >>> 1;
        if (values[middle]! < wanted) from = middle + 1;
        else to = middle;
      }
      return from < values.length && values[from] === wanted ? from : -1;
    },
    pick: (isPicked) => createHashSet(values.filter((_, at) => isPicked(at))),
  };
}

interface BloomFilter {
  /** Sets the bits of the hash. Returns whether all of them were already set. */
  add(high: number, low: number): boolean;
  readonly bytes: number;
}

/**
 * Sets four bits for each hash (double hashing).
 * @param bytes the maximum size; the size of the filter is a power of two
 */
function createBloomFilter(bytes: number): BloomFilter {
  const bits = 2 ** Math.min(32, Math.floor(Math.log2(bytes * 8)));
  const words = new Uint32Array(bits / 32);
  const mask = bits - 1;
  return {
    bytes: words.byteLength,
    add(high, low) {
      let wasSet = true;
      for (let probe = 0; probe < 4; probe += 1) {
        const position = ((low + Math.imul(probe, high | 1)) >>> 0) & mask;
        const word = (position >>> 5) & (words.length - 1);
        const bit = 1 << (position & 31);
        if ((words[word]! & bit) === 0) wasSet = false;
        words[word]! |= bit;
      }
      return wasSet;
    },
  };
}
