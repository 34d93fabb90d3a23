import { describe, expect, it } from 'vitest';
import { buildOrigin, formatHttpOrigin, parsePublicAddress } from '../../../src/sandbox/http/origin.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { admin, callApi, type Exchange, grantFor, sandboxFor, send, tokenFor } from '../requests.ts';

it.each([
  ['127.0.0.1', 8080, 'http://127.0.0.1:8080'],
  ['::1', 8080, 'http://[::1]:8080'],
  ['127.0.0.1', 80, 'http://127.0.0.1'],
  ['::1', 80, 'http://[::1]'],
  ['localhost', 80, 'http://localhost'],
])('the origin of %s at port %d is serialized as %s', (host, port, origin) => {
  expect(formatHttpOrigin(host, port)).toBe(origin);
});

it.each([
  ['sandbox:8080', { host: 'sandbox', port: 8080 }],
  ['Sandbox.Example:80', { host: 'sandbox.example', port: 80 }],
  ['my_sandbox:8080', { host: 'my_sandbox', port: 8080 }],
  ['10.0.0.2:65535', { host: '10.0.0.2', port: 65_535 }],
  ['[fd00::2]:8080', { host: '[fd00::2]', port: 8080 }],
])('the public name %s', (text, name) => {
  expect(parsePublicAddress(text)).toEqual(name);
});

it.each([
  'sandbox',
  'sandbox:',
  ':8080',
  'sandbox:0',
  'sandbox:08080',
  'sandbox:65536',
  'sandbox:8080/',
  'http://sandbox:8080',
  'user@sandbox:8080',
  'sand box:8080',
  'sandbox:8080\n',
  '127.1:8080',
  '0x7f.0.0.1:8080',
  '10.0.0.256:8080',
  '0.0.0.0:8080',
  '[::]:8080',
  '[fd00:0::2]:8080',
  'fd00::2:8080',
  'sändbox:8080',
])('%j is not a public name', (text) => {
  expect(parsePublicAddress(text)).toBeUndefined();
});

describe('the names of an origin', () => {
  it.each([
    ['127.0.0.1', undefined, 'http://127.0.0.1:8080', ['127.0.0.1:8080', '[::1]:8080', 'localhost:8080']],
    ['0.0.0.0', 'sandbox', 'http://sandbox:8080', ['127.0.0.1:8080', '[::1]:8080', 'localhost:8080', 'sandbox:8080']],
    ['10.0.0.2', 'sandbox', 'http://sandbox:8080', ['10.0.0.2:8080', 'sandbox:8080']],
  ])('that listens on %s with the public host %s', (host, publicHost, origin, authorities) => {
    const names = buildOrigin(host, 8080, publicHost);
    expect(names.origin).toBe(origin);
    expect([...names.authorities].sort()).toEqual(authorities);
  });

  it.each([
    ['0.0.0.0', 'http://127.0.0.1:8080'],
    ['::', 'http://[::1]:8080'],
    ['10.0.0.2', 'http://10.0.0.2:8080'],
  ])('%s is reached from this machine at %s', (host, origin) => {
    expect(buildOrigin(host, 8080, 'sandbox').localOrigin).toBe(origin);
  });

  it('include the name with and without the default port', () => {
    expect([...buildOrigin('10.0.0.2', 80, 'sandbox').authorities]).toEqual([
      '10.0.0.2',
      '10.0.0.2:80',
      'sandbox',
      'sandbox:80',
    ]);
  });
});

const ORIGIN = 'https://app.example.com';

function preflight(origin: string, path: string, method = 'GET', headers = {}): Promise<Exchange> {
  return send(origin, path, {
    method: 'OPTIONS',
    headers: {
      origin: ORIGIN,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type',
      ...headers,
    },
  });
}

function corsHeadersOf({ headers }: Exchange): readonly string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'));
}

/** The paths that pages of other origins may use. */
function openTargets({ ready }: SandboxServers): readonly (readonly [string, string])[] {
  return [
    [ready.base_url, '/v2/droplets'],
    [ready.base_url, '/v2/droplets/1'],
    [ready.base_url, '/v2/nothing'],
    [ready.auth_url, '/v1/oauth/revoke'],
  ];
}

describe('a page of another origin', () => {
  it('receives 204 for its preflight request, without a token and without credentials mode', async () => {
    const sandbox = await sandboxFor();
    for (const [origin, path] of openTargets(sandbox)) {
      const answer = await preflight(origin, path, 'DELETE');
      expect([path, answer.status, answer.body]).toEqual([path, 204, '']);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
        'access-control-allow-headers': 'authorization, content-type',
      });
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  it('can read lists, creations, errors and rate limits, and can revoke its token', async () => {
    const sandbox = await sandboxFor({ rateLimit: '5/h' });
    const { access_token } = await grantFor(sandbox);
    const answers = [
      await callApi(sandbox, access_token, 'GET', '/v2/droplets'),
      await callApi(sandbox, access_token, 'POST', '/v2/droplets', { name: 'a' }),
      await callApi(sandbox, 'unknown', 'GET', '/v2/droplets'),
      await send(sandbox.ready.base_url, '/v2/droplets', { method: 'OPTIONS' }),
      await send(sandbox.ready.base_url, '/v2/droplets', { headers: { 'content-encoding': 'gzip' } }),
      await send(sandbox.ready.auth_url, `/v1/oauth/revoke?token=${access_token}`, { method: 'POST' }),
      await send(sandbox.ready.auth_url, '/v1/oauth/revoke', { method: 'POST' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 403, 404, 401, 415, 200, 400]);
    for (const answer of answers) {
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      const exposed = answer.headers['access-control-expose-headers']?.split(', ') ?? [];
      const sent = Object.keys(answer.headers).filter((name) =>
        /^(ratelimit|x-request|retry|www-auth|date)/.test(name),
      );
      expect(exposed).toEqual(expect.arrayContaining(sent));
    }
  });

  it('cannot use any other path', async () => {
    const sandbox = await sandboxFor();
    const { auth_url, base_url } = sandbox.ready;
    for (const [origin, path] of [
      [auth_url, '/v1/oauth/token'],
      [auth_url, '/v1/oauth/authorize'],
      [auth_url, '/v1/oauth/token/info'],
      [auth_url, '/v1/oauth/revoke/'],
      [auth_url, '/v2/droplets'],
      [auth_url, '/panel'],
      [auth_url, '/panel/sign-in'],
      [auth_url, '/_sandbox/world'],
      [base_url, '/'],
      [base_url, '/v2'],
      [base_url, '/v1/oauth/revoke'],
    ] as const) {
      for (const answer of [await preflight(origin, path), await send(origin, path, { headers: { origin: ORIGIN } })]) {
        expect([path, corsHeadersOf(answer)]).toEqual([path, []]);
        if (answer.status < 400) expect(answer.status).not.toBe(204);
      }
    }
    expect(corsHeadersOf(await admin(sandbox, 'GET', '/_sandbox/world'))).toEqual([]);
  });

  it('is refused under another Host header', async () => {
    const sandbox = await sandboxFor();
    for (const [origin, path] of openTargets(sandbox)) {
      const answer = await preflight(origin, path, 'GET', { host: 'attacker.example.com' });
      expect([answer.status, corsHeadersOf(answer)]).toEqual([421, []]);
    }
  });
});

describe('a preflight request', () => {
  it('is logged with its path, under its own endpoint', async () => {
    const sandbox = await sandboxFor();
    await preflight(sandbox.ready.base_url, '/v2/droplets/1');
    await preflight(sandbox.ready.auth_url, '/v1/oauth/revoke');
    expect(sandbox.requests()).toEqual([
      { at: expect.any(String), method: 'OPTIONS', path: '/v2/droplets/1', status: 204 },
      { at: expect.any(String), method: 'OPTIONS', path: '/v1/oauth/revoke', status: 204 },
    ]);
    expect(sandbox.requests('GET /v2/droplets/{id}')).toEqual([]);
    const { counts } = JSON.parse((await admin(sandbox, 'GET', '/_sandbox/requests')).body);
    expect(counts).toEqual({ 'OPTIONS (CORS preflight)': 2 });
  });

  it('does not count for rate limits', async () => {
    const sandbox = await sandboxFor({ rateLimit: '1/h' });
    for (let at = 0; at < 3; at += 1)
      expect((await preflight(sandbox.ready.base_url, '/v2/droplets')).status).toBe(204);
    expect((await send(sandbox.ready.base_url, '/v2/droplets')).status).toBe(401);
  });

  it('does not consume a fault, and the page can read the faulty response', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    for (const fault of [
      { action: 'status', status: 503 },
      { action: 'rate_limit' },
      { action: 'html_502' },
      { action: 'bad_json' },
      { action: 'redirect_307' },
    ] as const) {
      sandbox.faults.add({ match: { path: '/v2/*' }, ...fault });
      expect((await preflight(sandbox.ready.base_url, '/v2/droplets')).status).toBe(204);
      const answer = await callApi(sandbox, access_token, 'GET', '/v2/droplets');
      expect(answer.headers['access-control-allow-origin']).toBe('*');
      expect(sandbox.requests().at(-1)).toMatchObject({ method: 'GET', fault: fault.action });
    }
  });
});
