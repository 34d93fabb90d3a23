import { expect, it } from 'vitest';
import { hasTargetCaughtUp } from '../../../src/db/watch/sample.ts';

const earlier = [
  { at: 0, position: 100 },
  { at: 2000, position: 200 },
  { at: 4000, position: 300 },
];
const now = { at: 5000, position: 400 };

it.each([
  { name: 'nothing is left', lag: 0, expected: true },
  { name: 'only the writes of the last seconds are left', lag: 200, expected: true },
  { name: 'older writes are left', lag: 201, expected: false },
])('$name: $expected', ({ lag, expected }) => {
  expect(hasTargetCaughtUp([...earlier, now], ({ position }) => position, lag, 3000)).toBe(expected);
});

it('is not known before the delay has passed, nor without a position', () => {
  expect(hasTargetCaughtUp([...earlier.slice(2), now], ({ position }) => position, 1, 3000)).toBe(false);
  expect(
    hasTargetCaughtUp(
      [...earlier, { at: 5000, position: undefined }],
      (one: { readonly position: number | undefined }) => one.position,
      1,
      3000,
    ),
  ).toBe(false);
  expect(
    hasTargetCaughtUp(
      [{ at: 0, position: undefined }, now],
      (one: { readonly position: number | undefined }) => one.position,
      1,
      3000,
    ),
  ).toBe(false);
});
