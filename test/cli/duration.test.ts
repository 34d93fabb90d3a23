import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration, requireDuration } from '../../src/cli/duration.ts';

test.each([
  ['30s', 30_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['30d', 2_592_000_000],
  ['0s', 0],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '30', '30 s', '1.5h', '-5m', '5M', 's', '1h30m', '9999999999s', '５m'])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('a bad duration names its option and the unit that was forgotten', () => {
  expect(() => requireDuration('90', '--timeout')).toThrow(
    expect.objectContaining({
      code: 'usage',
      exitCode: 2,
      message: '--timeout is no duration: "90"',
      hint: 'write it as in `--timeout 90s`',
    }),
  );
});

test('a duration below the least allowed is refused', () => {
  expect(() => requireDuration('0s', '--interval', 1000)).toThrow(
    expect.objectContaining({ message: '--interval is too short: "0s"' }),
  );
  expect(requireDuration('1s', '--interval', 1000)).toBe(1000);
});

test('what is formatted reads the same again', () => {
  fc.assert(
    fc.property(fc.nat(10_000_000), (seconds) => {
      expect(parseDuration(formatDuration(seconds * 1000))).toBe(seconds * 1000);
    }),
  );
  expect([formatDuration(120_000), formatDuration(90_000), formatDuration(1), formatDuration(-5)]).toEqual([
    '2m',
    '90s',
    '1s',
    '0s',
  ]);
});
