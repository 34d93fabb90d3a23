import { describe, expect, it, onTestFinished } from 'vitest';
import { CHOICES } from '../../src/sandbox/choices.ts';
import { makeFolders } from '../fixtures/folders.ts';
import {
  admin,
  authorizationQuery,
  callApi,
  errorOf,
  locationOf,
  MAYA,
  postToken,
  sandboxFor,
  send,
  tokenFor,
} from './requests.ts';

it('every choice has a unique id, a rule that leaves it open, a question and a choice', () => {
  expect(new Set(CHOICES.map(({ id }) => id)).size).toBe(CHOICES.length);
  for (const { id, rule, question, choice } of CHOICES) {
    expect(id).toMatch(/^[a-z0-9-]+$/);
    expect(rule).toMatch(/^S\d\.\d+$/);
    expect(question).toMatch(/\S[^.]$/);
    expect(choice).toMatch(/\.$/);
  }
});

describe('what a choice says', () => {
  const wrong = { client_id: 'x', client_secret: 'y' };

  it.each([
    [{ grant_type: 'other', ...wrong }, 'invalid_client'],
    [{ grant_type: 'other' }, 'unsupported_grant_type'],
    [{}, 'invalid_request'],
    [{ grant_type: 'authorization_code' }, 'invalid_client'],
  ])('token-order: %j is %s', async (parameters, error) => {
    expect(errorOf(await postToken(await sandboxFor(), parameters))).toBe(error);
  });

  it('head-authorize: a code is issued', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
    const path = `/v1/oauth/authorize?${authorizationQuery(sandbox)}`;
    const answer = await send(sandbox.ready.auth_url, path, { method: 'HEAD' });
    expect([answer.status, answer.body]).toEqual([302, '']);
    expect(sandbox.world.grants.code(locationOf(answer).searchParams.get('code') ?? '')).toBeDefined();
  });

  it('trailing slashes', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const statuses = await Promise.all([
      send(sandbox.ready.auth_url, `/v1/oauth/authorize/?${authorizationQuery(sandbox)}`),
      send(sandbox.ready.auth_url, '/v1/oauth/token/', { method: 'POST' }),
      callApi(sandbox, access_token, 'GET', '/v2/databases/'),
      callApi(sandbox, access_token, 'GET', '/v2/databases//'),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 200, 404]);
  });

  it('host-header: 421 before the token is checked', async () => {
    const { ready } = await sandboxFor();
    const headers = { host: 'attacker.example.com' };
    const api = await send(ready.base_url, '/v2/droplets', { headers });
    expect([api.status, JSON.parse(api.body).id]).toEqual([421, 'misdirected_request']);
    const token = await send(ready.auth_url, '/v1/oauth/token', { method: 'POST', headers });
    expect([token.status, errorOf(token)]).toEqual([421, 'invalid_request']);
    expect((await send(ready.auth_url, '/panel', { headers })).status).toBe(421);
  });

  it('migration-none and migration-conflict', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const path = `/v2/databases/${sandbox.ready.clusters[0]?.uuid}/online-migration`;
    const call = async (method: string, body?: object) => {
      const answer = await callApi(sandbox, access_token, method, path, body);
      return [answer.status, answer.body === '' ? '' : JSON.parse(answer.body).id];
    };
    expect([await call('GET'), await call('DELETE')]).toEqual([
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
    const source = { host: 'db.example.com', dbname: 'shop' };
    const [, id] = await call('PUT', { source });
    expect(await call('PUT', { source })).toEqual([409, 'conflict']);
    expect(await call('PUT', { source: {} })).toEqual([422, 'unprocessable_entity']);
    expect(await call('GET')).toEqual([200, id]);
  });

  it.each([
    ['db.example.com', 422, ''],
    ['2001:db8::1', 422, ''],
    ['postgres://u:S3cret@db.example.com:5433/shop?x=1', 200, 'postgres://db.example.com:5433'],
    ['host=db.example.com dbname=shop password=S3cret', 200, 'db.example.com'],
    ["password='S3c ret' host='db.example.com' dbname=shop", 200, 'db.example.com'],
    ['dbname=shop password=S3cret service=x', 200, '(not stored)'],
    ['host=orders.db.cloud-sandbox.invalid dbname=shop', 422, ''],
    ['postgres://u:p@orders:25060/shop', 422, ''],
  ])('source-host-forms: %s without dbname is %i, and is stored without its password', async (host, status, stored) => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const path = `/v2/databases/${sandbox.ready.clusters[0]?.uuid}/online-migration`;
    expect((await callApi(sandbox, access_token, 'PUT', path, { source: { host } })).status).toBe(status);
    const [migration] = sandbox.world.migrations.all();
    expect(migration?.source.host ?? '').toBe(stored);
  });

  it('fault-commit: the log of a request that lost its response has the status of that response', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const entryOf = async (action?: string) => {
      if (action !== undefined)
        await admin(sandbox, 'POST', '/_sandbox/faults', { match: { path: '/v2/droplets' }, action });
      await callApi(sandbox, access_token, 'GET', '/v2/droplets').catch(() => undefined);
      return sandbox.requests('GET /v2/droplets').at(-1);
    };
    expect(await entryOf()).not.toHaveProperty('fault');
    expect(await entryOf('commit_then_drop')).toMatchObject({ status: 200, committed: true, delivered: false });
    expect(await entryOf('drop_before_commit')).toMatchObject({ status: 0, committed: false, delivered: false });
  });

  it('migration-restart: without a data plane it continues', async () => {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const first = await sandboxFor({ state: folders.state });
    const { access_token } = await tokenFor(first);
    const path = `/v2/databases/${first.ready.clusters[0]?.uuid}/online-migration`;
    await callApi(first, access_token, 'PUT', path, { source: { host: 'db.example.com', dbname: 'shop' } });
    await first.close();
    const second = await sandboxFor({ state: folders.state });
    expect(JSON.parse((await callApi(second, access_token, 'GET', path)).body).status).toBe('running');
  });
});
