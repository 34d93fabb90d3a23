import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { forEachSource } from '../../../src/db/inventory/limits.ts';

/** Counts how many run at the same time. */
function meter() {
  let now = 0;
  let most = 0;
  return {
    most: () => most,
    async hold(ms: number) {
      now += 1;
      most = Math.max(most, now);
      await after(ms);
      now -= 1;
    },
  };
}

it('keeps the limit in all and the limit of each address, and runs every source once', async () => {
  const sources = Array.from({ length: 60 }, (_, at) => ({ at, address: `h${at % 5}` }));
  const all = meter();
  const each = new Map(sources.map(({ address }) => [address, meter()]));
  const ran: number[] = [];
  await forEachSource(
    sources,
    ({ address }) => address,
    { parallel: 6, perServer: 2 },
    async (source) => {
      ran.push(source.at);
      await Promise.all([all.hold(3), each.get(source.address)?.hold(3)]);
    },
  );
  expect(ran.toSorted((a, b) => a - b)).toEqual(sources.map(({ at }) => at));
  expect(all.most()).toBe(6);
  expect([...each.values()].map((one) => one.most())).toEqual([2, 2, 2, 2, 2]);
});

it('two addresses of one server share its limit once they are known', async () => {
  const sources = Array.from({ length: 20 }, (_, at) => `name${at % 2}`);
  const late = meter();
  let known = 0;
  await forEachSource(
    sources,
    (name) => name,
    { parallel: 10, perServer: 1 },
    async (_name, slot) => {
      slot.identify('server');
      if (++known > 2) await late.hold(3);
      else await after(3);
    },
  );
  expect(late.most()).toBe(1);
});

it('a pause leaves the place to another source', async () => {
  const order: string[] = [];
  await forEachSource(
    ['a', 'b'],
    (name) => name,
    { parallel: 1, perServer: 1 },
    async (name, slot) => {
      order.push(`${name} begins`);
      if (name === 'a') await slot.pause(() => after(30));
      order.push(`${name} ends`);
    },
  );
  expect(order).toEqual(['a begins', 'b begins', 'b ends', 'a ends']);
});

it('an error ends the run after the sources that have begun', async () => {
  const ran: number[] = [];
  const run = forEachSource([1, 2, 3, 4, 5], String, { parallel: 2, perServer: 1 }, async (at) => {
    ran.push(at);
    await after(at);
    if (at === 1) throw new Error('broken');
  });
  await expect(run).rejects.toThrow('broken');
  expect(ran).toEqual([1, 2]);
});

it('no sources, and very many of one address', async () => {
  await forEachSource([], String, { parallel: 1, perServer: 1 }, async () => {});
  let ran = 0;
  const many = Array.from({ length: 20_000 }, (_, at) => at);
  await forEachSource(
    many,
    () => 'one',
    { parallel: 16, perServer: 2 },
    async () => {
      ran += 1;
    },
  );
  expect(ran).toBe(20_000);
});
