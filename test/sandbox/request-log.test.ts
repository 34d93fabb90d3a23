import { describe, expect, it } from 'vitest';
import { createRequestLog, type LoggedRequest, redactRequest, tokenEnd } from '../../src/sandbox/request-log.ts';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import {
  admin,
  authorizationQuery,
  callApi,
  codeFor,
  exchangeParameters,
  grantFor,
  postToken,
  refreshWith,
  sandboxFor,
  send,
  tokenFor,
} from './requests.ts';

function entry(status: number): LoggedRequest {
  return { at: '2026-01-01T00:00:00.000Z', method: 'GET', path: '/a', status };
}

describe('the request log', () => {
  it('keeps the latest 10 000 and counts all of them', () => {
    const log = createRequestLog();
    for (let i = 0; i < 25_000; i += 1) log.add(entry(i), 'GET /a');
    const kept = log.list(undefined);
    expect([kept.length, kept[0]?.status, kept.at(-1)?.status]).toEqual([10_000, 15_000, 24_999]);
    expect(log.counts()).toEqual({ 'GET /a': 25_000 });
  });

  it('waiting ends when the signal aborts', async () => {
    const log = createRequestLog();
    log.add(entry(200), 'GET /a');
    await log.waitFor('GET /a', 2, AbortSignal.timeout(20));
    await log.waitFor('GET /a', 2, AbortSignal.abort());
    expect(log.list('GET /a')).toHaveLength(1);
  });

  it('the hint of a token is its end, and a short token has none', () => {
    expect(tokenEnd('sandbox_0123456789')).toBe('6789');
    expect(tokenEnd('short')).toBeUndefined();
  });

  it.each([
    ['/v2/droplets/{id}', '/v2/droplets/{id}'],
    ['/v1/oauth/token&client_secret=x', '/v1/oauth/token'],
    ['/v2/droplets/1&access_token=x', '/v2/droplets/1'],
    ['/v2/droplets;access_token=x', '/v2/droplets'],
    ['/v2/access_token=x', '/v2/access_token'],
    ['/v2/droplets%3Faccess_token%3Dx', '/v2/droplets'],
    ['/v2/droplets%3faccess_token', '/v2/droplets'],
    ['/v2/droplets%2526access_token', '/v2/droplets'],
    ['/v2/a%20b', '/v2/a%20b'],
    [`/${'a'.repeat(300)}`, `/${'a'.repeat(199)}`],
  ])('the path %s is logged as %s', (path, logged) => {
    expect(redactRequest({ ...entry(404), path }, () => false).path).toBe(logged);
  });

  it('only known client IDs and grant types are logged', () => {
    const redact = (fields: object): object => redactRequest({ ...entry(400), ...fields }, (id) => id === 'app');
    expect(redact({ client_id: 'app', grant_type: 'password' })).toEqual({
      ...entry(400),
      client_id: 'app',
      grant_type: 'password',
    });
    expect(redact({ client_id: 'secret', grant_type: 'secret' })).toEqual({
      ...entry(400),
      client_id: '(unknown)',
      grant_type: '(unknown)',
    });
    expect(redact({})).toEqual(entry(400));
  });
});

const TOKEN = encodeURIComponent('POST /v1/oauth/token');

describe('the request log over HTTP', () => {
  it('has the fields of a log entry and no secret', async () => {
    const sandbox = await sandboxFor();
    const grant = await grantFor(sandbox);
    await refreshWith(sandbox, grant.refresh_token);
    await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets?name=x');
    const { requests } = await read(sandbox);
    expect(requests.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      'POST /panel/sign-in 303',
      'GET /v1/oauth/authorize 200',
      'POST /v1/oauth/authorize 303',
      'POST /v1/oauth/token 200',
      'POST /v1/oauth/token 200',
      'GET /v2/droplets 404',
    ]);
    const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { client_id, client_secret } = sandbox.ready;
    expect(requests.slice(3)).toStrictEqual([
      { at, method: 'POST', path: '/v1/oauth/token', status: 200, client_id, grant_type: 'authorization_code' },
      {
        at,
        method: 'POST',
        path: '/v1/oauth/token',
        status: 200,
        grant_type: 'refresh_token',
        token_hint: grant.refresh_token.slice(-4),
      },
      { at, method: 'GET', path: '/v2/droplets', status: 404, token_hint: grant.access_token.slice(-4) },
    ]);
    const text = JSON.stringify(requests);
    for (const secret of [
      client_secret,
      grant.access_token,
      grant.refresh_token,
      ...sandbox.ready.users.map(({ password }) => password),
    ]) {
      expect(text).not.toContain(secret);
    }
  });

  it('has no secret that was sent in a wrong place, and a fault still matches an unknown grant type', async () => {
    const sandbox = await sandboxFor();
    const { auth_url, base_url, client_id, client_secret } = sandbox.ready;
    const { access_token } = await grantFor(sandbox);
    const code = await codeFor(sandbox);
    const post = (target: string, headers = {}) => send(auth_url, target, { method: 'POST', headers });
    const authorization = `Basic ${Buffer.from(`${access_token}:`).toString('base64')}`;
    await post('/v1/oauth/revoke?token=x', { authorization });
    await postToken(sandbox, { grant_type: code, client_id: client_secret, client_secret: client_id });
    await send(auth_url, `/v1/oauth/authorize?client_id=${client_secret}`);
    await post(`/v1/oauth/token&client_secret=${client_secret}`);
    await send(base_url, `/v2/droplets&access_token=${access_token}`);
    await send(base_url, `/v2/droplets/1%26access_token%3D${access_token}`);
    sandbox.faults.add({ match: { grant_type: 'custom' }, action: 'status', status: 503 });
    expect((await postToken(sandbox, { grant_type: 'custom' })).status).toBe(503);
    const { requests } = await read(sandbox);
    expect(requests.slice(-7).map(({ path }) => path)).toEqual([
      '/v1/oauth/revoke',
      '/v1/oauth/token',
      '/v1/oauth/authorize',
      '/v1/oauth/token',
      '/v2/droplets',
      '/v2/droplets/1',
      '/v1/oauth/token',
    ]);
    const text = JSON.stringify(requests);
    for (const secret of [client_secret, access_token, code]) expect(text).not.toContain(secret);
  });

  it('counts requests by endpoint, with the path of the route', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    for (const path of ['/v2/droplets/1', '/v2/droplets/2', '/v2/nothing'])
      await callApi(sandbox, access_token, 'GET', path);
    const { counts } = await read(sandbox);
    expect(counts).toEqual({ 'GET /v2/droplets/{id}': 2, 'GET (no endpoint)': 1 });
  });

  it('can be filtered by endpoint and cleared, and does not contain admin requests', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    await callApi(sandbox, access_token, 'GET', '/v2/droplets/1');
    await callApi(sandbox, access_token, 'GET', '/v2/droplets');
    const filtered = async (endpoint: string): Promise<number> =>
      (await read(sandbox, `?endpoint=${encodeURIComponent(endpoint)}`)).requests.length;
    expect(await filtered('GET /v2/droplets')).toBe(1);
    expect(await filtered('GET /v2/droplets/1')).toBe(1);
    expect(await filtered('GET /v2/droplets/{id}')).toBe(1);
    expect(await filtered('/v2/droplets')).toBe(1);
    expect(await filtered('POST /v2/droplets')).toBe(0);
    expect((await admin(sandbox, 'DELETE', '/_sandbox/requests')).status).toBe(204);
    expect(await read(sandbox)).toEqual({ requests: [], counts: {} });
  });

  it('wait replies when enough requests match', async () => {
    const sandbox = await sandboxFor();
    let isAnswered = false;
    const waiting = admin(sandbox, 'GET', `/_sandbox/requests?endpoint=${TOKEN}&wait=2`).then((answer) => {
      isAnswered = true;
      return answer;
    });
    await refreshWith(sandbox, 'nonsense');
    await send(sandbox.ready.auth_url, `/v1/oauth/authorize?${authorizationQuery(sandbox)}`);
    expect(isAnswered).toBe(false);
    await postToken(sandbox, exchangeParameters(sandbox, await codeFor(sandbox)));
    const answer = await waiting;
    expect(JSON.parse(answer.body).requests).toHaveLength(2);
    expect((await admin(sandbox, 'GET', `/_sandbox/requests?endpoint=${TOKEN}&wait=2`)).status).toBe(200);
    expect((await admin(sandbox, 'GET', '/_sandbox/requests?wait=x')).status).toBe(422);
  });
});

interface Log {
  readonly requests: readonly { readonly method: string; readonly path: string; readonly status: number }[];
  readonly counts: Readonly<Record<string, number>>;
}

async function read(sandbox: SandboxServers, query = ''): Promise<Log> {
  return JSON.parse((await admin(sandbox, 'GET', `/_sandbox/requests${query}`)).body);
}
