import { describe, expect, it } from 'vitest';
import { admin, callApi, sandboxFor, send, tokenFor } from '../requests.ts';

describe('every response of the resource API', () => {
  it('carries content type, request id and CORS headers, errors too', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const answers = [
      await callApi(sandbox, access_token, 'GET', '/v2/droplets'),
      await callApi(sandbox, access_token, 'GET', '/v2/nothing'),
      await callApi(sandbox, access_token, 'PATCH', '/v2/droplets'),
      await callApi(sandbox, 'unknown', 'GET', '/v2/droplets'),
      await send(sandbox.ready.base_url, '/v2/droplets'),
      await callApi(sandbox, access_token, 'POST', '/v2/droplets', '{'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 405, 404, 401, 400]);
    for (const { status, headers, body } of answers) {
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
      expect(headers['access-control-allow-origin']).toBe('*');
      if (status >= 400) expect(JSON.parse(body).request_id).toBe(headers['x-request-id']);
    }
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(answers.length);
  });

  it('an unknown path is 404, a known one with another method 405 with Allow', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    for (const path of [
      '/',
      '/v2',
      '/v2/',
      '/v2/droplets//',
      '/v2/droplets/1/2',
      '/v2//droplets',
      '/v2/Droplets',
      '/v2/x/../droplets',
      '/v2/%64roplets',
      '/v1/oauth/token',
      '/_sandbox/clock',
    ]) {
      const missing = await callApi(sandbox, access_token, 'GET', path);
      // The id of a refused token is not_found (docs/service.md S7.5).
      expect([missing.status, JSON.parse(missing.body).id]).toEqual([404, 'no_such_path']);
    }
    const put = await callApi(sandbox, access_token, 'PUT', '/v2/droplets', {});
    expect([put.status, put.headers.allow]).toEqual([405, 'GET, HEAD, POST, DELETE']);
    expect((await callApi(sandbox, access_token, 'DELETE', '/v2/actions')).headers.allow).toBe('GET, HEAD');
  });

  it('one trailing slash is ignored', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox, { scope: 'read write' });
    const options = { name: 'slash', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' };
    const made = await callApi(sandbox, access_token, 'POST', '/v2/droplets/', options);
    expect(made.status).toBe(202);
    const { id } = JSON.parse(made.body).droplet;
    const one = await callApi(sandbox, access_token, 'GET', `/v2/droplets/${id}/`);
    expect([one.status, JSON.parse(one.body).droplet.name]).toEqual([200, 'slash']);
    const page = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets/?per_page=1')).body);
    const next = new URL(page.links.pages.next);
    expect((await callApi(sandbox, access_token, 'GET', next.pathname + next.search)).status).toBe(200);
  });

  it('sends the virtual time in Date', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '400d' });
    const answer = await send(sandbox.ready.base_url, '/v2/droplets');
    expect(Date.parse(answer.headers.date ?? '') - Date.now()).toBeGreaterThan(399 * 86_400_000);
  });
});

describe('rate limits', () => {
  it('are reported before they are reached', async () => {
    const sandbox = await sandboxFor({ rateLimit: '5000/h' });
    const { access_token } = await tokenFor(sandbox);
    const remaining: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { headers } = await callApi(sandbox, access_token, 'GET', '/v2/actions');
      expect(headers['ratelimit-limit']).toBe('5000');
      expect(Number(headers['ratelimit-reset']) * 1000).toBeGreaterThan(Date.now());
      remaining.push(Number(headers['ratelimit-remaining']));
    }
    expect(remaining).toEqual([4999, 4998, 4997]);
  });

  it('are enforced for each token on the virtual clock, with retry-after', async () => {
    const sandbox = await sandboxFor({ rateLimit: '100/h,3/m' });
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const one = await tokenFor(sandbox);
    const two = await tokenFor(sandbox);
    for (let i = 0; i < 3; i += 1)
      expect((await callApi(sandbox, one.access_token, 'GET', '/v2/actions')).status).toBe(200);
    const refused = await callApi(sandbox, one.access_token, 'GET', '/v2/actions');
    expect([refused.status, JSON.parse(refused.body).id]).toEqual([429, 'too_many_requests']);
    expect(refused.headers).toMatchObject({ 'retry-after': '60', 'ratelimit-limit': '3', 'ratelimit-remaining': '0' });
    expect((await callApi(sandbox, two.access_token, 'GET', '/v2/actions')).status).toBe(200);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '59s' });
    expect((await callApi(sandbox, one.access_token, 'GET', '/v2/actions')).headers['retry-after']).toBe('1');
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '1s' });
    expect((await callApi(sandbox, one.access_token, 'GET', '/v2/actions')).status).toBe(200);
  });
});
