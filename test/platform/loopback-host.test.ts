import { expect, it } from 'vitest';
import { isLoopbackHost } from '../../src/platform/loopback-host.ts';

it.each(['localhost', '127.0.0.1', '127.255.0.9', '[::1]'])('%s is this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

it.each([
  'localhost.',
  'a.localhost',
  'localhost.example',
  '127.0.0.1.example',
  '128.0.0.1',
  '0.0.0.0',
  '[::]',
  '[::ffff:7f00:1]',
  '::1',
  '',
])('%s is not known to be this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});
