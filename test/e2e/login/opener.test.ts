import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openerScript } from '../../fixtures/browser.ts';
import { lacks } from '../../fixtures/needs.ts';
import { useLoginFixture } from './login-fixture.ts';
import { authorizationLine } from './machine.ts';

describe.skipIf(lacks('chromium', 'tmux'))('the browser that the program opens', () => {
  const fixture = useLoginFixture();

  test.each(['code', 'implicit'])(
    'is given a one-time address without secrets, which leads to the sign-in page and logs in (%s flow)',
    async (flow) => {
      const { maya, sandbox, ...here } = fixture();
      const machine = here.machine();
      const opener = openerScript(machine.folders);
      const visitor = await here.visitor();
      const terminal = await machine.terminal(['auth', 'login', '--flow', flow], { env: { BROWSER: opener.path } });
      const start = await opener.url();
      const { origin } = new URL(sandbox.callback_url);
      expect(start).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/start\/[\w-]{43}$/);
      expect(start.startsWith(origin)).toBe(true);
      const screen = await terminal.waitFor(/^Waiting\b/m);
      const state = new URL(authorizationLine.exec(screen)?.[0] ?? '').searchParams.get('state') ?? '';
      expect(state).not.toBe('');
      expect(start).not.toContain(state);

      await visitor.logIn(start, maya);
      expect(await visitor.told()).toMatch(/\bare signed\b/);
      expect(await terminal.ended()).toBe(0);
      expect(await terminal.screen()).toContain('Logged in');
      // The whole of what it was given: one argument, once.
      expect(opener.opened()).toEqual([start]);
    },
  );

  test('may follow that address once; the second time ends the login', async () => {
    const here = fixture();
    const machine = here.machine();
    const opener = openerScript(machine.folders);
    const visitor = await here.visitor();
    const terminal = await machine.terminal(['auth', 'login'], { env: { BROWSER: opener.path } });
    const start = await opener.url();
    await visitor.open(start);
    await visitor.open(start);
    expect(await visitor.text()).toMatch(/\bonly once\b/);
    expect(await terminal.ended()).toBe(4);
  });

  test('may be missing: the address is printed and the login waits', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const terminal = await machine.terminal(['auth', 'login'], { env: { BROWSER: '/nowhere/browser' } });
    const [address] = authorizationLine.exec(await terminal.waitFor(authorizationLine)) ?? [''];
    expect(await terminal.screen()).toMatch(/^https?:\/\/\S+\/v1\/oauth\/authorize/m);
    await visitor.logIn(address, maya);
    await visitor.told();
    expect(await terminal.ended()).toBe(0);
  });

  test.each([
    ['under CI', { CI: 'true' }],
    ['with BROWSER=none', { BROWSER: 'none' }],
  ])('is none %s', async (_, env) => {
    const machine = fixture().machine();
    const opener = openerScript(machine.folders);
    const terminal = await machine.terminal(['auth', 'login'], { env: { BROWSER: opener.path, ...env } });
    await terminal.waitFor(/^https?:\/\/\S+\/v1\/oauth\/authorize/m);
    await sleep(300);
    expect(opener.opened()).toEqual([]);
    await terminal.press('C-c');
    expect(await terminal.ended()).toBe(130);
  });

  test('is none without a terminal', async () => {
    const machine = fixture().machine();
    const opener = openerScript(machine.folders);
    const login = await machine.login([], { env: { BROWSER: opener.path } });
    await sleep(300);
    expect(opener.opened()).toEqual([]);
    login.kill('SIGINT');
    expect((await login.ended).code).toBe(130);
  });
});
