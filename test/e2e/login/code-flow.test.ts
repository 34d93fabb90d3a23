import { describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { useLoginFixture } from './login-fixture.ts';
import { errorOf } from './machine.ts';

describe.skipIf(lacks('chromium'))('the code flow', () => {
  const fixture = useLoginFixture();

  test('leads through sign-in and consent to a page and a terminal that say as whom', async () => {
    const { maya, sandbox, folders, ...here } = fixture();
    // The newcomer's way: the profile that the sandbox wrote, and no variable.
    const machine = here.machine({ folders, env: {} });
    const visitor = await here.visitor();
    const login = await machine.login(['--profile', 'sandbox']);

    await visitor.open(login.authorizationUrl);
    expect(await visitor.page.title()).toMatch(/^Sign in/);
    expect(await visitor.text()).toContain('Sandbox CLI');
    await visitor.signIn(maya);
    expect(await visitor.text()).toContain('Authorize Sandbox CLI?');
    expect(await visitor.text()).toMatch(/\bRead: \S/);
    // The sandbox writes this scope into its profile.
    expect(await visitor.text()).toContain('Write:');
    await visitor.authorize();
    const told = await visitor.told();
    expect(told).toContain('Maya Lindqvist');
    expect(told).toContain('maya@example.com');

    const { code, stdout, stderr } = await login.ended;
    expect(code).toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain('Maya Lindqvist <maya@example.com>');
    expect(stderr).toMatch(/^Scope read write, for 30 d \(\d+ [A-Z][a-z]{2}( \d{4})?\)/m);
    expect(stderr).toContain(folders.state);

    const status = await machine.run(['--profile', 'sandbox', 'auth', 'status', '-o', 'json']);
    expect(status.code).toBe(0);
    expect(status.json()).toMatchObject({ profile: 'sandbox', sandbox: true, state: 'valid', email: maya.email });
    expect((await machine.run(['--profile', 'sandbox', 'actions', 'list', '-o', 'json'])).code).toBe(0);
  });

  test('leaves no code, state or token in the address, the history or the referrer of the tab', async () => {
    const { maya, sandbox, secrets, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login();
    const state = new URL(login.authorizationUrl).searchParams.get('state') ?? '';
    await visitor.logIn(login.authorizationUrl, maya);
    await visitor.told();
    await login.ended;
    await machine.accessToken();

    const callback = visitor.redirects.find((address) => address.startsWith(sandbox.callback_url));
    expect(callback).toContain(`state=${state}`);
    const { origin } = new URL(sandbox.callback_url);
    const { address, history } = await visitor.trail();
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/done\/[\w-]{43}$/);
    expect(secrets.foundIn(history.join('\n'))).toEqual([]);
    expect(new Set(history.filter((entry) => entry.startsWith(origin)))).toEqual(new Set([address]));
    // The state stands in the authorization server's own pages, which were asked for with it, and nowhere else.
    expect(history.filter((entry) => entry.includes(state) && !entry.startsWith(sandbox.auth_url))).toEqual([]);
    expect(await visitor.page.evaluate('document.referrer')).toBe('');
    expect(await visitor.page.evaluate('performance.getEntries().map(({ name }) => name).join()')).not.toContain(state);
    expect(await visitor.page.evaluate('navigation.entries().map(({ url }) => url)')).toEqual([address]);
  });

  test('without a team: login and status have exactly the documented fields', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['-o', 'json']);
    await visitor.logIn(login.authorizationUrl, maya);
    const shape = {
      profile: 'default',
      name: 'Maya Lindqvist',
      email: maya.email,
      uuid: maya.uuid,
      scope: 'read',
      scope_verified: true,
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      flow: 'code',
      store: 'file',
    };
    const loggedIn = (await login.ended).json<{ readonly expires_at: string }>();
    expect(loggedIn).toEqual(shape);
    const status = await machine.run(['auth', 'status', '-o', 'json']);
    expect(status.json()).toEqual({
      ...shape,
      expires_at: loggedIn.expires_at,
      state: 'valid',
      auth_url: expect.stringMatching(/^http:/),
      base_url: expect.stringMatching(/^http:/),
      pending_write: false,
      expires_in: expect.any(Number),
      store_place: expect.stringContaining(machine.folders.state),
      sandbox: false,
    });
    const { expires_in } = status.json<{ readonly expires_in: number }>();
    expect(expires_in).toBeGreaterThan(30 * 86_400 - 60);
    expect(expires_in).toBeLessThanOrEqual(30 * 86_400);
  });

  test('with a team: it is named on the page, in the terminal, by login and by status', async () => {
    const { tomas, team, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['-o', 'json']);
    await visitor.logIn(login.authorizationUrl, tomas, team.name);
    expect(await visitor.told()).toContain(`Team ${team.name}`);
    const named = { uuid: tomas.uuid, team_name: team.name, team_uuid: team.uuid };
    const ran = await login.ended;
    expect(ran.json()).toMatchObject(named);
    expect(ran.stderr).toContain(`Tomás Okafor <${tomas.email}>, team ${team.name}`);
    expect((await machine.run(['auth', 'status', '-o', 'json'])).json()).toMatchObject(named);
  });

  test('a member of a team may stay outside of it: no field tells of the team', async () => {
    const { tomas, team, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['-o', 'json']);
    await visitor.logIn(login.authorizationUrl, tomas);
    expect(await visitor.told()).not.toContain(team.name);
    expect(Object.keys((await login.ended).json<object>()).filter((name) => name.startsWith('team'))).toEqual([]);
  });

  test('with scope read, droplets create is exit 4 and says which scope to ask for', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login();
    await visitor.logIn(login.authorizationUrl, maya);
    await login.ended;
    const words = [
      'droplets',
      'create',
      'never-1',
      '--size',
      's-1vcpu-1gb',
      '--image',
      'debian-12-x64',
      '--region',
      'ams3',
    ];
    const plain = await machine.run(words);
    expect(plain.code).toBe(4);
    expect(plain.stderr).toMatch(/hint: .*--scope "read write"/);
    const json = await machine.run([...words, '-o', 'json']);
    expect(json.code).toBe(4);
    expect(errorOf(json)).toMatchObject({ code: 'scope_too_small', exit_code: 4 });
    expect(errorOf(json).hint).toContain('--scope "read write"');
    expect(json.json()).toMatchObject([{ name: 'never-1', status: 'failed' }]);
    const tries = await here.requests('POST /v2/droplets');
    expect(tries.filter(({ status }) => status !== 403)).toEqual([]);
  });

  test('with scope read write, droplets are created', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['--scope', 'read write', '-o', 'json']);
    expect(new URL(login.authorizationUrl).searchParams.get('scope')).toBe('read write');
    await visitor.open(login.authorizationUrl);
    await visitor.signIn(maya);
    expect(await visitor.text()).toMatch(/\bWrite: \S/);
    await visitor.authorize();
    expect((await login.ended).json()).toMatchObject({ scope: 'read write', scope_verified: true });
    const words = [
      'droplets',
      'create',
      'web-1',
      '--size',
      's-1vcpu-1gb',
      '--image',
      'debian-12-x64',
      '--region',
      'ams3',
    ];
    const created = await machine.run([...words, '-o', 'json']);
    expect(created.code).toBe(0);
    expect(created.json()).toMatchObject([{ name: 'web-1', status: 'created' }]);
  });

  test('the default scope is left out of the authorization URL, the state and the challenge are in it', async () => {
    const machine = fixture().machine();
    const first = new URL((await machine.login()).authorizationUrl).searchParams;
    expect([...first.keys()]).toEqual([
      'response_type',
      'client_id',
      'redirect_uri',
      'state',
      'code_challenge',
      'code_challenge_method',
    ]);
    expect(first.get('redirect_uri')).toBe(fixture().sandbox.callback_url);
    expect(first.get('state')).toMatch(/^[\w-]{43}$/);
    expect(first.get('code_challenge_method')).toBe('S256');
  });

  test('a wrong password is told on the sign-in page and the login goes on waiting', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login();
    await visitor.open(login.authorizationUrl);
    await visitor.signIn({ ...maya, password: 'not it' });
    expect(await visitor.page.locator('#problem').isVisible()).toBe(true);
    await visitor.signIn(maya);
    await visitor.authorize();
    expect(await visitor.told()).toContain('Maya Lindqvist');
    expect((await login.ended).code).toBe(0);
  });
});
