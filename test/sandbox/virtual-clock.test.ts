import { describe, expect, it } from 'vitest';
import { advanceClock, freezeClock, readClock, resumeClock, SYSTEM_CLOCK } from '../../src/sandbox/virtual-clock.ts';

describe('the virtual clock', () => {
  it('runs with the system time, plus its offset', () => {
    const clock = advanceClock(SYSTEM_CLOCK, 500);
    expect(readClock(clock, 1_000)).toBe(1_500);
    expect(readClock(clock, 2_000)).toBe(2_500);
  });

  it('stops when frozen, can be advanced then, and continues from there when resumed', () => {
    const frozen = advanceClock(freezeClock(SYSTEM_CLOCK, 1_000), 100);
    expect(readClock(frozen, 9_000)).toBe(1_100);
    expect(freezeClock(frozen, 9_000)).toEqual(frozen);
    const resumed = resumeClock(frozen, 9_000);
    expect(readClock(resumed, 9_000)).toBe(1_100);
    expect(readClock(resumed, 9_001)).toBe(1_101);
    expect(resumeClock(resumed, 9_500)).toEqual(resumed);
  });
});
