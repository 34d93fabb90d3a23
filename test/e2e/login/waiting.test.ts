import { get } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { useLoginFixture } from './login-fixture.ts';
import { errorOf } from './machine.ts';
import { freePorts, isFree, portOf } from './ports.ts';

describe.skipIf(lacks('chromium'))('a login that waits', () => {
  const registered: string[] = [];
  const fixture = useLoginFixture(async () => {
    registered.push(...(await freePorts(2)).map((port) => `http://127.0.0.1:${port}/callback`));
    return registered;
  });

  test('ends on time: exit 4 login_timeout, and the port is free', async () => {
    const { sandbox, ...here } = fixture();
    const machine = here.machine();
    const started = performance.now();
    const login = await machine.login(['--login-timeout', '1s', '-o', 'json']);
    expect(await isFree(sandbox.callback_url)).toBe(false);
    const ran = await login.ended;
    expect(performance.now() - started).toBeLessThan(5000);
    expect(ran.code).toBe(4);
    expect(ran.stdout).toBe('');
    expect(errorOf(ran)).toMatchObject({ code: 'login_timeout', exit_code: 4 });
    expect(errorOf(ran).hint).toContain('--login-timeout');
    expect(await isFree(sandbox.callback_url)).toBe(true);
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends by %s with exit %i, and the port is free', async (signal, code) => {
    const { sandbox, ...here } = fixture();
    const machine = here.machine();
    const login = await machine.login();
    expect(await isFree(sandbox.callback_url)).toBe(false);
    login.kill(signal);
    const ran = await login.ended;
    expect({ code: ran.code, signal: ran.signal }).toEqual({ code, signal: null });
    expect(ran.stdout).toBe('');
    expect(await isFree(sandbox.callback_url)).toBe(true);
    expect(machine.keepsSession()).toBe(false);
  });

  test('on a port that is in use does not begin: exit 1 port_in_use naming it, and no address is printed', async () => {
    const { sandbox, ...here } = fixture();
    await occupy(sandbox.callback_url);
    const ran = await here.machine().run(['auth', 'login', '-o', 'json']);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toBe('');
    expect(errorOf(ran)).toMatchObject({ code: 'port_in_use', exit_code: 1 });
    expect(errorOf(ran).message).toContain(String(portOf(sandbox.callback_url)));
    expect(errorOf(ran).hint).toContain('--callback-url');
    expect(ran.stderr).not.toMatch(/\/v1\/oauth\/authorize|state=/);
  });

  test('takes the second callback URL when the port of the first is in use', async () => {
    const { sandbox, maya, ...here } = fixture();
    const [first = '', second = ''] = registered;
    await occupy(first);
    const machine = here.machine({ env: { ...sandbox.env, CLOUDCTL_CALLBACK_URL: registered.join(',') } });
    const visitor = await here.visitor();
    const login = await machine.login();
    expect(new URL(login.authorizationUrl).searchParams.get('redirect_uri')).toBe(second);
    await visitor.logIn(login.authorizationUrl, maya);
    expect(await visitor.told()).toContain('Maya Lindqvist');
    expect(visitor.page.url().startsWith(new URL(second).origin)).toBe(true);
    expect((await login.ended).code).toBe(0);
  });

  test('is not disturbed by a second one of its profile: that is exit 1 busy at once, the first completes', async () => {
    const { maya, ...here } = fixture();
    const machine = here.machine();
    const visitor = await here.visitor();
    const first = await machine.login();
    await visitor.open(first.authorizationUrl);
    const second = await machine.run(['auth', 'login', '-o', 'json'], { limit: 5000 });
    expect(second.code).toBe(1);
    expect(second.stdout).toBe('');
    expect(errorOf(second)).toMatchObject({ code: 'busy', exit_code: 1 });
    expect(second.stderr).not.toMatch(/\/v1\/oauth\/authorize|state=/);
    await visitor.signIn(maya);
    await visitor.authorize();
    await visitor.told();
    expect((await first.ended).code).toBe(0);
  });

  test('exchanges once, however often its answer arrives at the same time', async () => {
    const { maya, ...here } = fixture();
    await here.forgetRequests();
    const machine = here.machine();
    const visitor = await here.visitor();
    const login = await machine.login();
    await visitor.open(login.authorizationUrl);
    await visitor.signIn(maya);
    const callback = await visitor.authorizeWithoutFollowing();
    const answers = await Promise.all(Array.from({ length: 20 }, () => getOnce(callback)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 303)).toHaveLength(1);
    expect(statuses.filter((status) => status === 410)).toHaveLength(19);
    const [first] = answers.filter(({ status }) => status === 303);
    expect((await getOnce(new URL(first?.location ?? '', callback).href)).status).toBe(200);
    const ran = await login.ended;
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('Maya Lindqvist');
    expect(await here.requests('POST /v1/oauth/token')).toHaveLength(1);
  });
});

/** Takes the port of a callback URL until the test ends. */
async function occupy(callbackUrl: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(portOf(callbackUrl), '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
}

/** A plain GET, without the Sec-Fetch headers that fetch would add. */
function getOnce(address: string): Promise<{ readonly status: number; readonly location: string | undefined }> {
  return new Promise((resolve, reject) => {
    get(address, { agent: false }, (response) => {
      const { statusCode = 0, headers } = response;
      response.resume().once('end', () => resolve({ status: statusCode, location: headers.location }));
    }).once('error', reject);
  });
}
