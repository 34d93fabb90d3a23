import { describe, expect, it } from 'vitest';
import {
  crossesTenPercentStep,
  formatBatchProgressBarLine,
  formatBatchProgressText,
} from '../../../src/batch/report/batch-progress.ts';

const standing = { created: 30, total: 120, fresh: 20, elapsed: 10_000 };

describe('progress', () => {
  it('is a bar, created of all, the rate of this run and the time left', () => {
    expect(formatBatchProgressBarLine(standing)).toBe('█████░░░░░░░░░░░░░░░ 30/120 created, 2.0/s, 45 s left');
  });

  it.each([
    [{ ...standing, fresh: 0 }, '30/120 created'],
    [{ ...standing, elapsed: 0 }, '30/120 created'],
    [{ ...standing, created: 120 }, '120/120 created, 2.0/s'],
    [{ ...standing, fresh: 1_000 }, '30/120 created, 100/s, 1 s left'],
  ])('of %j is %j', (one, text) => {
    expect(formatBatchProgressText(one)).toBe(text);
  });

  it('of an empty bar and a full one has as many cells', () => {
    expect(formatBatchProgressBarLine({ ...standing, created: 0 })).toMatch(/^░{20} /);
    expect(formatBatchProgressBarLine({ ...standing, created: 120 })).toMatch(/^█{20} /);
  });

  it('passes each tenth once', () => {
    const steps = Array.from({ length: 40 }, (_, at) => crossesTenPercentStep(at, at + 1, 40));
    expect(steps.filter(Boolean)).toHaveLength(10);
    expect(crossesTenPercentStep(0, 3, 3)).toBe(true);
    expect(crossesTenPercentStep(5, 5, 40)).toBe(false);
  });
});
