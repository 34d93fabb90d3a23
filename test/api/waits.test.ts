import { once } from 'node:events';
import { expect, it } from 'vitest';
import { limitWait } from '../../src/api/waits.ts';

function setup() {
  const pauses: number[] = [];
  const patience = limitWait(async (ms) => void pauses.push(ms));
  return { pauses, refused: async (retryAfter?: number) => patience?.({ retryAfter }) };
}

it('it waits as long as the server says', async () => {
  const { pauses, refused } = setup();
  expect([await refused(7), await refused(30)]).toEqual([true, true]);
  expect(pauses).toEqual([7_000, 30_000]);
});

it('a server that names no time, or one that has come, is asked less and less often', async () => {
  const { pauses, refused } = setup();
  for (const told of [undefined, 0, undefined, 0, undefined, 0, undefined, 0]) await refused(told);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
});

it('it has an end after a quarter of an hour, told at once or in pieces', async () => {
  const once = setup();
  expect([await once.refused(900), await once.refused(1)]).toEqual([true, false]);
  const far = setup();
  expect(await far.refused(901)).toBe(false);
  expect([once.pauses, far.pauses]).toEqual([[900_000], []]);
});

it('nothing is asked before the wait is over', async () => {
  const wait = new AbortController();
  const patience = limitWait(() => once(wait.signal, 'abort').then(() => undefined));
  let asked = false;
  const refused = patience?.({ retryAfter: 7 }).then(() => {
    asked = true;
  });
  await new Promise(setImmediate);
  expect(asked).toBe(false);
  wait.abort();
  await refused;
  expect(asked).toBe(true);
});

it('there is none without a pause', () => {
  expect(limitWait(undefined)).toBeUndefined();
});
