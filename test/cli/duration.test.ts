import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  encodeDuration,
  parseDurationToMilliseconds,
  parseDurationToMillisecondsOrThrow,
} from '../../src/cli/values.ts';
import { thrownText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';

test.each([
  ['30s', 30_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['30d', 2_592_000_000],
  ['0s', 0],
])('%s is %i ms', (text, ms) => {
  expect(parseDurationToMilliseconds(text)).toBe(ms);
});

test.each(['', '30', '30 s', '1.5h', '-5m', '5M', 's', '1h30m', '9999999999s', '５m'])(
  '%j is not a duration',
  (text) => {
    expect(parseDurationToMilliseconds(text)).toBeUndefined();
  },
);

test('the error of a number without a unit names the option and shows the unit', () => {
  const text = thrownText(() => parseDurationToMillisecondsOrThrow('90', '--timeout'));
  expect(text).toContain('`--timeout 90s`');
  expectGolden('errors', text);
});

test('a duration below the minimum is refused', () => {
  expectGolden(
    'errors',
    thrownText(() => parseDurationToMillisecondsOrThrow('0s', '--interval', 1000)),
  );
  expect(parseDurationToMillisecondsOrThrow('1s', '--interval', 1000)).toBe(1000);
});

test('an encoded duration parses to the same value', () => {
  fc.assert(
    fc.property(fc.nat(10_000_000), (seconds) => {
      expect(parseDurationToMilliseconds(encodeDuration(seconds * 1000))).toBe(seconds * 1000);
    }),
  );
  expect([encodeDuration(120_000), encodeDuration(90_000), encodeDuration(1), encodeDuration(-5)]).toEqual([
    '2m',
    '90s',
    '1s',
    '0s',
  ]);
});
