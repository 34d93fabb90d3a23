import { test as base, describe, expect } from 'vitest';
import { SandboxDataError, sandboxFixture, startSandbox } from '../../src/library/sandbox.ts';

const test = base.extend({ sandbox: sandboxFixture({ seed: 1 }) });

describe('startSandbox', () => {
  test('tokens, users and requests', async ({ sandbox }) => {
    const [user] = sandbox.users;
    const pair = sandbox.tokens.issue({ user: user?.email ?? '', scope: 'read write' });
    const get = (token: string) =>
      fetch(`${sandbox.apiUrl}/v2/account`, { headers: { authorization: `Bearer ${token}` } });
    expect((await get(pair.accessToken)).status).toBe(200);
    sandbox.tokens.expire(pair.accessToken);
    expect((await get(pair.accessToken)).status).toBe(404);
    expect(sandbox.tokens.state(pair.accessToken)).toBe('expired');
    const next = sandbox.tokens.refresh(pair.refreshToken);
    expect((await get(next.accessToken)).status).toBe(200);
    expect(() => sandbox.tokens.refresh(pair.refreshToken)).toThrow(RangeError);
    sandbox.tokens.revoke(next.refreshToken);
    expect((await get(next.accessToken)).status).toBe(404);
    expect(sandbox.requests('GET /v2/account').map(({ status }) => status)).toEqual([200, 404, 200, 404]);
    expect(() => sandbox.tokens.expire('unknown')).toThrow(RangeError);
  });

  test('the virtual clock', async ({ sandbox }) => {
    const pair = sandbox.tokens.issue();
    sandbox.clock.freeze();
    const before = sandbox.clock.now().getTime();
    sandbox.clock.advance(31 * 86_400_000);
    expect(sandbox.clock.now().getTime() - before).toBe(31 * 86_400_000);
    expect(sandbox.tokens.state(pair.accessToken)).toBe('expired');
    for (const step of [-1, 9e15, Number.NaN]) expect(() => sandbox.clock.advance(step)).toThrow(RangeError);
    sandbox.clock.resume();
    expect((await fetch(`${sandbox.apiUrl}/v2/account`)).status).toBe(401);
  });

  test('faults', async ({ sandbox }) => {
    sandbox.faults.add({ match: { path: '/v2/account' }, action: 'status', status: 503 });
    expect((await fetch(`${sandbox.apiUrl}/v2/account`)).status).toBe(503);
    expect(sandbox.faults.list()).toMatchObject([{ action: 'status', applied: 1 }]);
    expect(() => sandbox.faults.add({ match: {}, action: 'status' })).toThrow(TypeError);
    sandbox.reset();
    expect(sandbox.faults.list()).toEqual([]);
    expect(sandbox.requests()).toEqual([]);
  });

  test('the consent page approves for a user', async ({ sandbox }) => {
    sandbox.setConsent({ mode: 'approve', user: sandbox.users[0]?.uuid ?? '' });
    const { id, callbackUrl } = sandbox.client;
    const query = new URLSearchParams({ response_type: 'code', client_id: id, redirect_uri: callbackUrl, state: 's' });
    const response = await fetch(`${sandbox.authUrl}/v1/oauth/authorize?${query}`, { redirect: 'manual' });
    const location = new URL(response.headers.get('location') ?? '');
    expect(location.searchParams.get('state')).toBe('s');
    expect(location.searchParams.has('code')).toBe(true);
    expect(() => sandbox.setConsent({ mode: 'approve', user: 'nobody' })).toThrow(RangeError);
  });

  test('many sandboxes in one process share nothing', async () => {
    const sandboxes = await Promise.all(Array.from({ length: 8 }, (_, seed) => startSandbox({ seed })));
    const [first, second] = sandboxes;
    const pair = first?.tokens.issue();
    expect(() => second?.tokens.state(pair?.accessToken ?? '')).toThrow(RangeError);
    expect(new Set(sandboxes.map(({ apiUrl }) => apiUrl)).size).toBe(8);
    await Promise.all(sandboxes.map((one) => one.stop()));
  });

  test('options: seed, start of the clock, faults, consent', async () => {
    const options = { seed: 7, clock: { startAt: new Date('2030-01-01T00:00:00Z'), isFrozen: true } };
    await using one = await startSandbox({ ...options, consent: { mode: 'deny' } });
    await using other = await startSandbox({ ...options, faults: [{ match: { path: '*' }, action: 'html_502' }] });
    expect(one.client.secret).toBe(other.client.secret);
    for (const again of [false, true]) {
      if (again) one.reset();
      one.clock.advance(0);
      expect(one.clock.now()).toEqual(options.clock.startAt);
    }
    expect(other.faults.list()).toHaveLength(1);
    await expect(startSandbox({ clock: { startAt: new Date(Number.NaN) } })).rejects.toThrow(TypeError);
    const twice = { ...options, data: { clock: { isFrozen: true } } };
    await expect(startSandbox(twice)).rejects.toThrow(SandboxDataError);
    await expect(startSandbox({ faults: [{ match: {}, action: 'nothing' }] })).rejects.toThrow(TypeError);
  });

  test('an option that does not exist is an error that names the nearest one', async () => {
    const [wrong, inner] = [{ callbackUrl: ['http://127.0.0.1:9/cb'] }, { clock: { startsAt: new Date() } }];
    await expect(startSandbox(wrong as object)).rejects.toThrow(/"callbackUrl".*"callbackUrls"/);
    await expect(startSandbox(inner as object)).rejects.toThrow(/"startsAt".*"startAt"/);
  });

  test('callback URLs are added to those of the data, and tokens are for any application', async () => {
    const applications = [
      { name: 'Mine', callbackUrls: ['http://127.0.0.1:9/a', 'http://127.0.0.1:9/b'] },
      { name: 'Other', clientId: 'other' },
    ];
    const callbackUrls = ['http://127.0.0.1:9/c', 'http://127.0.0.1:9/a'];
    await using sandbox = await startSandbox({ data: { applications }, callbackUrls });
    expect(sandbox.client.callbackUrl).toBe('http://127.0.0.1:9/c');
    expect(sandbox.applications[0]?.callbackUrls).toEqual([...callbackUrls, 'http://127.0.0.1:9/b']);
    const { accessToken } = sandbox.tokens.issue({ clientId: 'other' });
    const headers = { authorization: `Bearer ${accessToken}` };
    const info = await fetch(`${sandbox.authUrl}/v1/oauth/token/info`, { headers });
    expect(await info.json()).toMatchObject({ application: { uid: 'other' } });
    expect(() => sandbox.tokens.issue({ clientId: 'unknown' })).toThrow(RangeError);
  });

  test('data: people, applications and droplets of the caller', async () => {
    const data = {
      people: [{ email: 'me@example.com', password: 'secret' }],
      applications: [{ name: 'Mine', clientId: 'mine', callbackUrls: ['http://127.0.0.1:9/cb'] }, { name: 'Other' }],
      droplets: [{ name: 'web', id: 7 }],
    };
    await using sandbox = await startSandbox({ data });
    expect(sandbox.users).toMatchObject([{ email: 'me@example.com', password: 'secret' }]);
    expect(sandbox.client).toMatchObject({ id: 'mine', callbackUrl: 'http://127.0.0.1:9/cb' });
    expect(sandbox.applications).toMatchObject([{ name: 'Mine', id: 'mine' }, { name: 'Other' }]);
    const { accessToken } = sandbox.tokens.issue();
    const response = await fetch(`${sandbox.apiUrl}/v2/droplets/7`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    expect(await response.json()).toMatchObject({ droplet: { name: 'web' } });
    const wrong = { people: [{ email: 'me@example.com', pasword: 'secret' }] };
    // A caller without types can pass anything.
    await expect(startSandbox({ data: wrong })).rejects.toThrow(/people\[0\].*"pasword"/);
  });
});
