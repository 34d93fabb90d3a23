import { expect, test } from 'vitest';
import {
  hasHeaderWithPrefix,
  readRawRequestPath,
  readRawRequestQuery,
  readRequestHeaderValues,
} from '../../../src/auth/loopback/loopback-http-request.ts';
import { request } from './loopback-fixture.ts';

test('every value of a header is seen, in any case of its name', () => {
  const input = request('/', { rawHeaders: ['Host', 'a', 'X', 'host', 'HOST', 'b'] });
  expect(readRequestHeaderValues(input, 'host')).toEqual(['a', 'b']);
  expect(readRequestHeaderValues(input, 'a')).toEqual([]);
});

test('a header is found by the beginning of its name, not by a value', () => {
  const input = request('/', { rawHeaders: ['Sec-Fetch-User', '?1', 'X', 'expect'] });
  expect(hasHeaderWithPrefix(input, 'sec-fetch-')).toBe(true);
  expect(hasHeaderWithPrefix(input, 'expect')).toBe(false);
});

test.each([
  ['/a?b?c', '/a', 'b?c'],
  ['/a', '/a', ''],
  ['/a?', '/a', ''],
  ['/%2e%2e/a?%3f', '/%2e%2e/a', '%3f'],
])('a target is cut at its first question mark and not decoded: %s', (target, path, query) => {
  expect([readRawRequestPath(request(target)), readRawRequestQuery(request(target))]).toEqual([path, query]);
});
