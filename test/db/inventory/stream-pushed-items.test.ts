import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { streamPushedItems } from '../../../src/db/inventory/run.ts';

it('yields items in order, as they come', async () => {
  const seen: number[] = [];
  const items = streamPushedItems<number>(async (push) => {
    for (const at of [1, 2, 3]) {
      await push(at);
      await after(1);
    }
  });
  for await (const item of items) seen.push(item);
  expect(seen).toEqual([1, 2, 3]);
});

it('a slow reader delays the producer', async () => {
  let pushed = 0;
  let taken = 0;
  let ahead = 0;
  const items = streamPushedItems<number>(async (push) => {
    for (let at = 0; at < 50; at++) {
      await push(at);
      pushed += 1;
      ahead = Math.max(ahead, pushed - taken);
    }
  }, 4);
  for await (const _ of items) {
    taken += 1;
    await after(1);
  }
  expect(taken).toBe(50);
  expect(ahead).toBeLessThanOrEqual(5);
});

it('an error comes after the items before it', async () => {
  const seen: number[] = [];
  const read = async () => {
    const items = streamPushedItems<number>(async (push) => {
      await push(1);
      throw new Error('broken');
    });
    for await (const item of items) seen.push(item);
  };
  await expect(read()).rejects.toThrow('broken');
  expect(seen).toEqual([1]);
});

it('a reader that stops early does not leave the producer waiting', async () => {
  let ended = false;
  const items = streamPushedItems<number>(async (push) => {
    for (let at = 0; at < 5; at++) await push(at);
    ended = true;
  }, 1);
  for await (const _ of items) break;
  await after(5);
  expect(ended).toBe(true);
});
