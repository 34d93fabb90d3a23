import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { callApi, MAYA, sandboxFor, tokenFor } from '../../sandbox/requests.ts';
import { type RunResult, recordedRequests, runCloudctl, stableText } from '../run-cloudctl.ts';

/** A profile with two URLs: no client ID, no callback URL, no client secret. */
interface Machine {
  readonly sandbox: SandboxServers;
  readonly host: TestHost;
  readonly token: string;
  readonly urls: readonly string[];
  login(...more: readonly string[]): Promise<RunResult>;
}

async function machine(): Promise<Machine> {
  const sandbox = await sandboxFor();
  const host = testHost();
  const { access_token: token } = await tokenFor(sandbox, { user: MAYA, scope: 'read write' });
  const { auth_url, base_url } = sandbox.ready;
  const urls = ['--auth-url', auth_url, '--base-url', base_url];
  const login = (...more: readonly string[]) =>
    runCloudctl(host, ['auth', 'login', '--with-token', ...more], { stdin: token });
  return { sandbox, host, token, urls, login };
}

/** Set up with two URLs, and logged in with a token. */
async function loggedIn(): Promise<Machine> {
  const ready = await machine();
  const setup = await runCloudctl(ready.host, ['auth', 'setup', ...ready.urls, '--credential-store', 'file']);
  expect(setup.code).toBe(0);
  expect((await ready.login()).code).toBe(0);
  return ready;
}

describe('auth setup with two URLs', () => {
  it.each([[[]], [['--no-input']], [['--profile', 'work']]])(
    'writes a profile without an application: %j',
    async (more) => {
      const { host, urls, sandbox } = await machine();
      const ran = await runCloudctl(host, ['auth', 'setup', ...urls, '--credential-store', 'file', ...more]);
      expect(ran).toMatchObject({ code: 0, out: '' });
      expectGolden('auth', stableText(ran));
      const { auth_url, base_url } = sandbox.ready;
      const { profiles } = JSON.parse(readFileSync(join(host.folders.config, 'config.json'), 'utf8'));
      expect(Object.values(profiles)).toEqual([{ auth_url, base_url, credential_store: 'file' }]);
      expect(existsSync(profilePaths(host.folders.state, 'default').clientFile)).toBe(false);
      expect(await recordedRequests(sandbox)).toEqual([]);
    },
  );

  it.each([
    [['--callback-url', 'http://127.0.0.1:8765/callback']],
    [['--scope', 'read']],
    [['--flow', 'implicit']],
    [['--issuer', 'x']],
    [['--token-params', 'body']],
    [['--client-id', 'x']],
    [['--no-pkce']],
  ])('and %j describes an application, so the rest of it is required', async (more) => {
    const { host, urls } = await machine();
    const ran = await runCloudctl(host, ['auth', 'setup', ...urls, ...more]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(host.readConfig().profiles.size).toBe(0);
  });

  it('and a client secret requires a client ID', async () => {
    const { host, urls } = await machine();
    const typed = await runCloudctl(host, ['auth', 'setup', ...urls, '--client-secret-stdin'], { stdin: 'hunter2' });
    const set = await runCloudctl(host, ['auth', 'setup', ...urls], { env: { CLOUDCTL_CLIENT_SECRET: 'hunter2' } });
    for (const ran of [typed, set]) {
      expect(ran.code).toBe(2);
      expect(ran.err).toContain('--client-id');
    }
  });
});

describe('auth login --with-token without a client ID', () => {
  it('works after auth setup, and every command uses the token', async () => {
    const { host, token } = await loggedIn();
    expect((await runCloudctl(host, ['auth', 'token'])).out.trim()).toBe(token);
    for (const words of [
      ['droplets', 'list'],
      ['api', '/v2/account'],
      ['auth', 'status'],
      ['auth', 'status', '--check'],
    ])
      expect((await runCloudctl(host, words)).code).toBe(0);
    expect((await runCloudctl(host, ['auth', 'list', '-o', 'json'])).json()).toMatchObject([
      { profile: 'default', email: MAYA, state: 'valid' },
    ]);
  });

  it('works with the two URLs alone, as options or variables, and keeps the options', async () => {
    const { host, urls, login, token, sandbox } = await machine();
    expect((await login(...urls, '--credential-store', 'file')).code).toBe(0);
    expect((await runCloudctl(host, ['auth', 'token'])).out.trim()).toBe(token);
    const { auth_url, base_url } = sandbox.ready;
    const env = { CLOUDCTL_AUTH_URL: auth_url, CLOUDCTL_BASE_URL: base_url, CLOUDCTL_CREDENTIAL_STORE: 'file' };
    const other = testHost({ env });
    expect((await runCloudctl(other, ['auth', 'login', '--with-token'], { stdin: token })).code).toBe(0);
    expect((await runCloudctl(other, ['droplets', 'list'])).code).toBe(0);
  });

  it('is ended by auth logout, which revokes the token', async () => {
    const { host, sandbox, token } = await loggedIn();
    expect((await runCloudctl(host, ['auth', 'logout'])).code).toBe(0);
    expect((await callApi(sandbox, token, 'GET', '/v2/actions')).status).toBe(404);
  });

  it('survives that the profile gets an application', async () => {
    const { host, token } = await loggedIn();
    await runCloudctl(host, ['config', 'set', 'client_id', 'my-application']);
    expect((await runCloudctl(host, ['auth', 'token'])).out.trim()).toBe(token);
  });
});

describe('what a profile with a token only cannot do', () => {
  const nothing = [
    ['auth', 'refresh'],
    ['auth', 'login'],
    ['auth', 'login', '--no-browser'],
    ['auth', 'login', '--paste'],
  ];

  it.each(nothing)('%s %s %s names the one command that helps', async (...words) => {
    const { host, login } = await loggedIn();
    const ran = await runCloudctl(host, [...words, '-o', 'json']);
    expect(ran.code).not.toBe(0);
    expect(ran.error().hint).toContain('`cloudctl auth login --with-token`');
    expectGolden('auth', stableText(await runCloudctl(host, words)));
    expect((await login()).code).toBe(0);
  });

  it('a refused token is replaced by the same command', async () => {
    const { host, token, sandbox } = await loggedIn();
    await fetch(`${sandbox.ready.auth_url}/v1/oauth/revoke?token=${token}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
    const ran = await runCloudctl(host, ['droplets', 'list', '-o', 'json']);
    expect(ran.error()).toMatchObject({ code: 'needs_login' });
    expect(ran.error().hint).toContain('`cloudctl auth login --with-token`');
  });

  it('without a session, commands ask for a token', async () => {
    const { host, urls } = await machine();
    await runCloudctl(host, ['auth', 'setup', ...urls, '--credential-store', 'file', '--profile', 'work']);
    for (const words of [
      ['droplets', 'list'],
      ['auth', 'status'],
      ['auth', 'refresh'],
    ]) {
      const ran = await runCloudctl(host, [...words, '--profile', 'work', '-o', 'json']);
      expect(ran.error()).toMatchObject({ code: 'not_logged_in' });
      expect(ran.error().hint).toContain('cloudctl auth login --with-token');
    }
    const overview = await runCloudctl(host, ['-o', 'json']);
    expect(overview.json()).toMatchObject({ next: 'cloudctl auth login --with-token' });
  });
});
