import { describe, expect, it } from 'vitest';
import {
  createLateResponseDetector,
  type LateResponseDetector,
} from '../../../src/batch/sending/late-response-detector.ts';
import { fastClock } from '../batch-fixtures.ts';

/** A request whose answer comes when the test says so. */
function sent(overdue: LateResponseDetector): {
  readonly told: Promise<string | undefined>;
  readonly come: () => void;
} {
  let come = (): void => {};
  const answer = new Promise<string>((resolve) => {
    come = () => resolve('the answer');
  });
  return { told: overdue.withinLimit(answer), come };
}

describe('an answer', () => {
  it('is overdue when its time is over, each by its own', async () => {
    const clock = fastClock(100);
    const overdue = createLateResponseDetector(clock, 10_000, new AbortController().signal);
    const first = sent(overdue);
    await clock.sleep(5_000);
    const begun = clock.now();
    const second = sent(overdue);
    expect(await first.told).toBeUndefined();
    expect(await second.told).toBeUndefined();
    expect(clock.now() - begun).toBeGreaterThanOrEqual(10_000);
    overdue.close();
  });

  it('that came is never overdue, and those after it still are', async () => {
    const overdue = createLateResponseDetector(fastClock(100), 3_000, new AbortController().signal);
    const [first, second] = [sent(overdue), sent(overdue)];
    first.come();
    expect(await second.told).toBeUndefined();
    expect(await first.told).toBe('the answer');
    overdue.close();
  });

  it('that failed in time is a failure, one that fails later is overdue', async () => {
    const overdue = createLateResponseDetector(fastClock(100), 3_000, new AbortController().signal);
    await expect(overdue.withinLimit(Promise.reject(new Error('cut')))).rejects.toThrow('cut');
    let cut = (): void => {};
    const late = new Promise((_, reject) => {
      cut = () => reject(new Error('cut'));
    });
    expect(await overdue.withinLimit(late)).toBeUndefined();
    cut();
    await expect(late).rejects.toThrow('cut');
    overdue.close();
  });

  it('is not awaited any longer once all has ended', async () => {
    const ended = new AbortController();
    const overdue = createLateResponseDetector(fastClock(1), 60_000, ended.signal);
    const before = sent(overdue);
    ended.abort();
    expect(await before.told).toBeUndefined();
    expect(await sent(overdue).told).toBeUndefined();
    overdue.close();
  });

  it('is told of again after all others came', async () => {
    const overdue = createLateResponseDetector(fastClock(100), 2_000, new AbortController().signal);
    sent(overdue).come();
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(await sent(overdue).told).toBeUndefined();
    overdue.close();
  });
});
