import { describe, expect, it } from 'vitest';
import {
  advanceVirtualClock,
  freezeVirtualClock,
  readVirtualTime,
  resumeVirtualClock,
  VIRTUAL_CLOCK_AT_SYSTEM_TIME,
} from '../../src/sandbox/virtual-clock.ts';

describe('the virtual clock', () => {
  it('runs with the system time, plus its offset', () => {
    const clock = advanceVirtualClock(VIRTUAL_CLOCK_AT_SYSTEM_TIME, 500);
    expect(readVirtualTime(clock, 1_000)).toBe(1_500);
    expect(readVirtualTime(clock, 2_000)).toBe(2_500);
  });

  it('stops when frozen, can be advanced then, and continues from there when resumed', () => {
    const frozen = advanceVirtualClock(freezeVirtualClock(VIRTUAL_CLOCK_AT_SYSTEM_TIME, 1_000), 100);
    expect(readVirtualTime(frozen, 9_000)).toBe(1_100);
    expect(freezeVirtualClock(frozen, 9_000)).toEqual(frozen);
    const resumed = resumeVirtualClock(frozen, 9_000);
    expect(readVirtualTime(resumed, 9_000)).toBe(1_100);
    expect(readVirtualTime(resumed, 9_001)).toBe(1_101);
    expect(resumeVirtualClock(resumed, 9_500)).toEqual(resumed);
  });
});
