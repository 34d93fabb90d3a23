import { expect, it } from 'vitest';
import { createResultCache } from '../../../src/db/inventory/result-cache.ts';

it('produces a result once, for calls during and after its production', async () => {
  const shared = createResultCache<number>(() => 1);
  let produced = 0;
  const call = () => shared('a', async () => ++produced);
  const results = await Promise.all([call(), call()]);
  expect([...results, await call()].map(({ value, isOwn }) => [value, isOwn])).toEqual([
    [1, true],
    [1, false],
    [1, false],
  ]);
});

it('discards the oldest result when all are too large together, and never the newest', async () => {
  const shared = createResultCache<number>((size) => size, 10);
  const isOwn = async (key: string, size: number) => (await shared(key, async () => size)).isOwn;
  expect([await isOwn('a', 6), await isOwn('b', 6), await isOwn('b', 6), await isOwn('a', 6)]).toEqual([
    true,
    true,
    false,
    true,
  ]);
  expect([await isOwn('large', 50), await isOwn('large', 50)]).toEqual([true, false]);
});

it.each([
  { what: 'an error', produce: () => Promise.reject(new Error('broken')) },
  { what: 'an incomplete result', produce: async () => 0 },
])('$what is produced again once, and then shared', async ({ produce }) => {
  const shared = createResultCache<number>(() => 1);
  let produced = 0;
  const call = () => {
    const all = shared(
      'a',
      () => {
        produced += 1;
        return produce();
      },
      (value) => value > 0,
    );
    return all.catch((error: unknown) => error);
  };
  await Promise.all([call(), call()]);
  expect(produced).toBe(1);
  for (let n = 0; n < 3; n++) await call();
  expect(produced).toBe(2);
});

it('a later result replaces an error', async () => {
  const shared = createResultCache<number>(() => 1);
  await expect(shared('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await shared('a', async () => 1)).toEqual({ value: 1, isOwn: true });
  expect(await shared('a', async () => 2)).toEqual({ value: 1, isOwn: false });
});
