import { describe, expect, it } from 'vitest';
import { createOverdue } from '../../src/batch/overdue.ts';
import { swiftClock } from './ground.ts';

describe('an answer', () => {
  const told = async (late: Promise<undefined>, ms: number): Promise<boolean> =>
    Promise.race([late.then(() => true), new Promise<boolean>((resolve) => setTimeout(resolve, ms, false))]);

  it('is overdue when its time is over, each by its own', async () => {
    const clock = swiftClock(100);
    const overdue = createOverdue(clock, 10_000, new AbortController().signal);
    const first = overdue.begin();
    await clock.sleep(5_000);
    const begun = clock.now();
    const second = overdue.begin();
    await first.late;
    await second.late;
    expect(clock.now() - begun).toBeGreaterThanOrEqual(10_000);
    overdue.close();
  });

  it('that came is never overdue, and those after it still are', async () => {
    const overdue = createOverdue(swiftClock(100), 3_000, new AbortController().signal);
    const [first, second] = [overdue.begin(), overdue.begin()];
    first.done();
    await second.late;
    expect(await told(first.late, 50)).toBe(false);
    overdue.close();
  });

  it('is not awaited any longer once all has ended', async () => {
    const ended = new AbortController();
    const overdue = createOverdue(swiftClock(1), 60_000, ended.signal);
    const before = overdue.begin();
    ended.abort();
    await before.late;
    await overdue.begin().late;
    overdue.close();
  });

  it('is told of again after all others came', async () => {
    const overdue = createOverdue(swiftClock(100), 2_000, new AbortController().signal);
    overdue.begin().done();
    await new Promise((resolve) => setTimeout(resolve, 40));
    await overdue.begin().late;
    overdue.close();
  });
});
