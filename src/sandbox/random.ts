import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A function that returns random bytes. */
export type Random = (count: number) => Uint8Array;

/**
 * The random generator of the operating system. Requests many random bytes at a time, because each call takes as long as the
 * rest of a token exchange.
 */
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

/**
 * A generator that returns the same bytes at every start (SHA-256 in counter mode). A seeded generator must not be used for
 * values that must be unpredictable.
 */
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

/**
 * Returns random letters and digits, each with 5.95 bits of entropy. Random bytes that would make some characters more likely
 * than others are discarded.
 */
export function randomString(random: Random, length: number): string {
  // The characters are collected in a buffer, because V8 stores a string that is built by appending as a chain of its parts.
  const characters = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    for (const byte of random(length)) {
      if (byte < UNBIASED_LIMIT && filled < length) characters[filled++] = ALPHABET.charCodeAt(byte % ALPHABET.length);
    }
  }
  return characters.toString('latin1');
}

/** Creates a random UUID (version 4). */
export function randomUuid(random: Random): string {
  const bytes = Buffer.from(random(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const POOL_BYTES = 4096;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const UNBIASED_LIMIT = 256 - (256 % ALPHABET.length);

/**
 * Compares secrets in constant time. The hashes of the secrets are compared, which also hides a difference in length. Like all
 * of the sandbox it shares no code with the client, so that an error in one of them is noticed by the other.
 */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
