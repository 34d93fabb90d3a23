import { expect, test } from 'vitest';
import { formatMajorVersion, formatVersion, parseMajorVersion, toMajorVersion } from '../../src/postgresql/version.ts';

test.each([
  [180004, '18.4', '18', 180000],
  [150018, '15.18', '15', 150000],
  [100023, '10.23', '10', 100000],
  [90624, '9.6.24', '9.6', 90600],
  [80002, '8.0.2', '8.0', 80000],
])('%d is version %s of major version %s', (version, words, release, first) => {
  expect([formatVersion(version), formatMajorVersion(version), toMajorVersion(version)]).toEqual([
    words,
    release,
    first,
  ]);
});

test.each([
  ['17', 170000],
  ['17.2', 170000],
  ['v17', 170000],
  ['PostgreSQL 17', 170000],
  ['pg-16', 160000],
  [' 18 ', 180000],
  ['9.6', 90600],
  ['9.6.24', 90600],
])('%s means %d', (text, release) => {
  expect(parseMajorVersion(text)).toBe(release);
});

test.each(['', 'latest', '9', '17beta', '1.2.3.4', 'redis 7'])('%j is not a version', (text) => {
  expect(parseMajorVersion(text)).toBeUndefined();
});

test('major versions compare as numbers', () => {
  expect(toMajorVersion(150018)).toBeLessThan(parseMajorVersion('16') ?? 0);
  expect(toMajorVersion(160001)).toBeLessThanOrEqual(parseMajorVersion('16') ?? 0);
  expect(parseMajorVersion('9.6') ?? 0).toBeLessThan(parseMajorVersion('10') ?? 0);
});
