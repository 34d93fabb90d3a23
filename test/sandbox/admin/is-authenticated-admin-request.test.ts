import { describe, expect, it } from 'vitest';
import { admin, sandboxFor, send } from '../requests.ts';

describe('the admin API', () => {
  it('requires exactly one admin token', async () => {
    const sandbox = await sandboxFor();
    const { admin_url, admin_token, client_secret } = sandbox.ready;
    for (const token of [undefined, '', 'x', client_secret, `${admin_token}x`, [admin_token, admin_token]]) {
      const headers = token === undefined ? {} : { 'x-admin-token': token };
      expect((await send(admin_url, '/_sandbox/clock', { headers })).status).toBe(403);
    }
    expect((await send(admin_url, `/_sandbox/clock?x-admin-token=${admin_token}`)).status).toBe(403);
    expect((await admin(sandbox, 'GET', '/_sandbox/clock')).status).toBe(200);
  });

  it('requires its exact Host and does not allow CORS', async () => {
    const sandbox = await sandboxFor();
    const { admin_url, admin_token } = sandbox.ready;
    const headers = { 'x-admin-token': admin_token, host: `localhost:${new URL(admin_url).port}` };
    expect((await send(admin_url, '/_sandbox/clock', { headers })).status).toBe(403);
    const preflight = await send(admin_url, '/_sandbox/clock', {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-headers': 'x-admin-token' },
    });
    expect(preflight.status).toBe(403);
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('answers 404 and 405 only with the admin token', async () => {
    const sandbox = await sandboxFor();
    expect((await send(sandbox.ready.admin_url, '/_sandbox/nothing')).status).toBe(403);
    expect((await admin(sandbox, 'GET', '/_sandbox/nothing')).status).toBe(404);
    expect((await admin(sandbox, 'PUT', '/_sandbox/clock')).headers.allow).toBe('GET, HEAD, POST');
  });
});
