import { expect, test } from 'vitest';
import { createReadLimiter } from '../../../src/db/preflight/postgresql/deep/scan.ts';
import type { Clock } from '../../../src/platform/host.ts';

/** A clock that goes on only while somebody sleeps. */
function sleepingClock() {
  let time = 1_000_000;
  const sleeps: number[] = [];
  const clock: Clock = {
    now: () => time,
    async sleep(ms, signal) {
      sleeps.push(ms);
      signal?.throwIfAborted();
      await Promise.resolve();
      time += ms;
    },
  };
  const advance = (ms: number) => {
    time += ms;
  };
  return { clock, sleeps, advance };
}

const none = new AbortController().signal;

test('bytes beyond the rate wait until they are due', async () => {
  const { clock, sleeps } = sleepingClock();
  const limiter = createReadLimiter(1000, clock, none);
  const began = clock.now();
  await limiter.take(500);
  expect(clock.now() - began).toBe(500);
  await limiter.take(250);
  expect(clock.now() - began).toBe(750);
  expect(sleeps).toEqual([500, 250]);
});

test('rows that arrive during a wait share one timer, and are counted', async () => {
  const { clock, sleeps } = sleepingClock();
  const limiter = createReadLimiter(1000, clock, none);
  const began = clock.now();
  const waits = [limiter.take(100), limiter.take(100), limiter.take(100)];
  expect(new Set(waits).size).toBe(1);
  await Promise.all(waits);
  expect(clock.now() - began).toBe(300);
  expect(sleeps).toHaveLength(2);
});

test('time in which nothing is read is no credit', async () => {
  const { clock, advance } = sleepingClock();
  const limiter = createReadLimiter(1000, clock, none);
  await limiter.take(100);
  advance(60_000);
  const began = clock.now();
  await limiter.take(100);
  expect(clock.now() - began).toBe(100);
});

test('a few bytes ahead do not wait', () => {
  const { clock } = sleepingClock();
  expect(createReadLimiter(1_000_000, clock, none).take(10_000)).toBeUndefined();
});

test('an aborted wait is rejected, and so is the next one', async () => {
  const { clock } = sleepingClock();
  const limiter = createReadLimiter(1000, clock, AbortSignal.abort());
  await expect(limiter.take(1000)).rejects.toThrow();
  await expect(limiter.take(1000)).rejects.toThrow();
});
