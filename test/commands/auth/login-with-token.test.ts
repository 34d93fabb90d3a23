import { describe, expect, it } from 'vitest';
import { readAccount } from '../../../src/auth/session/account.ts';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, type TestHost, testHost } from '../../fixtures/host.ts';
import { profileOf, storedRecord } from '../../fixtures/session.ts';
import { admin, callApi, MAYA, sandboxFor, TOMAS, tokenFor, userOf } from '../../sandbox/requests.ts';
import {
  createSandboxHost,
  type RunResult,
  recordedRequests,
  runCloudctl,
  runLogin,
  sandboxEnvironment,
  stableText,
  startCloudctl,
} from '../run-cloudctl.ts';

const words = ['auth', 'login', '--with-token'];

interface TokenHost {
  readonly sandbox: SandboxServers;
  readonly host: TestHost;
  readonly token: string;
  /** A run with the token on standard input. */
  login(...more: readonly string[]): Promise<RunResult>;
  stored(): ReturnType<typeof storedRecord>;
}

async function tokenHost(grant: object = {}): Promise<TokenHost> {
  const sandbox = await sandboxFor();
  const host = await createSandboxHost(sandbox);
  const { access_token: token } = await tokenFor(sandbox, { user: TOMAS, scope: 'read write', ...grant });
  return {
    sandbox,
    host,
    token,
    login: (...more) => runCloudctl(host, [...words, ...more], { stdin: `${token}\n` }),
    stored: () => storedRecord(profilePaths(host.folders.state, 'default')),
  };
}

describe('auth login --with-token', () => {
  it('checks the token, stores it, and says that it cannot be renewed', async () => {
    const { sandbox, host, token, login, stored } = await tokenHost();
    const ran = await login('--trace');
    expect(ran).toMatchObject({ code: 0, out: '' });
    expect(ran.err).not.toContain(token);
    expect(await recordedRequests(sandbox)).toEqual(['GET /v2/account']);
    expect(stored()).toMatchObject({
      isGivenToken: true,
      scope: '',
      accountUuid: userOf(sandbox, TOMAS).uuid,
      team: 'personal',
    });
    expect(stored()?.refreshToken).toBeUndefined();
    expectGolden('auth', stableText(await login()), 'login');
    expect((await runCloudctl(host, ['droplets', 'list'])).code).toBe(0);
    expect((await runCloudctl(host, ['auth', 'token'])).out).toBe(`${token}\n`);
    const status = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(status.json()).toMatchObject({
      email: TOMAS,
      flow: 'token',
      state: 'valid',
      scope: null,
      scope_verified: false,
      expires_at: null,
      expires_in: null,
    });
    expectGolden('auth', stableText(status), 'status');
    const table = await runCloudctl(host, ['auth', 'status']);
    expect(table.out).not.toMatch(/9999|null/);
    expect((await runCloudctl(host, ['auth', 'list', '-o', 'json'])).json()).toMatchObject([
      { state: 'valid', email: TOMAS },
    ]);
    const doctor = await runCloudctl(host, ['doctor', '-o', 'json']);
    expectGolden('auth', /"observed": "(valid, .*)"/.exec(doctor.out)?.[1] ?? doctor.out, 'doctor');
  });

  it('is valid also after 40 days, as far as the program knows', async () => {
    const { host, login } = await tokenHost();
    await login();
    host.clock.advance(40 * 86_400_000);
    expect((await runCloudctl(host, ['auth', 'status', '-o', 'json'])).json()).toMatchObject({ state: 'valid' });
  });

  it('keeps the scope that is stated, and the team that the server names', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox);
    const team = userOf(sandbox, TOMAS).teams[0]?.uuid ?? '';
    const { access_token: token } = await tokenFor(sandbox, { user: TOMAS, team });
    const run = (...more: string[]) => runCloudctl(host, [...words, ...more], { stdin: token });
    const other = await run('--team', 'personal', '-o', 'json');
    expect(other.code).toBe(4);
    expect(other.error()).toMatchObject({ code: 'login_required' });
    expectGolden('auth', stableText(other).replaceAll(team, 'TEAM'), 'other team');
    const ran = await run('--scope', 'read', '--team', team, '-o', 'json');
    expect(ran.json()).toMatchObject({ scope: 'read', scope_verified: false, team_uuid: team, expires_at: null });
    expectGolden('auth', stableText(ran), 'same team');
  });

  it('stores nothing that the server refuses', async () => {
    const { sandbox, token, login, stored } = await tokenHost();
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token });
    const ran = await login();
    expect(ran).toMatchObject({ code: 4, out: '' });
    expectGolden('auth', stableText(ran));
    expect(stored()).toBeUndefined();
  });

  it('works at a server without GET /v2/account, and names no account', async () => {
    const { sandbox, login, stored } = await tokenHost();
    sandbox.faults.add({ match: { path: '/v2/account' }, action: 'status', status: 404 });
    const ran = await login();
    expect(ran.code).toBe(0);
    expectGolden('auth', stableText(ran));
    expect(stored()).not.toHaveProperty('accountUuid');
  });

  it('after the token is refused, commands ask for a new one', async () => {
    const { sandbox, host, token, login } = await tokenHost();
    await login();
    const refresh = await runCloudctl(host, ['auth', 'refresh']);
    expect(refresh).toMatchObject({ code: 4, out: '' });
    expectGolden('auth', stableText(refresh), 'refresh');
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token });
    const listed = await runCloudctl(host, ['droplets', 'list', '-o', 'json']);
    expect(listed).toMatchObject({ code: 4, out: '' });
    expect(listed.error()).toMatchObject({ code: 'needs_login' });
    expectGolden('auth', stableText(listed), 'first list');
    expectGolden('auth', stableText(await runCloudctl(host, ['droplets', 'list'])), 'list');
    const status = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(status.code).toBe(4);
    expect(status.json()).toMatchObject({ state: 'needs_login', flow: 'token' });
    expectGolden('auth', stableText(status), 'status');
    // On a terminal it does not offer a login in the browser, which would be another grant.
    const asked = await runCloudctl(host, ['droplets', 'list'], { terminal: 80, stdin: '' });
    expect(asked.code).toBe(4);
  });

  it('reads the token from a hidden prompt on a terminal', async () => {
    const { host, token, stored } = await tokenHost();
    const started = startCloudctl(host, words, { terminal: 80 });
    let drawn = '';
    await new Promise<void>((resolve) =>
      started.host.screen.on('data', (chunk) => {
        drawn += String(chunk);
        resolve();
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    started.host.stdin.emit('data', `${token}\r`);
    expect((await started.ended).code).toBe(0);
    expect(drawn).toContain('Access token (hidden)');
    expect(drawn).not.toContain(token);
    expect(stored()?.accessToken.reveal()).toBe(token);
  });

  it.each([
    ['empty', ''],
    ['two words', 'a b'],
    ['not ASCII', 'tökén'],
    ['too long', 'x'.repeat(100_000)],
  ])('refuses standard input that is %s, and prints none of it', async (_what, stdin) => {
    const { sandbox, host, stored } = await tokenHost();
    const ran = await runCloudctl(host, words, { stdin });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('auth', stableText(ran));
    expect(stored()).toBeUndefined();
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it.each(['--paste', '--flow=code', '--prompt=none'])('cannot be used with %s', async (option) => {
    const { sandbox, login } = await tokenHost();
    expect(await login(option)).toMatchObject({ code: 2, out: '' });
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('names the settings that are missing', async () => {
    const ran = await runCloudctl(testHost(), words, { stdin: 'x' });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('auth', stableText(ran));
  });

  it('works from the environment alone, in CI', async () => {
    const sandbox = await sandboxFor();
    const { CLOUDCTL_CLIENT_SECRET: _none, CLOUDCTL_CALLBACK_URL: _no, ...env } = sandboxEnvironment(sandbox);
    const { access_token: token } = await tokenFor(sandbox, {});
    const host = testHost({ env: { ...env, CI: 'true' } });
    expect((await runCloudctl(host, words, { stdin: token })).code).toBe(0);
    expect((await runCloudctl(host, ['droplets', 'list'])).code).toBe(0);
  });

  it('asks the keychain before anything is read or sent', async () => {
    const sandbox = await sandboxFor();
    const host = testHost({ keychain: memoryKeychain(new Map(), () => 'locked') });
    host.writeConfig({ profiles: { default: { ...profileOf(sandbox), credential_store: 'keychain' } } });
    const ran = await runCloudctl(host, [...words, '-o', 'json'], { stdin: 'x' });
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable' });
    expect(await recordedRequests(sandbox)).toEqual([]);
  });
});

describe('a session that is replaced', () => {
  it('by a given token is revoked', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    await runLogin(host);
    const { out: replaced } = await runCloudctl(host, ['auth', 'token']);
    const { access_token: token } = await tokenFor(sandbox, { user: MAYA });
    expect((await runCloudctl(host, words, { stdin: token })).code).toBe(0);
    expect((await callApi(sandbox, replaced.trim(), 'GET', '/v2/actions')).status).toBe(404);
    expect((await runCloudctl(host, ['droplets', 'list'])).code).toBe(0);
  });

  it('is revoked although the login cannot be reported', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    await runLogin(host);
    const { out: replaced } = await runCloudctl(host, ['auth', 'token']);
    const { access_token: stdin } = await tokenFor(sandbox, { user: MAYA });
    const run = startCloudctl(host, [...words, '-o', 'json'], { stdin });
    Object.assign(run.host.stdout, { write: () => Promise.reject(new Error('EPIPE')) });
    expect((await run.ended).code).not.toBe(0);
    expect((await callApi(sandbox, replaced.trim(), 'GET', '/v2/actions')).status).toBe(404);
  });

  it('by its own access token is not revoked', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    await runLogin(host);
    const { out: token } = await runCloudctl(host, ['auth', 'token']);
    expect((await runCloudctl(host, words, { stdin: token })).code).toBe(0);
    expect((await callApi(sandbox, token.trim(), 'GET', '/v2/actions')).status).toBe(200);
  });

  it('and was a given token is not revoked by a login in the browser, but by a logout', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    const { access_token: token } = await tokenFor(sandbox, { user: MAYA });
    await runCloudctl(host, words, { stdin: token });
    expect(readAccount(host.folders.config, 'default')).toMatchObject({ flow: 'token' });
    expect((await runLogin(host)).code).toBe(0);
    expect((await callApi(sandbox, token, 'GET', '/v2/actions')).status).toBe(200);
    await runCloudctl(host, words, { stdin: token });
    const ran = await runCloudctl(host, ['auth', 'logout']);
    expect(ran.code).toBe(0);
    expect((await callApi(sandbox, token, 'GET', '/v2/actions')).status).toBe(404);
  });
});
