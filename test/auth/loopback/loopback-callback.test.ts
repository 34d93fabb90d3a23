import { describe, expect, test } from 'vitest';
import { parseConfiguredCallbackUrl, replaceCallbackPort } from '../../../src/auth/loopback/loopback-callback.ts';

describe('the authority a browser will write is known from the callback URL', () => {
  test.each([
    ['http://127.0.0.1:8765/callback', '127.0.0.1:8765', 8765, '/callback', ['127.0.0.1']],
    ['http://127.0.0.1/callback', '127.0.0.1', 80, '/callback', ['127.0.0.1']],
    ['http://127.0.0.1:80/callback', '127.0.0.1', 80, '/callback', ['127.0.0.1']],
    ['http://127.9.0.1:8765/callback', '127.9.0.1:8765', 8765, '/callback', ['127.9.0.1']],
    ['http://localhost:8765', 'localhost:8765', 8765, '/', ['127.0.0.1', '::1']],
    ['http://[::1]:8765/a/b', '[::1]:8765', 8765, '/a/b', ['::1']],
  ])('%s', (href, host, port, path, addresses) => {
    expect(parseConfiguredCallbackUrl(href)).toEqual({ href, host, port, path, query: '', addresses });
  });

  test('its own query is kept', () => {
    expect(parseConfiguredCallbackUrl('http://localhost:1/cb?app=1').query).toBe('app=1');
  });

  test('port 0 becomes the port the system gave, and nothing else changes', () => {
    const any = parseConfiguredCallbackUrl('http://[::1]:0/a:0?b=:0');
    expect(replaceCallbackPort(any, 4711)).toMatchObject({
      href: 'http://[::1]:4711/a:0?b=:0',
      host: '[::1]:4711',
      port: 4711,
    });
    const fixed = parseConfiguredCallbackUrl('http://127.0.0.1:8765/callback');
    expect(replaceCallbackPort(fixed, 8765)).toEqual(fixed);
  });
});

describe('what no browser could bring back to this machine is refused', () => {
  test.each([
    'https://127.0.0.1:8765/callback',
    'http://0.0.0.0:8765/callback',
    'http://[::]:8765/callback',
    'http://example.com/callback',
    'http://127.0.0.1.example.com/callback',
    'http://localhost.example.com/callback',
    'http://user@127.0.0.1/callback',
    'http://127.0.0.1:8765/callback#x',
    'http://127.0.0.1:99999/callback',
    'http://127.0.0.1:8765/a/../callback',
    'http://127.0.0.1:8765/%2e%2e/callback',
    'http://127.0.0.1:8765\\callback',
    'http://127.0.0.001:8765/callback',
    'HTTP://127.0.0.1:8765/callback',
    'https://example.com/http://127.0.0.1:8765/callback',
    ' http://127.0.0.1:8765/callback',
    '',
  ])('%s', (href) => {
    expect(() => parseConfiguredCallbackUrl(href)).toThrowError(expect.objectContaining({ code: 'config_invalid' }));
  });
});
