import { expect, it } from 'vitest';
import { createResultCache } from '../../src/inventory/result-cache.ts';

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

it('an error is shared as well', async () => {
  const shared = createResultCache<number>(() => 1);
  const fail = () => shared('a', () => Promise.reject(new Error('broken')));
  await expect(fail()).rejects.toThrow('broken');
  await expect(fail()).rejects.toThrow('broken');
});
