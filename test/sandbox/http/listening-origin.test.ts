import { expect, it } from 'vitest';
import { formatOrigin } from '../../../src/sandbox/http/listening-origin.ts';

it.each([
  ['127.0.0.1', 8080, 'http://127.0.0.1:8080'],
  ['::1', 8080, 'http://[::1]:8080'],
  ['127.0.0.1', 80, 'http://127.0.0.1'],
  ['::1', 80, 'http://[::1]'],
  ['localhost', 80, 'http://localhost'],
])('the origin of %s at port %d is serialized as %s', (host, port, origin) => {
  expect(formatOrigin(host, port)).toBe(origin);
});
