import { describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { useLoginFixture } from './login-fixture.ts';
import { freePorts, isFree } from './ports.ts';

const hosts = ['127.0.0.1', 'localhost', '[::1]'] as const;
const cases = hosts.flatMap((host, at) => (['code', 'implicit'] as const).map((flow) => ({ host, flow, at })));

describe.skipIf(lacks('chromium'))('a callback URL', () => {
  const registered: string[] = [];
  const fixture = useLoginFixture(async () => {
    const ports = await freePorts(hosts.length);
    registered.push(...hosts.map((host, at) => `http://${host}:${ports[at]}/callback`));
    return registered;
  });

  test.each(cases)(
    'may be at $host: the $flow flow ends on that very host, and its port is freed',
    async ({ flow, at }) => {
      const { maya, sandbox, secrets, ...here } = fixture();
      const callback = registered[at] ?? '';
      const machine = here.machine({ env: { ...sandbox.env, CLOUDCTL_CALLBACK_URL: callback } });
      const visitor = await here.visitor();
      const login = await machine.login(['--flow', flow, '-o', 'json']);
      expect(new URL(login.authorizationUrl).searchParams.get('redirect_uri')).toBe(callback);
      expect(await isFree(callback)).toBe(false);
      await visitor.logIn(login.authorizationUrl, maya);
      expect(await visitor.told()).toMatch(/\bare signed\b/);
      const { address, history } = await visitor.trail();
      expect(new URL(address).host).toBe(new URL(callback).host);
      expect(secrets.foundIn(history.join('\n'))).toEqual([]);
      const ran = await login.ended;
      expect([ran.code, ran.json<{ readonly flow: string }>().flow]).toEqual([0, flow]);
      expect((await machine.run(['actions', 'list', '-o', 'json'])).code).toBe(0);
      expect(await isFree(callback)).toBe(true);
    },
  );

  test('at localhost is served on both loopback addresses', async () => {
    const { maya, sandbox, ...here } = fixture();
    const callback = registered[1] ?? '';
    const { port } = new URL(callback);
    const machine = here.machine({ env: { ...sandbox.env, CLOUDCTL_CALLBACK_URL: callback } });
    const login = await machine.login();
    for (const host of ['127.0.0.1', '[::1]']) expect(await isFree(`http://${host}:${port}/callback`)).toBe(false);
    // The name in the address bar must be the registered one, whichever address it leads to.
    const visitor = await here.visitor();
    await visitor.open(`http://127.0.0.1:${port}/callback?code=a&state=b`);
    expect(await visitor.text()).toMatch(/\bhost name\b/);
    await visitor.logIn(login.authorizationUrl, maya);
    await visitor.told();
    expect((await login.ended).code).toBe(0);
  });
});
