import { expect, test } from 'vitest';
import { infoNumber, parseInfo, parseKeyspace, parseValueParts } from '../../src/redis/info.ts';

const text =
  '# Server\r\nredis_version:7.0.15\r\nconfig_file:/etc/a:b.conf\r\n\r\n# Keyspace\r\ndb10:keys=2,expires=1,avg_ttl=5\r\ndb2:keys=7,expires=0,avg_ttl=0,subexpiry=3\r\n';

test('INFO is read by line, values with colons included', () => {
  const info = parseInfo(text);
  expect(info.get('config_file')).toBe('/etc/a:b.conf');
  expect(info.has('# Server')).toBe(false);
});

test('numbers are numbers or nothing', () => {
  const info = parseInfo('a:12\r\nb:-1\r\nc:1.5\r\nd:12abc\r\ne:');
  expect(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => infoNumber(info, name))).toEqual([
    12,
    -1,
    1.5,
    undefined,
    undefined,
    undefined,
  ]);
});

test('databases come by their number', () => {
  expect(parseKeyspace(parseInfo(text))).toEqual([
    { index: 2, keys: 7, expires: 0, subexpiry: 3 },
    { index: 10, keys: 2, expires: 1, subexpiry: 0 },
  ]);
});

test('fields of a value are split at the first sign', () => {
  expect(parseValueParts('a=1,b=x=y,c')).toEqual(
    new Map([
      ['a', '1'],
      ['b', 'x=y'],
    ]),
  );
});
