import { expect, test } from 'vitest';
import { formatWaitingTime } from '../../src/platform/waiting-time.ts';

test.each([
  [0, '0 s'],
  [1_500, '2 s'],
  [59_000, '59 s'],
  [61_000, '2 min'],
  [3_600_000, '1 h'],
  [3_660_001, '1 h 2 min'],
])('a waiting time of %i ms is %s', (ms, text) => {
  expect(formatWaitingTime(ms)).toBe(text);
});
