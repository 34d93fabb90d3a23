import { createHash, randomBytes } from 'node:crypto';

/** A source of bytes: the machine's, or one that says the same thing at every start. */
export type Random = (count: number) => Uint8Array;

/** Asks the machine for many bytes at a time, because each asking costs as much as the rest of a token exchange. */
export function systemRandom(): Random {
  let pool = randomBytes(POOL_BYTES);
  let used = 0;
  return (count) => {
    if (count > POOL_BYTES) return randomBytes(count);
    if (used + count > POOL_BYTES) {
      pool = randomBytes(POOL_BYTES);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
}

/** Stable ids for scripts: SHA-256 in counter mode. Nothing that must be unguessable is drawn from it. */
export function seededRandom(seed: number): Random {
  let counter = 0;
  let rest = Buffer.alloc(0);
  return (count) => {
    while (rest.length < count) {
      const block = createHash('sha256').update(`${seed}:${counter++}`).digest();
      rest = Buffer.concat([rest, block]);
    }
    const taken = rest.subarray(0, count);
    rest = rest.subarray(count);
    return taken;
  };
}

/** Letters and digits, each worth 5.95 bits; bytes that would favour some of them are thrown away. */
export function randomString(chance: Random, length: number): string {
  // Added up letter by letter, each of the thousands of tokens would be kept as a chain of its beginnings.
  const chosen = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    for (const byte of chance(length)) {
      if (byte < UNBIASED_LIMIT && filled < length) chosen[filled++] = ALPHABET.charCodeAt(byte % ALPHABET.length);
    }
  }
  return chosen.toString('latin1');
}

/** A version 4 UUID. */
export function randomUuid(chance: Random): string {
  const bytes = Buffer.from(chance(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const POOL_BYTES = 4096;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const UNBIASED_LIMIT = 256 - (256 % ALPHABET.length);
