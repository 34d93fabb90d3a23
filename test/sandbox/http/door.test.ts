import { expect, it } from 'vitest';
import { originOf } from '../../../src/sandbox/http/door.ts';

it.each([
  ['127.0.0.1', 8080, 'http://127.0.0.1:8080'],
  ['::1', 8080, 'http://[::1]:8080'],
  ['127.0.0.1', 80, 'http://127.0.0.1'],
  ['::1', 80, 'http://[::1]'],
  ['localhost', 80, 'http://localhost'],
])('the origin of %s at port %d is told as clients compare it: %s', (host, port, origin) => {
  expect(originOf(host, port)).toBe(origin);
});
