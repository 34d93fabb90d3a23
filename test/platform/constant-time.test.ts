import { expect, it } from 'vitest';
import { equalInConstantTime } from '../../src/platform/constant-time.ts';

it.each([
  ['state', 'state', true],
  ['', '', true],
  ['state', 'statf', false],
  ['state', 'state1', false],
  ['', 'state', false],
])('%j and %j are equal: %s', (a, b, isEqual) => {
  expect(equalInConstantTime(a, b)).toBe(isEqual);
});
