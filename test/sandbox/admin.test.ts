import { describe, expect, it } from 'vitest';
import { decodePerson } from '../../src/sandbox/admin.ts';
import { CHOICES } from '../../src/sandbox/choices.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { admin, callApi, MAYA, refreshWith, sandboxFor, send, signIn, TOMAS, tokenFor, userOf } from './requests.ts';

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

it('GET /_sandbox/world returns the ready line with all applications', async () => {
  const sandbox = await sandboxFor({ apps: [{ name: 'Mine', callbackUrl: 'https://mine.example/cb' }] });
  const ready: typeof sandbox.ready = JSON.parse((await admin(sandbox, 'GET', '/_sandbox/world')).body);
  const { applications } = ready;
  expect(ready).toEqual(sandbox.ready);
  expect(applications).toHaveLength(3);
  expect(applications[0]).toMatchObject({
    client_id: ready.client_id,
    client_secret: ready.client_secret,
    callback_urls: [ready.callback_url],
  });
  expect(applications[2]).toMatchObject({ name: 'Mine', callback_urls: ['https://mine.example/cb'] });
});

it('the clock stops before the year 9999', async () => {
  const sandbox = await sandboxFor({ data: { clock: { startAt: '9998-12-31T00:00:00Z', isFrozen: true } } });
  const late = await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '1d' });
  expect(late.status).toBe(422);
  const { status, body } = await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '23h' });
  expect([status, JSON.parse(body).now]).toEqual([200, '9998-12-31T23:00:00.000Z']);
  const grant = await tokenFor(sandbox);
  expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(200);
});

it('GET /_sandbox/choices lists every choice', async () => {
  const sandbox = await sandboxFor();
  expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/choices')).body)).toEqual({ choices: CHOICES });
});

describe('POST /_sandbox/clock', () => {
  it('moves forward, freezes and resumes', async () => {
    const sandbox = await sandboxFor({ now: () => 1_000_000_000_000 });
    const read = async (body?: object): Promise<object> =>
      JSON.parse((await admin(sandbox, body === undefined ? 'GET' : 'POST', '/_sandbox/clock', body)).body);
    expect(await read()).toEqual({ now: '2001-09-09T01:46:40.000Z', frozen: false, offset_ms: 0 });
    expect(await read({ advance: '+10m' })).toMatchObject({ now: '2001-09-09T01:56:40.000Z' });
    expect(await read({ advance: '30d' })).toMatchObject({ now: '2001-10-09T01:56:40.000Z' });
    expect(await read({ advance: 1 })).toMatchObject({ now: '2001-10-09T01:56:40.001Z', frozen: false });
    expect(await read({ freeze: true, advance: '1s' })).toMatchObject({
      now: '2001-10-09T01:56:41.001Z',
      frozen: true,
    });
    expect(await read({ resume: true })).toMatchObject({ now: '2001-10-09T01:56:41.001Z', frozen: false });
  });

  it.each(['-10m', '10', 'm', '', '1y', '1.5h', -1, 1.5, null, true, '999999999999d'])(
    'refuses to advance by %j',
    async (advance) => {
      const sandbox = await sandboxFor({ now: () => 0 });
      expect((await admin(sandbox, 'POST', '/_sandbox/clock', { advance })).status).toBe(422);
      expect((await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: 'yes' })).status).toBe(422);
      expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/clock')).body)).toMatchObject({
        offset_ms: 0,
        frozen: false,
      });
    },
  );
});

describe('POST /_sandbox/consent', () => {
  it("accepts ask, deny, and approve with a person and one of the person's teams", async () => {
    const sandbox = await sandboxFor();
    const team = userOf(sandbox, TOMAS).teams[0]?.uuid;
    for (const [body, shown] of [
      [{ mode: 'deny' }, { mode: 'deny' }],
      [
        { mode: 'approve', user: MAYA },
        { mode: 'approve', user: MAYA },
      ],
      [
        { mode: 'approve', user: userOf(sandbox, TOMAS).uuid, team: 'Harbour Works' },
        { mode: 'approve', user: TOMAS, team },
      ],
      [
        { mode: 'approve', user: TOMAS, team },
        { mode: 'approve', user: TOMAS, team },
      ],
      [{ mode: 'ask' }, { mode: 'ask' }],
    ]) {
      expect(JSON.parse((await admin(sandbox, 'POST', '/_sandbox/consent', body)).body)).toEqual(shown);
      expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/consent')).body)).toEqual(shown);
    }
  });

  it.each([
    {},
    { mode: 'maybe' },
    { mode: 'approve' },
    { mode: 'approve', user: 'nobody' },
    { mode: 'approve', user: MAYA, team: 'Harbour Works' },
  ])('rejects %j and keeps the script', async (body) => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'deny' });
    expect((await admin(sandbox, 'POST', '/_sandbox/consent', body)).status).toBe(422);
    expect(sandbox.world.consent).toEqual({ mode: 'deny' });
  });
});

it('a person is found by e-mail address or UUID, a team by name or UUID', async () => {
  const sandbox = await sandboxFor();
  const tomas = userOf(sandbox, TOMAS);
  const decode = (body: object) => decodePerson(new Map(Object.entries(body)), sandbox.world);
  const team = tomas.teams[0]?.uuid;
  expect(decode({ user: TOMAS, team: 'Harbour Works' })).toEqual({ person: tomas.uuid, team });
  expect(decode({ user: tomas.uuid, team })).toEqual({ person: tomas.uuid, team });
  expect(decode({ user: MAYA })).toEqual({ person: userOf(sandbox, MAYA).uuid });
  for (const body of [{}, { user: 'nobody' }, { user: MAYA, team: 'Harbour Works' }])
    expect(decode(body)).toBeTypeOf('string');
});

describe('POST /_sandbox/tokens', () => {
  it('replies as the token endpoint does, with scope read by default', async () => {
    const sandbox = await sandboxFor();
    const answer = await admin(sandbox, 'POST', '/_sandbox/tokens', { user: MAYA });
    const grant = JSON.parse(answer.body);
    expect(grant).toMatchObject({ token_type: 'bearer', expires_in: 2_592_000, scope: 'read', info: { email: MAYA } });
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await refreshWith(sandbox, grant.refresh_token)).status).toBe(200);
  });

  it('issues tokens for a team and for another application, listed under My applications', async () => {
    const sandbox = await sandboxFor();
    const [team] = userOf(sandbox, TOMAS).teams;
    const other = sandbox.world.seed.applications[1];
    const grant = await tokenFor(sandbox, { user: TOMAS, team: team?.uuid, client_id: other?.clientId });
    expect(grant.info).toMatchObject({ team_uuid: team?.uuid });
    const cookie = await signIn(sandbox, TOMAS);
    expect((await send(sandbox.ready.auth_url, '/panel/applications', { headers: { cookie } })).body).toContain(
      'Sandbox Dashboard',
    );
  });

  it.each([
    {},
    { user: 'nobody' },
    { user: MAYA, scope: 'write' },
    { user: MAYA, scope: 1 },
    { user: MAYA, team: 'Harbour Works' },
    { user: MAYA, client_id: 'x' },
  ])('rejects %j', async (body) => {
    const sandbox = await sandboxFor();
    expect((await admin(sandbox, 'POST', '/_sandbox/tokens', body)).status).toBe(422);
  });

  it('expire invalidates the access token and keeps the refresh token', async () => {
    const sandbox = await sandboxFor();
    const grant = await tokenFor(sandbox);
    expect((await admin(sandbox, 'POST', '/_sandbox/tokens/expire', { token: grant.access_token })).status).toBe(204);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await refreshWith(sandbox, grant.refresh_token)).status).toBe(200);
  });

  it('revoke invalidates both tokens', async () => {
    const sandbox = await sandboxFor();
    const grant = await tokenFor(sandbox);
    expect((await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: grant.refresh_token })).status).toBe(204);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await refreshWith(sandbox, grant.refresh_token)).status).toBe(400);
  });

  it('refresh replaces the pair as another client would', async () => {
    const sandbox = await sandboxFor();
    const grant = await tokenFor(sandbox);
    const fresh = JSON.parse(
      (await admin(sandbox, 'POST', '/_sandbox/tokens/refresh', { token: grant.access_token })).body,
    );
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets')).status).toBe(404);
    expect((await refreshWith(sandbox, grant.refresh_token)).status).toBe(400);
    expect((await callApi(sandbox, fresh.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await admin(sandbox, 'POST', '/_sandbox/tokens/refresh', { token: grant.access_token })).status).toBe(409);
  });

  it.each(['expire', 'revoke', 'refresh'])('%s of an unknown token is 404, without one 422', async (verb) => {
    const sandbox = await sandboxFor();
    expect((await admin(sandbox, 'POST', `/_sandbox/tokens/${verb}`, { token: 'x' })).status).toBe(404);
    expect((await admin(sandbox, 'POST', `/_sandbox/tokens/${verb}`, {})).status).toBe(422);
  });
});

describe('the faults of the admin API', () => {
  it('are added, listed with their counters, and cleared', async () => {
    const sandbox = await sandboxFor();
    const fault = {
      match: { method: 'POST', path: '/v2/droplets' },
      action: 'status',
      nth: 3,
      times: 4,
      delay: '2s',
      status: 503,
    };
    const added = await admin(sandbox, 'POST', '/_sandbox/faults', fault);
    const record = { id: 1, ...fault, delay: 2000, matched: 0, applied: 0, remaining: 4 };
    expect([added.status, JSON.parse(added.body)]).toEqual([201, record]);
    expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/faults')).body)).toEqual({ faults: [record] });
    expect(sandbox.faults.list()).toEqual([record]);
    expect((await admin(sandbox, 'DELETE', '/_sandbox/faults')).status).toBe(204);
    expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/faults')).body)).toEqual({ faults: [] });
  });

  it.each<[string, object]>([
    ['no match', { action: 'reset' }],
    ['an empty match', { match: {}, action: 'reset' }],
    ['an array as match', { match: [], action: 'reset' }],
    ['an unknown member of match', { match: { host: 'x' }, action: 'reset' }],
    ['a method in lower case', { match: { method: 'post' }, action: 'reset' }],
    ['a path without a slash', { match: { path: 'v2' }, action: 'reset' }],
    ['a path with a query', { match: { path: '/v2?x=1' }, action: 'reset' }],
    ['a * inside a path', { match: { path: '/*/x' }, action: 'reset' }],
    ['no action', { match: { path: '*' } }],
    ['an unknown action', { match: { path: '*' }, action: 'explode' }],
    ['nth 0', { match: { path: '*' }, action: 'reset', nth: 0 }],
    ['times as a string', { match: { path: '*' }, action: 'reset', times: '4' }],
    ['delay as a word', { match: { path: '*' }, action: 'reset', delay: 'soon' }],
    ['a delay that is too long', { match: { path: '*' }, action: 'reset', delay: '11m' }],
    ['the action delay without a delay', { match: { path: '*' }, action: 'delay' }],
    ['the action commit_late without a delay', { match: { path: '*' }, action: 'commit_late' }],
    ['the action lag_lists without a delay', { match: { path: '*' }, action: 'lag_lists' }],
    ['a status for another action', { match: { path: '*' }, action: 'reset', status: 500 }],
    ['a status out of range', { match: { path: '*' }, action: 'status', status: 100 }],
    ['an unknown member', { match: { path: '*' }, action: 'reset', count: 1 }],
  ])('are rejected with 422: %s', async (_what, body) => {
    const sandbox = await sandboxFor();
    const answer = await admin(sandbox, 'POST', '/_sandbox/faults', body);
    expect(answer.status).toBe(422);
    expectGolden('sandbox', JSON.parse(answer.body).message);
    expect(sandbox.faults.list()).toEqual([]);
  });

  it('need the admin token and the exact Host', async () => {
    const { ready } = await sandboxFor();
    const { port } = new URL(ready.admin_url);
    for (const headers of [
      {},
      { 'x-admin-token': 'x' },
      { 'x-admin-token': ready.admin_token, host: `localhost:${port}` },
    ]) {
      expect((await send(ready.admin_url, '/_sandbox/faults', { headers })).status).toBe(403);
    }
  });

  it('are gone after a reset', async () => {
    const sandbox = await sandboxFor();
    sandbox.faults.add({ match: { path: '*' }, action: 'reset' });
    await admin(sandbox, 'POST', '/_sandbox/reset');
    expect(sandbox.faults.list()).toEqual([]);
  });
});
