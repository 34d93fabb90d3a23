import { expect, test } from 'vitest';
import { formatSize, parseDuration, parseSize } from '../../../../src/db/preflight/postgresql/settings.ts';
import { quoteIdentifier, quoteLiteral } from '../../../../src/postgresql/quote.ts';

test.each([
  { value: '64MB', unit: undefined, bytes: 64 * 1024 ** 2 },
  { value: '65536', unit: 'kB', bytes: 64 * 1024 ** 2 },
  { value: '16', unit: '8kB', bytes: 128 * 1024 },
  { value: '-1', unit: 'MB', bytes: -(1024 ** 2) },
  { value: 'much', unit: 'MB', bytes: undefined },
])('$value counted in $unit is $bytes bytes', ({ value, unit, bytes }) => {
  expect(parseSize(value, unit)).toBe(bytes);
});

test.each([
  { value: '5min', unit: 'ms', span: 300_000 },
  { value: '1000', unit: 'ms', span: 1000 },
  { value: '2 s', unit: 'ms', span: 2000 },
  { value: '1.5h', unit: undefined, span: 5_400_000 },
])('$value counted in $unit is $span ms', ({ value, unit, span }) => {
  expect(parseDuration(value, unit)).toBe(span);
});

test('sizes for settings are whole numbers', () => {
  expect([1, 300 * 1024 ** 2, 20 * 1024 ** 3].map(formatSize)).toEqual(['1MB', '300MB', '20GB']);
});

test('quotes and backslashes stay inside their quotes', () => {
  expect(quoteIdentifier('a"b')).toBe('"a""b"');
  expect(quoteLiteral("o'clock")).toBe("'o''clock'");
  expect(quoteLiteral("a\\'b")).toBe("E'a\\\\''b'");
});
