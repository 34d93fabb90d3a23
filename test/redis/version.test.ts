import { expect, test } from 'vitest';
import { parseInfo } from '../../src/redis/info.ts';
import { isAtLeast, parseServerVersion, parseTargetVersion, rdbVersionOf } from '../../src/redis/version.ts';

test.each<readonly [string, object | undefined]>([
  ['redis_version:7.0.15', { product: 'redis', version: '7.0.15', major: 7, minor: 0 }],
  [
    'redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1',
    { product: 'valkey', version: '8.0.1', major: 8 },
  ],
  ['redis_version:6.3.4\r\nmvcc_depth:0', { product: 'keydb', version: '6.3.4' }],
  ['redis_version:7.4.0\r\ndragonfly_version:df-v1.34.2', { product: 'dragonfly', version: '1.34.2', minor: 34 }],
  ['redis_version:7.4.3\r\ngarnet_version:1.0.84', { product: 'garnet' }],
  ['redis_version:4.0.0\r\nkvrocks_version:2.12.0', { product: 'kvrocks' }],
  ['redis_version:8', { major: 8, minor: 0 }],
  ['os:Linux', undefined],
  ['redis_version:unstable', undefined],
])('%j is recognized', (info, expected) => {
  const version = parseServerVersion(parseInfo(info));
  if (expected === undefined) expect(version).toBeUndefined();
  else expect(version).toMatchObject(expected);
});

test.each<readonly [string, object | undefined]>([
  ['8', { product: undefined, major: 8, minor: undefined }],
  ['7.2', { product: undefined, major: 7, minor: 2 }],
  ['7.2.4', { major: 7, minor: 2 }],
  ['valkey-8', { product: 'valkey', major: 8 }],
  ['Redis 7.4', { product: 'redis', major: 7, minor: 4 }],
  ['redis7', { product: 'redis', major: 7 }],
  ['latest', undefined],
  ['', undefined],
])('the target %j is read', (text, expected) => {
  if (expected === undefined) expect(parseTargetVersion(text)).toBeUndefined();
  else expect(parseTargetVersion(text)).toMatchObject(expected);
});

test.each<readonly ['redis' | 'valkey', number, number, number]>([
  ['redis', 2, 4, 6],
  ['redis', 7, 3, 12],
  ['redis', 7, 1, 11],
  ['redis', 6, 9, 10],
  ['redis', 6, 2, 9],
  ['redis', 2, 8, 6],
  ['redis', 3, 2, 7],
  ['redis', 4, 0, 8],
  ['redis', 5, 0, 9],
  ['redis', 6, 2, 9],
  ['redis', 7, 0, 10],
  ['redis', 7, 2, 11],
  ['redis', 7, 4, 12],
  ['redis', 8, 0, 12],
  ['valkey', 7, 2, 11],
  ['valkey', 8, 1, 11],
  ['valkey', 9, 0, 80],
  ['valkey', 9, 2, 81],
])('%s %i.%i writes RDB %i', (product, major, minor, rdb) => {
  expect(rdbVersionOf(product, major, minor)).toBe(rdb);
});

test('a version without a minor one is its newest', () => {
  expect(isAtLeast({ major: 7, minor: undefined }, 7, 4)).toBe(true);
  expect(isAtLeast({ major: 7, minor: 2 }, 7, 4)).toBe(false);
  expect(isAtLeast({ major: 8, minor: 0 }, 7, 4)).toBe(true);
});
