import { expect, test } from 'vitest';
import { createKeyHashes } from '../../../../../src/db/preflight/postgresql/deep/key-hashes.ts';

/** Numbers that are all different and look random. */
function* hashes(count: number): Generator<readonly [number, number]> {
  for (let n = 1; n <= count; n += 1)
    yield [Math.imul(n, 0x9e3779b1) >>> 0, Math.imul(n ^ 0x5bd1e995, 0x85ebca6b) >>> 0];
}

test('stored hashes: only those that were added twice are repeated', () => {
  const keys = createKeyHashes(2 ** 24);
  for (const [high, low] of hashes(20_000)) keys.add(high, low);
  const twice = [...hashes(50)];
  for (const [high, low] of [...twice, ...twice]) keys.add(high, low);
  const repeated = keys.repeated()!;
  expect(keys.isExact()).toBe(true);
  expect(repeated.size).toBe(50);
  expect(twice.map(([high, low]) => repeated.find(high, low)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 50 }, (_, at) => at),
  );
  const others = [...hashes(100)].slice(50);
  expect(others.every(([high, low]) => repeated.find(high, low) === -1)).toBe(true);
  expect(repeated.find(twice[0]![1], twice[0]![0])).toBe(-1);
});

test('the same low or high half is not the same hash', () => {
  const keys = createKeyHashes(2 ** 20);
  for (const [high, low] of [
    [1, 2],
    [1, 3],
    [4, 2],
    [0xffffffff, 0xffffffff],
    [0xffffffff, 0],
  ] as const)
    keys.add(high, low);
  expect(keys.repeated()?.size).toBe(0);
});

test('beyond half of the memory a filter finds every repeated hash, and few others', () => {
  const memory = 2 ** 20;
  const keys = createKeyHashes(memory);
  let most = 0;
  for (const [high, low] of hashes(200_000)) {
    keys.add(high, low);
    most = Math.max(most, keys.bytes());
  }
  const twice = [...hashes(150_000)].filter((_, at) => at % 15_000 === 0);
  for (const [high, low] of twice) keys.add(high, low);
  expect(keys.isExact()).toBe(false);
  const repeated = keys.repeated()!;
  expect(twice.every(([high, low]) => repeated.find(high, low) >= 0)).toBe(true);
  expect(repeated.size).toBeLessThan(5000);
  // 1.6 MB of hashes were added.
  expect(most).toBeLessThan(memory * 1.2);
});

test('more candidates than the memory holds are no answer', () => {
  const keys = createKeyHashes(2 ** 16);
  for (const [high, low] of hashes(300_000)) keys.add(high, low);
  expect(keys.repeated()).toBeUndefined();
  expect(keys.bytes()).toBeLessThan(2 ** 16 * 1.2);
});

test('a set without some of its hashes finds the others', () => {
  const keys = createKeyHashes(2 ** 20);
  const added = [...hashes(10)];
  for (const [high, low] of [...added, ...added]) keys.add(high, low);
  const set = keys.repeated()!;
  const even = set.pick((position) => position % 2 === 0);
  expect(even.size).toBe(5);
  for (const [high, low] of added) expect(even.find(high, low) >= 0).toBe(set.find(high, low) % 2 === 0);
});
