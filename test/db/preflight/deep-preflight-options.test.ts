import { expect, test } from 'vitest';
import { deepPreflightSpecs, readDeepPreflight } from '../../../src/db/preflight/options.ts';
import { argsFrom } from '../../fixtures/command-io.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const settings = {
  profileName: 'default',
  profile: profileNamed('default'),
  isProfileStored: false,
  isProfileNamed: false,
  values: {},
  clientSecret: undefined,
  accessToken: undefined,
  isAccessTokenIgnored: false,
  storedBaseUrl: undefined,
};
const sourceSpecs = [
  { name: 'ignore-dbs', description: '', valueName: 'a,b', multiple: 'list' },
  { name: 'disable-ssl', description: '' },
] as const;

function read(given: Readonly<Record<string, readonly string[]>>, engine: 'postgresql' | 'redis' = 'postgresql') {
  const args = argsFrom(given, [], [...deepPreflightSpecs, ...sourceSpecs]);
  return readDeepPreflight(args, engine, settings, 1000).deep;
}

test('rows are read on request only, at 50 MB per second and without a time limit', () => {
  expect(read({})).toBeUndefined();
  expect(read({ deep: [''] })).toEqual({ bytesPerSecond: 50 * 1024 ** 2, timeout: undefined });
});

test('the rate is in MB per second, the time limit a duration', () => {
  expect(read({ deep: [''], 'deep-rate': ['0.5'], 'deep-timeout': ['2h'] })).toEqual({
    bytesPerSecond: 512 * 1024,
    timeout: 7_200_000,
  });
});

test.each([
  { 'deep-rate': ['10'] },
  { 'deep-timeout': ['1h'] },
  ...['0', '0.0', '-1', '', 'fast', '10MB', '1e3', 'NaN', 'Infinity', '0x10', '1.'].map((rate) => ({
    deep: [''],
    'deep-rate': [rate],
  })),
  ...['0', '0s', 'never', '-1h'].map((time) => ({ deep: [''], 'deep-timeout': [time] })),
])('%j is a usage error', (given) => {
  expect(() => read(given)).toThrow(expect.objectContaining({ code: 'usage' }));
});

test('Redis has no rows to read', () => {
  expect(() => read({ deep: [''] }, 'redis')).toThrow(expect.objectContaining({ code: 'usage' }));
});
