import { describe, expect, it } from 'vitest';
import { SANDBOX_ROUTES } from '../../src/sandbox/routes.ts';
import { admin, callApi, sandboxFor, send, tokenFor } from './requests.ts';

describe('the table of routes', () => {
  it('names no endpoint twice', () => {
    for (const routes of Object.values(SANDBOX_ROUTES)) {
      const endpoints = routes.map(({ method, path }) => `${method} ${path}`);
      expect(new Set(endpoints).size).toBe(endpoints.length);
    }
  });

  it('requires the scope that the method needs', () => {
    for (const { method, scope } of SANDBOX_ROUTES.api) expect(scope).toBe(method === 'GET' ? 'read' : 'read write');
  });

  it('requires a token for the admin API and a session for the panel', async () => {
    const sandbox = await sandboxFor();
    for (const { method, path, scope } of SANDBOX_ROUTES.auth) {
      const answer = await send(sandbox.ready.auth_url, path, { method });
      if (scope === 'admin') expect([path, answer.status]).toEqual([path, 403]);
      if (scope === 'session')
        expect([path, answer.status, answer.headers.location?.split('?')[0]]).toEqual([path, 303, '/panel/sign-in']);
    }
  });

  it('has a scope of admin for everything under /_sandbox', () => {
    for (const { path, scope } of SANDBOX_ROUTES.auth) expect(scope === 'admin').toBe(path.startsWith('/_sandbox/'));
  });

  it('replies to HEAD for every GET route, without a body', async () => {
    const sandbox = await sandboxFor();
    for (const { path } of SANDBOX_ROUTES.auth.filter(({ method, scope }) => method === 'GET' && scope !== 'session')) {
      const headers = { 'x-admin-token': sandbox.ready.admin_token };
      const [get, head] = [
        await send(sandbox.ready.auth_url, path, { headers }),
        await send(sandbox.ready.auth_url, path, { method: 'HEAD', headers }),
      ];
      expect([path, head.status, head.body]).toEqual([path, get.status, '']);
    }
    expect((await admin(sandbox, 'HEAD', '/_sandbox/nothing')).status).toBe(404);
  });

  it('takes an encoded unreserved character for the character, also where the admin token is required', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    expect((await callApi(sandbox, access_token, 'GET', '/v2/d%72op%6Cets')).status).toBe(200);
    expect((await callApi(sandbox, access_token, 'GET', '/v2%2Fdroplets')).status).toBe(404);
    const { auth_url } = sandbox.ready;
    for (const path of ['/%5Fsandbox/world', '/%5fs%61ndbox/snapshot'])
      expect((await send(auth_url, path)).status).toBe(403);
    expect((await send(auth_url, '/p%61nel')).status).toBe(303);
  });

  it('replies to GET /healthz of both origins without a token, whatever the Host header and the faults, and logs nothing', async () => {
    const sandbox = await sandboxFor({ rateLimit: '1/h' });
    sandbox.faults.add({ match: { path: '*' }, action: 'reset', nth: 1, times: 99 });
    for (const origin of [sandbox.ready.auth_url, sandbox.ready.base_url]) {
      // A mapped port of a container has another number.
      for (const host of [new URL(origin).host, 'localhost:49153']) {
        const answer = await send(origin, '/healthz', { headers: { host } });
        expect([answer.status, answer.body]).toEqual([200, '{"status":"ok"}']);
      }
      expect(await send(origin, '/healthz?x', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    }
    expect(sandbox.requests()).toEqual([]);
    expect(sandbox.faults.list()).toMatchObject([{ applied: 0 }]);
    sandbox.faults.clear();
    for (const origin of [sandbox.ready.auth_url, sandbox.ready.base_url]) {
      const posted = await send(origin, '/healthz', { method: 'POST' });
      expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
    }
  });
});
