import { describe, expect, test } from 'vitest';
import { openerScript } from '../../fixtures/browser.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type LoginFixture, useLoginFixture } from './login-fixture.ts';
import { authorizationLine, errorOf, type PendingLogin } from './machine.ts';
import type { Visitor } from './visitor.ts';

describe.skipIf(lacks('chromium'))('a login by paste', () => {
  const fixture = useLoginFixture();

  test('listens nowhere: the browser ends on an address that does not open, and that whole address logs in', async () => {
    const { maya, sandbox } = fixture();
    const { machine, visitor, login } = await begin(fixture(), ['--paste', '-o', 'json']);
    await visitor.logIn(login.authorizationUrl, maya);
    const address = await addressBar(visitor, sandbox.callback_url);
    expect(new URL(address).searchParams.has('code')).toBe(true);
    login.write(`${address}\n`);
    const ran = await login.ended;
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ email: maya.email, flow: 'code' });
    expect((await machine.run(['actions', 'list', '-o', 'json'])).code).toBe(0);
  });

  test('takes the address with its fragment in the implicit flow', async () => {
    const { maya, sandbox } = fixture();
    const { machine, visitor, login } = await begin(fixture(), ['--paste', '--flow', 'implicit', '-o', 'json']);
    await visitor.logIn(login.authorizationUrl, maya);
    const address = await addressBar(visitor, sandbox.callback_url);
    expect(address).toContain('#access_token=');
    login.write(`${address}\n`);
    expect((await login.ended).json()).toMatchObject({ flow: 'implicit', scope_verified: false });
    expect((await machine.run(['actions', 'list', '-o', 'json'])).code).toBe(0);
  });

  test('takes CODE STATE', async () => {
    const { maya } = fixture();
    const { visitor, login } = await begin(fixture(), ['--paste']);
    const { code, state } = await answer(visitor, login, maya);
    login.write(`${code} ${state}\n`);
    const ran = await login.ended;
    expect(ran.code).toBe(0);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toContain('Maya Lindqvist');
  });

  test('refuses a code alone with a hint and goes on waiting for the whole address', async () => {
    const { maya, ...here } = fixture();
    const { visitor, login } = await begin(fixture(), ['--paste']);
    await here.forgetRequests();
    const { callback, code } = await answer(visitor, login, maya);
    login.write(`${code}\n`);
    await login.waitFor('stderr', /^warning: .*\bstate\b/m);
    login.write('what do you mean?\n');
    await login.waitFor('stderr', /^warning: .*"\?"/m);
    expect(await here.requests('POST /v1/oauth/token')).toEqual([]);
    login.write(`${callback}\n`);
    expect((await login.ended).code).toBe(0);
    expect(await here.requests('POST /v1/oauth/token')).toHaveLength(1);
  });

  test('with a foreign state is refused without an exchange, and the login goes on', async () => {
    const { maya, ...here } = fixture();
    const { machine, visitor, login } = await begin(fixture(), ['--paste', '-o', 'json']);
    await here.forgetRequests();
    const { callback, code } = await answer(visitor, login, maya);
    login.write(`${code} ${'a'.repeat(43)}\n`);
    await login.waitFor('stderr', /another login/);
    expect(await here.requests('POST /v1/oauth/token')).toEqual([]);
    expect(machine.keepsSession()).toBe(false);
    login.write(`${callback}\n`);
    expect((await login.ended).code).toBe(0);
    expect(await here.requests('POST /v1/oauth/token')).toHaveLength(1);
  });

  test('an answer that was refused can be pasted as well: exit 4 access_denied', async () => {
    const { maya, sandbox } = fixture();
    const { visitor, login } = await begin(fixture(), ['--paste', '-o', 'json']);
    await visitor.open(login.authorizationUrl);
    await visitor.signIn(maya);
    await visitor.deny();
    login.write(`${await addressBar(visitor, sandbox.callback_url)}\n`);
    const ran = await login.ended;
    expect([ran.code, errorOf(ran).code]).toEqual([4, 'access_denied']);
  });

  test('is exit 2 when the input ends without an address', async () => {
    const ran = await fixture().machine().run(['auth', 'login', '--paste', '-o', 'json']);
    expect([ran.code, errorOf(ran).code]).toEqual([2, 'usage']);
  });

  describe.skipIf(lacks('tmux'))('in a terminal', () => {
    test('is possible while the listener waits, and the first of both wins', async () => {
      const { maya, ...here } = fixture();
      const machine = here.machine();
      const visitor = await here.visitor();
      const terminal = await machine.terminal(['auth', 'login', '--no-browser']);
      const [address] = authorizationLine.exec(await terminal.waitFor(authorizationLine)) ?? [''];
      await terminal.waitFor(/\bpaste\b/);
      await visitor.open(address);
      await visitor.signIn(maya);
      const callback = await visitor.authorizeWithoutFollowing();
      await terminal.type(new URL(callback).searchParams.get('code') ?? '');
      await terminal.press('Enter');
      await terminal.waitFor(/warning: .*\bstate\b/);
      await terminal.type(callback);
      await terminal.press('Enter');
      expect(await terminal.ended()).toBe(0);
      expect(await terminal.screen()).toContain('Maya Lindqvist');
      await expect(visitor.open(callback)).rejects.toThrow('ERR_CONNECTION_REFUSED');
    });

    test('--no-browser prints the address and opens nothing', async () => {
      const { maya, ...here } = fixture();
      const machine = here.machine();
      const opener = openerScript(machine.folders);
      const visitor = await here.visitor();
      const env = { BROWSER: opener.path };
      const terminal = await machine.terminal(['auth', 'login', '--no-browser'], { env });
      const [address] = authorizationLine.exec(await terminal.waitFor(authorizationLine)) ?? [''];
      await visitor.logIn(address, maya);
      expect(await visitor.told()).toContain('Maya Lindqvist');
      expect(await terminal.ended()).toBe(0);
      expect(opener.opened()).toEqual([]);
    });
  });
});

async function begin(fixture: LoginFixture, words: readonly string[]) {
  const machine = fixture.machine();
  const visitor = await fixture.visitor();
  return { machine, visitor, login: await machine.login(words) };
}

/** What the address bar shows once the browser has failed to open the callback URL. */
async function addressBar(visitor: Visitor, callbackUrl: string): Promise<string> {
  await expect.poll(async () => (await visitor.trail()).address, { timeout: 10_000 }).toContain(callbackUrl);
  return (await visitor.trail()).address;
}

async function answer(visitor: Visitor, login: PendingLogin, person: LoginFixture['maya']) {
  await visitor.open(login.authorizationUrl);
  await visitor.signIn(person);
  const callback = await visitor.authorizeWithoutFollowing();
  const { searchParams } = new URL(callback);
  return { callback, code: searchParams.get('code') ?? '', state: searchParams.get('state') ?? '' };
}
