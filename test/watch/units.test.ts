import { expect, it } from 'vitest';
import { formatBytesInUnitsOf1024, formatElapsed } from '../../src/watch/units.ts';

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [1024 ** 2 * 1.5, '1.5 MB'],
  [1024 ** 2 * 150, '150 MB'],
  [1024 ** 3 * 2.25, '2.3 GB'],
  [1024 ** 4 * 12, '12.0 TB'],
  [-5, '0 B'],
])('%i bytes are %s', (bytes, text) => {
  expect(formatBytesInUnitsOf1024(bytes)).toBe(text);
});

it.each([
  [0, '0 s'],
  [59.4, '59 s'],
  [60, '1 min'],
  [3600, '1 h'],
  [12_000, '3 h 20 min'],
  [86_400, '1 d'],
  [187_200, '2 d 4 h'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatElapsed(seconds)).toBe(text);
});
