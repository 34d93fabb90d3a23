import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type CleanupExecutor, withTimeLimit } from '../../src/redis/redis-socket.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const endings: Readonly<Record<string, CleanupExecutor<string>>> = {
  'work that is done': (resolve) => {
    resolve('done');
    return () => {};
  },
  'work that failed': (_resolve, reject) => {
    reject(new Error('refused'));
    return () => {};
  },
};

test.each(Object.keys(endings))('%s leaves no timer that would keep the process alive', async (how) => {
  await withTimeLimit({ limit: 60_000 }, () => new Error('late'), endings[how]!).catch(() => undefined);
  expect(vi.getTimerCount()).toBe(0);
});

test('work that takes too long is undone, and its own end comes too late', async () => {
  const undone = vi.fn();
  let finish = (_: string): void => {};
  const work = withTimeLimit(
    { limit: 50 },
    () => new Error('late'),
    (resolve: (value: string) => void) => {
      finish = resolve;
      return undone;
    },
  );
  const outcome = expect(work).rejects.toThrow('late');
  await vi.advanceTimersByTimeAsync(50);
  await outcome;
  finish('done');
  expect(undone).toHaveBeenCalledTimes(1);
});
