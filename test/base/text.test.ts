import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countOf, formatBytes, formatCount, formatDuration } from '../../src/base/text.ts';

test.each([
  [-5, '0 B'],
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1 kB'],
  [1536, '1.5 kB'],
  [150 * 1024 ** 2, '150 MB'],
  [9.97 * 1024 ** 3, '10 GB'],
  [2.25 * 1024 ** 3, '2.3 GB'],
  [12 * 1024 ** 4, '12 TB'],
  [5000 * 1024 ** 5, '5000 PB'],
])('%d bytes are %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test.each([
  [-5, '0 s'],
  [0, '0 s'],
  [0.2, '1 ms'],
  [250.4, '250 ms'],
  [999.6, '1 s'],
  [59_499, '59 s'],
  [60_000, '1 min'],
  [90_000, '1 min 30 s'],
  [599_600, '10 min'],
  [725_000, '12 min'],
  [3_580_000, '1 h'],
  [12_000_000, '3 h 20 min'],
  [35_990_000, '10 h'],
  [84_600_000, '1 d'],
  [187_200_000, '2 d 4 h'],
  [14 * 86_400_000, '14 d'],
  [400 * 86_400_000, '400 d'],
])('%d ms are %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('a duration differs from its text by at most 5 %, and has no part that is zero or reaches the next unit', () => {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };
  const limits: Readonly<Record<string, number>> = { ms: 1000, s: 60, min: 60, h: 24 };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 * 86_400_000 }), (ms) => {
      const parts = [...formatDuration(ms).matchAll(/(\d+) ([a-z]+)/g)].map(([, n, unit = '']) => ({
        n: Number(n),
        unit,
      }));
      const sum = parts.reduce((total, { n, unit }) => total + n * (units[unit] ?? Number.NaN), 0);
      expect(Math.abs(sum - ms)).toBeLessThanOrEqual(Math.max(500, 0.05 * ms));
      for (const { n, unit } of parts) expect(n > 0 && n < (limits[unit] ?? Number.POSITIVE_INFINITY)).toBe(true);
    }),
  );
});

test('counts have the number of their noun, and a comma for each thousand', () => {
  expect([countOf(0, 'name'), countOf(1, 'name'), countOf(12_000, 'name')]).toEqual([
    '0 names',
    '1 name',
    '12,000 names',
  ]);
  expect([countOf(1, 'name is', 'names are'), countOf(2, 'name is', 'names are')]).toEqual([
    '1 name is',
    '2 names are',
  ]);
  expect([999, 1000, 1_234_567].map(formatCount)).toEqual(['999', '1,000', '1,234,567']);
});
