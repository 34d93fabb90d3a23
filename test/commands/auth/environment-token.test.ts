import { describe, expect, it } from 'vitest';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { type Seeded, seedSession } from '../../fixtures/session.ts';
import { callApi, MAYA, sandboxFor, TOMAS, tokenFor } from '../../sandbox/requests.ts';
import { createSandboxHost, runCloudctl, runLogin, stableText, startCloudctl } from '../run-cloudctl.ts';

const variable = 'CLOUDCTL_ACCESS_TOKEN';
/** The line that ends each command which changes a session. */
const warning = /^warning: CLOUDCTL_ACCESS_TOKEN is set: /m;

interface Machine {
  readonly sandbox: SandboxServers;
  readonly host: TestHost;
  /** The session of the profile `work`, whose user is Tomás. */
  readonly work: Seeded;
  /** The access token of Maya in the variable. */
  readonly token: string;
}

async function machine(scope = 'read write'): Promise<Machine> {
  const sandbox = await sandboxFor();
  const { access_token: token } = await tokenFor(sandbox, { user: MAYA, scope });
  const host = testHost({ env: { [variable]: token } });
  const work = await seedSession(host, sandbox, { profile: 'work', context: 'personal' });
  host.writeConfig({ ...host.readConfig().raw, current: 'work' });
  return { sandbox, host, work, token };
}

const isValid = async (sandbox: SandboxServers, token: string): Promise<boolean> =>
  (await callApi(sandbox, token, 'GET', '/v2/actions')).status === 200;

describe('with CLOUDCTL_ACCESS_TOKEN, the session of the profile is changed, and a warning names the variable', () => {
  it('by auth login', async () => {
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox, { user: TOMAS });
    const env = { [variable]: token, CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret };
    const host = await createSandboxHost(sandbox, { env });
    const ran = await runLogin(host);
    expect(ran.code).toBe(0);
    expect(ran.err.trimEnd().split('\n').at(-1)).toMatch(warning);
    expect(await isValid(sandbox, token)).toBe(true);
    const own = await runCloudctl(host, ['auth', 'token', '--profile', 'default']);
    expect(own.out.trim()).not.toBe(token);
    expect((await runCloudctl(host, ['auth', 'token'])).out.trim()).toBe(token);
  });

  it('by auth login --with-token', async () => {
    const { sandbox, host, token } = await machine();
    const { access_token: given } = await tokenFor(sandbox, { user: TOMAS });
    const ran = await runCloudctl(host, ['auth', 'login', '--with-token'], { stdin: given });
    expect(ran.code).toBe(0);
    expect(ran.err.trimEnd().split('\n').at(-1)).toMatch(warning);
    expect((await runCloudctl(host, ['auth', 'token', '--profile', 'work'])).out.trim()).toBe(given);
    expect(await isValid(sandbox, token)).toBe(true);
  });

  it('by auth refresh', async () => {
    const { sandbox, host, work, token } = await machine();
    const ran = await runCloudctl(host, ['auth', 'refresh']);
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(warning);
    expect(work.stored()?.gen).toBe(2);
    expect(await isValid(sandbox, token)).toBe(true);
  });

  it.each([[['logout']], [['logout', '--all']], [['logout', '--local']], [['remove', 'work']]])(
    'by auth %j',
    async (words) => {
      const { sandbox, host, work, token } = await machine();
      const ran = await runCloudctl(host, ['auth', ...words]);
      expect(ran.code).toBe(0);
      expect(ran.err).toMatch(warning);
      expectGolden('auth', stableText(ran));
      expect(work.stored()).toBeUndefined();
      expect(await isValid(sandbox, token)).toBe(true);
      expect((await runCloudctl(host, ['auth', 'token'])).out.trim()).toBe(token);
    },
  );

  it('by auth switch', async () => {
    const { sandbox, host } = await machine();
    await seedSession(host, sandbox, { profile: 'home' });
    const ran = await runCloudctl(host, ['auth', 'switch', 'home']);
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(warning);
    expect(host.readConfig().current).toBe('home');
  });

  it('also if the logout could not be proven', async () => {
    const { host, sandbox } = await machine();
    sandbox.faults.add({ match: { path: '/v1/oauth/revoke' }, action: 'status', status: 503, times: 9 });
    const ran = await runCloudctl(host, ['auth', 'logout']);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toMatch(warning);
  });

  it('but with -o json standard error is empty', async () => {
    const { host } = await machine();
    expect(await runCloudctl(host, ['auth', 'refresh', '-o', 'json'])).toMatchObject({ code: 0, err: '' });
  });

  it('and an invalid variable prevents neither', async () => {
    const { host, work } = await machine();
    const ran = await runCloudctl(host, ['auth', 'logout', '-o', 'table'], { env: { [variable]: 'tökén' } });
    expect(ran.code).toBe(0);
    expect(work.stored()).toBeUndefined();
  });
});

describe('auth switch with CLOUDCTL_PROFILE', () => {
  it('says that the variable still selects another profile', async () => {
    const host = testHost({ env: { CLOUDCTL_PROFILE: 'work' } });
    host.writeConfig({ current: 'work', profiles: { work: {}, home: {} } });
    const ran = await runCloudctl(host, ['auth', 'switch', 'home']);
    expect(ran.code).toBe(0);
    expectGolden('auth', stableText(ran));
    expect((await runCloudctl(host, ['auth', 'switch', 'work'])).err).not.toContain('CLOUDCTL_PROFILE');
  });
});

const reading = [
  ['droplets', 'list'],
  ['actions', 'list'],
  ['db', 'list'],
  ['api', '/v2/account'],
  ['auth', 'status'],
];

describe('an explicit --profile', () => {
  it.each(reading)('precedes the variable, and one line says so: %s %s', async (...words) => {
    const { host } = await machine();
    for (const argv of [
      ['--profile', 'work', ...words],
      [...words, '--profile=work'],
    ]) {
      const ran = await runCloudctl(host, argv);
      expect(ran.code).toBe(0);
      expectGolden('auth', stableText(ran, /CLOUDCTL_ACCESS_TOKEN/));
      if (words[0] === 'api') expect(ran.out).toContain(TOMAS);
    }
  });

  it('gives auth token the token of the profile', async () => {
    const { host, work } = await machine();
    const ran = await runCloudctl(host, ['auth', 'token', '--profile', 'work']);
    expect(ran.out.trim()).toBe(work.grant.access_token);
  });

  it('is not needed for CLOUDCTL_PROFILE, which the variable precedes', async () => {
    const { host, token } = await machine();
    const ran = await runCloudctl(host, ['auth', 'token'], { env: { CLOUDCTL_PROFILE: 'work' } });
    expect(ran.out.trim()).toBe(token);
  });
});

describe('a command that changes something names the account of the variable', () => {
  const writes = [
    ['api', 'POST', '/v2/droplets', '-f', 'name=a'],
    ['api', 'DELETE', '/v2/droplets/1'],
    ['droplets', 'create', 'zz-02', '--size', 's-1vcpu-1gb', '--image', 'ubuntu-24-04-x64', '--region', 'nyc3'],
  ];

  it.each(writes)('if it is not the account of the profile: %s %s %s', async (...words) => {
    const { host } = await machine();
    const { err } = await runCloudctl(host, words);
    expect(err).toMatch(/^Acts as maya@example\.com, .*CLOUDCTL_ACCESS_TOKEN.* profile work/m);
    expect(err.match(/Acts as/g)).toHaveLength(1);
  });

  it('droplets delete', async () => {
    const { host, sandbox, token } = await machine();
    const body = JSON.stringify({ name: 'zz-01', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'nyc3' });
    expect((await callApi(sandbox, token, 'POST', '/v2/droplets', body)).status).toBe(202);
    const ran = await runCloudctl(host, ['droplets', 'delete', 'zz-01', '--yes']);
    expect(ran.code).toBe(0);
    expectGolden('auth', stableText(ran, /Acts as/));
  });

  it('but not for a read, not with -o json, and not without a profile', async () => {
    const { host } = await machine();
    const [, post = []] = writes;
    for (const words of [
      ['droplets', 'list'],
      [...post, '-o', 'json'],
    ])
      expect((await runCloudctl(host, words)).err).not.toContain('Acts as');
    const { base_url } = host.readConfig().profiles.get('work') ?? {};
    host.writeConfig({});
    const ran = await runCloudctl(host, post, { env: { CLOUDCTL_BASE_URL: base_url } });
    expect(ran.err).not.toContain('Acts as');
  });

  it('and not for the account of the profile', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    await runLogin(host);
    const { access_token } = await tokenFor(sandbox, { user: MAYA });
    const ran = await runCloudctl(host, ['api', 'DELETE', '/v2/droplets/1'], { env: { [variable]: access_token } });
    expect(ran.err).not.toContain('Acts as');
  });

  it('and if the server does not name it, says that much', async () => {
    const { host, sandbox } = await machine();
    sandbox.faults.add({ match: { path: '/v2/account' }, action: 'status', status: 404 });
    expectGolden('auth', stableText(await runCloudctl(host, ['api', 'DELETE', '/v2/droplets/1']), /^Acts/));
  });
});

describe('a variable that names other servers than the profile', () => {
  it('is named by the error of a command, and by the login that used it', async () => {
    const [sandbox, other] = [await sandboxFor(), await sandboxFor()];
    const host = testHost();
    await seedSession(host, sandbox, { profile: 'work' });
    const env = { CLOUDCTL_BASE_URL: other.ready.base_url };
    const ran = await runCloudctl(host, ['droplets', 'list', '--profile', 'work', '-o', 'json'], { env });
    expect(ran.error()).toMatchObject({ code: 'not_logged_in' });
    expect(ran.error().hint).toContain('`unset CLOUDCTL_BASE_URL`');
    const { access_token: stdin } = await tokenFor(other, { user: TOMAS });
    const words = ['auth', 'login', '--with-token', '--profile', 'work'];
    const login = await runCloudctl(host, words, { env, stdin });
    expect(login.code).toBe(0);
    expectGolden('auth', stableText(login, /^warning: this session/));
    const same = await runCloudctl(host, ['auth', 'status', '--profile', 'work'], {
      env: { CLOUDCTL_BASE_URL: `${sandbox.ready.base_url}/` },
    });
    expect(same.err).not.toContain('unset');
  });
});

describe('the question of a confirmation', () => {
  it('names the account of the variable', async () => {
    const { host, sandbox, token } = await machine();
    const body = JSON.stringify({ name: 'zz-03', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'nyc3' });
    await callApi(sandbox, token, 'POST', '/v2/droplets', body);
    const started = startCloudctl(host, ['droplets', 'delete', 'zz-03'], { terminal: 200 });
    let drawn = '';
    started.host.screen.on('data', (chunk) => {
      drawn += String(chunk);
    });
    while (!drawn.includes('?')) await new Promise((resolve) => setTimeout(resolve, 5));
    started.host.stdin.emit('data', 'n\r');
    await started.ended;
    expect(drawn + started.host.err()).toContain(MAYA);
  });
});
