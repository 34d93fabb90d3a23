import { expect, it } from 'vitest';
import {
  checkDeadline,
  deadlineFields,
  estimateSecondsLeft,
  hasTargetCaughtUp,
  quoteReported,
  updateMovingRate,
} from '../../../src/db/watch/sample.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { describeViolations } from './describe-violations.ts';

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

const day = 86_400_000;
const start = { startedAt: Date.parse('2026-11-20T12:00:00Z'), from: 'migrate' } as const;
const judge = (days: number, eta?: number) => checkDeadline(start, start.startedAt + days * day, eta);

it('a migration is stopped two weeks after it started', () => {
  expect(deadlineFields(start)).toEqual({ deadline: '2026-12-04T12:00:00Z', deadline_from: 'migrate' });
  expect(deadlineFields(undefined)).toEqual({ deadline: null, deadline_from: 'unknown' });
});

it('the deadline is a violation from the tenth day on', () => {
  expect(judge(9.9)).toEqual([]);
  expectGolden('db-watch', describeViolations([10, 13.9, 14].flatMap((days) => judge(days))));
  expect(checkDeadline(undefined, 0, 5)).toEqual([]);
});

it('an estimated end after the deadline is a violation from the first day on', () => {
  expect(judge(1, 12 * 86_400)).toEqual([]);
  expectGolden('db-watch', describeViolations(judge(1, 14 * 86_400)));
});

it('a deadline without a recorded start counts from the first poll', () => {
  const found = checkDeadline({ ...start, from: 'first_sighting' }, start.startedAt + 11 * day, undefined);
  expectGolden('db-watch', describeViolations(found));
});

it.each([
  ['Odd "name"', '"Odd ""name"""'],
  ['', '""'],
  ['a\0b', '""'],
])('%j is quoted', (name, quoted) => {
  expect(quoteReported(name)).toBe(quoted);
});

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
