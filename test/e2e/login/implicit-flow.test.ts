import { describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { useLoginFixture } from './login-fixture.ts';
import { errorOf } from './machine.ts';

describe.skipIf(lacks('chromium'))('the implicit flow', () => {
  const fixture = useLoginFixture();

  test('logs in through a page of the helper, and says that scope and account are not told', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['--flow', 'implicit']);
    expect([...new URL(login.authorizationUrl).searchParams.keys()]).toEqual([
      'response_type',
      'client_id',
      'redirect_uri',
      'state',
    ]);
    await visitor.logIn(login.authorizationUrl, maya);
    expect(await visitor.told()).toMatch(/\bare signed\b/);
    const { code, stdout, stderr } = await login.ended;
    expect(code).toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^warning: .*\bimplicit\b/m);
    expect(stderr).toMatch(/^Scope read \(not verified\b.*, for 30 d \(\d+ [A-Z][a-z]{2}( \d{4})?\)/m);
    expect(stderr).toContain(machine.folders.state);
    const refreshed = await machine.run(['auth', 'refresh', '-o', 'json']);
    expect(errorOf(refreshed)).toMatchObject({ code: 'needs_login', exit_code: 4 });
    expect((await machine.run(['actions', 'list', '-o', 'json'])).code).toBe(0);
    expect(await here.requests('POST /v1/oauth/token')).toEqual([]);
  });

  test('leaves no token and no state in the address, the history or the referrer of the tab', async () => {
    const { maya, sandbox, secrets, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['--flow', 'implicit']);
    const state = new URL(login.authorizationUrl).searchParams.get('state') ?? '';
    await visitor.logIn(login.authorizationUrl, maya);
    await visitor.told();
    await login.ended;
    const token = await machine.accessToken();

    const callback = visitor.redirects.find((address) => address.startsWith(sandbox.callback_url)) ?? '';
    expect(callback).toContain(`#access_token=${token}&`);
    expect(new URL(callback).search).toBe('');
    const { address, history } = await visitor.trail();
    expect(address).toMatch(/\/done\/[\w-]{43}$/);
    expect(secrets.foundIn(history.join('\n'))).toEqual([]);
    expect(history.filter((entry) => entry.includes(state) && !entry.startsWith(sandbox.auth_url))).toEqual([]);
    expect(history.filter((entry) => entry.startsWith(sandbox.callback_url) && entry !== sandbox.callback_url)).toEqual(
      [],
    );
    expect(await visitor.page.evaluate('document.referrer')).not.toMatch(/access_token|state=/);
    expect(await visitor.page.evaluate('navigation.entries().map(({ url }) => url)')).toEqual([address]);
  });

  test('login and status have exactly the documented fields: no name, no email, scope_verified false', async () => {
    const { tomas, team, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['--flow', 'implicit', '--scope', 'read write', '-o', 'json']);
    await visitor.logIn(login.authorizationUrl, tomas, team.name);
    const shape = {
      profile: 'default',
      scope: 'read write',
      scope_verified: false,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      flow: 'implicit',
      store: 'file',
    };
    expect((await login.ended).json()).toEqual(shape);
    expect((await machine.run(['auth', 'status', '-o', 'json'])).json()).toEqual({
      ...shape,
      state: 'valid',
      auth_url: expect.stringMatching(/^http:/),
      base_url: expect.stringMatching(/^http:/),
      pending_write: false,
      expires_in: expect.any(Number),
      store_place: expect.stringContaining(machine.folders.state),
      sandbox: false,
    });
    const words = ['--size', 's-1vcpu-1gb', '--image', 'debian-12-x64', '--region', 'ams3', '-o', 'json'];
    const created = await machine.run(['droplets', 'create', 'web-1', ...words]);
    expect(created.json()).toMatchObject([{ name: 'web-1', status: 'created' }]);
  });

  test('gives no refresh token: after 30 days the next command is exit 4 needs_login', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['--flow', 'implicit']);
    await visitor.logIn(login.authorizationUrl, maya);
    await login.ended;
    expect((await machine.run(['droplets', 'list', '-o', 'json'])).code).toBe(0);
    const clock = await machine.run(['sandbox', 'clock', '+30d']);
    expect(clock.code).toBe(0);
    const next = await machine.run(['droplets', 'list', '-o', 'json']);
    expect(next.code).toBe(4);
    expect(next.stdout).toBe('');
    expect(errorOf(next)).toMatchObject({ code: 'needs_login', exit_code: 4 });
    expect(errorOf(next).hint).toContain('cloudctl auth login');
    expect(await here.requests('POST /v1/oauth/token')).toEqual([]);
  });

  test('a prompt is no part of this flow: exit 2 before any page', async () => {
    const machine = fixture().machine();
    const { code, stdout, stderr } = await machine.run(['auth', 'login', '--flow', 'implicit', '--prompt', 'none']);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).not.toContain('/v1/oauth/authorize');
  });

  test('the code flow, by contrast, renews itself after 30 days', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login();
    await visitor.logIn(login.authorizationUrl, maya);
    await login.ended;
    await machine.run(['sandbox', 'clock', '+30d']);
    const next = await machine.run(['droplets', 'list', '-o', 'json']);
    expect({ code: next.code, stderr: next.stderr }).toEqual({ code: 0, stderr: '' });
    const grants = (await here.requests('POST /v1/oauth/token')).map(({ grant_type, status }) => [grant_type, status]);
    expect(grants).toEqual([
      ['authorization_code', 200],
      ['refresh_token', 200],
    ]);
  });
});
