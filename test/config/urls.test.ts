import { createRequire } from 'node:module';
import fc from 'fast-check';
import { Agent, fetch } from 'undici';
import { describe, expect, it } from 'vitest';
import { blockedPorts, parseCallbackUrl, parseOrigin } from '../../src/config/urls.ts';
import { expectGolden } from '../fixtures/golden.ts';

function reasonOf(parsed: { readonly ok: boolean; readonly reason?: string }): string {
  return parsed.reason ?? 'accepted';
}

describe('auth_url and base_url', () => {
  it.each([
    ['https://cloud.example', 'https://cloud.example'],
    ['https://cloud.example/', 'https://cloud.example'],
    ['HTTPS://Cloud.Example:443', 'https://cloud.example'],
    ['https://cloud.example:8443', 'https://cloud.example:8443'],
    ['https://10.0.0.1', 'https://10.0.0.1'],
    ['https://[fd00::1]:8443', 'https://[fd00::1]:8443'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ['http://127.9.9.9', 'http://127.9.9.9'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
  ])('%s is the origin %s', (text, origin) => {
    expect(parseOrigin(text)).toEqual({ ok: true, origin });
  });

  it.each([
    'http://cloud.example',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'http://127.0.0.1@cloud.example',
    'https://user:hunter2@cloud.example',
    'https://@cloud.example',
    'https://cloud.example/v1',
    'https://cloud.example//',
    'https://cloud.example/x/..',
    'https://cloud.example?',
    'https://cloud.example/?token=hunter2',
    'https://cloud.example#',
    'https://cloud.example:6000',
    'http://localhost:22',
    'https://cloud.example:0',
    'cloud.example',
    'ftp://cloud.example',
    'https:cloud.example',
    'https://',
    'https://cloud.example:99999',
    'https://a b',
    ' https://cloud.example',
    'https://cloud.example\n',
    'https://cloud.example\\@evil.example',
    'https://clоud.example',
    '',
  ])('%j is refused', (text) => {
    const parsed = parseOrigin(text);
    expect(parsed.ok).toBe(false);
    expect(JSON.stringify(parsed)).not.toContain('hunter2');
    expectGolden('config', reasonOf(parsed));
  });

  it('whatever is accepted is what the URL parser makes of it, over TLS or to loopback', () => {
    const text = fc.oneof(
      fc.webUrl(),
      fc.tuple(fc.constantFrom('https://', 'http://'), fc.string()).map((words) => words.join('')),
    );
    fc.assert(
      fc.property(text, (url) => {
        const parsed = parseOrigin(url);
        if (!parsed.ok) return;
        expect(parsed.origin).toBe(new URL(url).origin);
        expect(parsed.origin).toMatch(/^(https:\/\/|http:\/\/(localhost|127\.|\[::1\]))/);
      }),
    );
  });
});

describe('a callback URL', () => {
  it.each([
    ['http://127.0.0.1:8765/callback', { hostname: '127.0.0.1', port: 8765, path: '/callback', query: '' }],
    ['http://localhost/cb', { hostname: 'localhost', port: 80, path: '/cb', query: '' }],
    ['http://localhost:80/cb', { hostname: 'localhost', port: 80, path: '/cb', query: '' }],
    ['http://[::1]:0/a/b', { hostname: '[::1]', port: 0, path: '/a/b', query: '' }],
    ['http://127.0.0.1:8765', { hostname: '127.0.0.1', port: 8765, path: '/', query: '' }],
    ['http://127.0.0.1:8765/a%2Fb;c?app=1', { hostname: '127.0.0.1', port: 8765, path: '/a%2Fb;c', query: '?app=1' }],
  ])('%s is taken apart as it is written', (text, parts) => {
    expect(parseCallbackUrl(text)).toEqual({ ok: true, callback: { href: text, ...parts } });
  });

  it.each([
    'https://127.0.0.1:8765/callback',
    'http://cloud.example/callback',
    'http://0.0.0.0:8765/callback',
    'http://[::]:8765/callback',
    'http://127.1:8765/callback',
    'http://0x7f000001:8765/',
    'http://LOCALHOST:8765/',
    'http://[0:0:0:0:0:0:0:1]:8765/',
    'http://127.0.0.1:8765/x/../callback',
    'http://127.0.0.1:8765/x/%2e%2e/callback',
    'http://127.0.0.1:8765/"x"',
    'http://127.0.0.1:8765/cb#part',
    'http://127.0.0.1:8765/cb?state=1',
    'http://127.0.0.1:8765/cb?%63ode=1',
    "http://127.0.0.1:8765/cb?a='",
    'http://127.0.0.1:6000/cb',
    'http://me@127.0.0.1:8765/cb',
    '/callback',
  ])('%s is refused', (text) => {
    const parsed = parseCallbackUrl(text);
    expect(parsed.ok).toBe(false);
    expectGolden('config', reasonOf(parsed));
  });
});

describe('the blocked ports', () => {
  it('are those the fetch standard blocks', () => {
    // undici exports no list; this is the one its fetch compares with.
    const { badPorts } = createRequire(import.meta.url)('undici/lib/web/fetch/constants.js');
    expect(new Set([...blockedPorts].map(String))).toEqual(new Set(['0', ...badPorts]));
  });

  it('are refused by fetch', async () => {
    const agent = new Agent({ connect: (_, callback) => callback(new Error('test agent'), null) });
    const failureOf = async (port: number) => {
      const error = await fetch(`http://localhost:${port}/`, { dispatcher: agent }).catch((thrown: unknown) => thrown);
      return error instanceof Error && error.cause instanceof Error ? error.cause.message : undefined;
    };
    for (const port of blockedPorts) if (port !== 0) expect(await failureOf(port), String(port)).toBe('bad port');
    expect(await failureOf(8765)).toBe('test agent');
    await agent.destroy();
  });
});
