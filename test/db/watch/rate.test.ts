import { expect, it } from 'vitest';
import { estimateSecondsLeft, updateMovingRate } from '../../../src/db/watch/sample.ts';

it('the first rate is taken as it is, later ones change it little by little', () => {
  const begun = updateMovingRate(undefined, 100, 0);
  expect(begun.perSecond).toBe(0);
  const first = updateMovingRate(begun, 300, 2000);
  expect(first.perSecond).toBe(100);
  const slower = updateMovingRate(first, 300, 4000);
  expect(slower.perSecond).toBeGreaterThan(80);
  expect(slower.perSecond).toBeLessThan(100);
  expect(updateMovingRate(first, 300, 602_000).perSecond).toBeLessThan(1);
});

it('a total that went back begins anew, and no time is no rate', () => {
  const first = updateMovingRate(updateMovingRate(undefined, 0, 0), 100, 1000);
  expect(updateMovingRate(first, 50, 2000)).toEqual({ perSecond: 0, total: 50, at: 2000 });
  expect(updateMovingRate(first, 200, 1000)).toBe(first);
});

it('a clock that was set back keeps the rate, and measures from there', () => {
  const back = updateMovingRate(updateMovingRate(updateMovingRate(undefined, 0, 10_000), 100, 11_000), 150, 1000);
  expect(back).toEqual({ perSecond: 100, total: 150, at: 1000 });
  expect(updateMovingRate(back, 250, 2000).perSecond).toBeCloseTo(100);
});

it.each([
  [100, 10, 10],
  [101, 10, 11],
  [0, 0, 0],
  [100, 0, undefined],
  [100, -5, undefined],
])('%i at %i a second takes %s seconds', (left, pace, seconds) => {
  expect(estimateSecondsLeft(left, pace)).toBe(seconds);
});
