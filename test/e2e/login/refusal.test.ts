import { describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { type LoginFixture, useLoginFixture } from './login-fixture.ts';
import { errorOf, type Machine, type PendingLogin } from './machine.ts';
import type { Visitor } from './visitor.ts';

const flows = [['code'], ['implicit']] as const;

describe.skipIf(lacks('chromium'))('a login that is refused', () => {
  const fixture = useLoginFixture();

  test.each(flows)(
    'denied consent, %s flow: exit 4 access_denied, the page says so, nothing is stored',
    async (flow) => {
      const { maya } = fixture();
      const { machine, visitor, login } = await begin(fixture(), flow);
      await visitor.open(login.authorizationUrl);
      await visitor.signIn(maya);
      await visitor.deny();
      expect(await visitor.told()).toMatch(/\bdenied\b/);
      const ran = await login.ended;
      expect(ran.code).toBe(4);
      expect(ran.stdout).toBe('');
      expect(errorOf(ran)).toMatchObject({ code: 'access_denied', exit_code: 4 });
      expect(errorOf(ran).hint).toContain('cloudctl auth login');
      await nothingHappened(fixture(), machine);
    },
  );

  test.each(flows)(
    'a foreign state, %s flow: exit 4 state_mismatch, no token request, the page says so',
    async (flow) => {
      const { maya } = fixture();
      const { machine, visitor, login } = await begin(fixture(), flow);
      await visitor.logIn(
        edited(login, (query) => query.set('state', 'a'.repeat(43))),
        maya,
      );
      await refusedForItsState(visitor, login);
      await nothingHappened(fixture(), machine);
    },
  );

  test.each(flows)(
    'a missing state, %s flow: exit 4 state_mismatch, no token request, the page says so',
    async (flow) => {
      const { maya } = fixture();
      const { machine, visitor, login } = await begin(fixture(), flow);
      await visitor.logIn(
        edited(login, (query) => query.delete('state')),
        maya,
      );
      await refusedForItsState(visitor, login);
      await nothingHappened(fixture(), machine);
    },
  );

  test('an error with a foreign state is judged by its state, and its text is not shown', async () => {
    const { machine, visitor, login } = await begin(fixture(), 'code');
    const { sandbox } = fixture();
    const text = 'Call 555 0100 now';
    await visitor.open(
      `${sandbox.callback_url}?${new URLSearchParams({ error: text, error_description: text, state: 'x' })}`,
    );
    expect(await visitor.told()).toMatch(/\banother login\b/);
    expect(await visitor.text()).not.toContain('555');
    const ran = await login.ended;
    expect(errorOf(ran).code).toBe('state_mismatch');
    expect(ran.stderr).not.toContain('555');
    await nothingHappened(fixture(), machine);
  });

  test('an authorization server that shows an error page is no end: the login waits', async () => {
    const { maya, sandbox } = fixture();
    const { visitor, login } = await begin(fixture(), 'code');
    await visitor.open(edited(login, (query) => query.set('redirect_uri', `${sandbox.callback_url}/other`)));
    expect(await visitor.text()).toMatch(/redirect uri .*not valid/);
    await visitor.open(edited(login, (query) => query.set('scope', 'write')));
    expect(await visitor.text()).toMatch(/requested scope .*malformed/);
    await visitor.logIn(login.authorizationUrl, maya);
    await visitor.told();
    expect((await login.ended).code).toBe(0);
  });

  test('a wrong client secret: exit 4 invalid_client, nothing stored, the page does not say signed in', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['-o', 'json'], { env: { CLOUDCTL_CLIENT_SECRET: 'x'.repeat(48) } });
    await visitor.logIn(login.authorizationUrl, maya);
    expect(await visitor.told()).toMatch(/\bnot signed\b/);
    const ran = await login.ended;
    expect(ran.code).toBe(4);
    expect(errorOf(ran)).toMatchObject({ code: 'invalid_client', exit_code: 4, status: 401 });
    expect(errorOf(ran).hint).toContain('cloudctl auth setup');
    expect(machine.keepsSession()).toBe(false);
  });

  test('a code that expired on the way: exit 4 invalid_grant with the way to a new one', async () => {
    const { maya, sandbox, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login(['-o', 'json']);
    await visitor.open(login.authorizationUrl);
    await visitor.signIn(maya);
    const callback = await visitor.authorizeWithoutFollowing();
    await sandbox.admin('POST', '/_sandbox/clock', { advance: '10m' });
    await visitor.open(callback);
    expect(await visitor.told()).toMatch(/\bnot signed\b/);
    const ran = await login.ended;
    expect(ran.code).toBe(4);
    expect(errorOf(ran)).toMatchObject({ code: 'invalid_grant', exit_code: 4 });
    expect(errorOf(ran).hint).toContain('cloudctl auth login');
    expect(machine.keepsSession()).toBe(false);
  });
});

interface Begun {
  readonly machine: Machine;
  readonly visitor: Visitor;
  readonly login: PendingLogin;
}

async function begin(fixture: LoginFixture, flow: 'code' | 'implicit'): Promise<Begun> {
  await fixture.forgetRequests();
  const machine = fixture.machine();
  const visitor = await fixture.visitor();
  return { machine, visitor, login: await machine.login(['--flow', flow, '-o', 'json']) };
}

function edited(login: PendingLogin, edit: (query: URLSearchParams) => void): string {
  const url = new URL(login.authorizationUrl);
  edit(url.searchParams);
  return url.href;
}

async function refusedForItsState(visitor: Visitor, login: PendingLogin): Promise<void> {
  const told = await visitor.told();
  expect(told).toMatch(/\banother login\b/);
  expect(told).toMatch(/\bnot signed\b/);
  const ran = await login.ended;
  expect(ran.code).toBe(4);
  expect(ran.stdout).toBe('');
  expect(errorOf(ran)).toMatchObject({ code: 'state_mismatch', exit_code: 4 });
}

/** No exchange was tried, and nobody is logged in. */
async function nothingHappened(fixture: LoginFixture, machine: Machine): Promise<void> {
  expect(await fixture.requests('POST /v1/oauth/token')).toEqual([]);
  expect(machine.keepsSession()).toBe(false);
  const status = await machine.run(['auth', 'status', '-o', 'json']);
  expect(status.code).toBe(4);
  expect(errorOf(status).code).toBe('not_logged_in');
}
