import { describe, expect, it } from 'vitest';
import { keychainAccount } from '../../../src/auth/session/paths.ts';
import { encodeRecord } from '../../../src/auth/session/record.ts';
import { createFileStore } from '../../../src/auth/session/store.ts';
import { Secret } from '../../../src/base/secret.ts';
import { recordSandbox } from '../../../src/config/sandboxes.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, testHost } from '../../fixtures/host.ts';
import { beginRefresh, keychainStoreOf, seedSession } from '../../fixtures/session.ts';
import { admin, sandboxFor, TOMAS, tokenFor, userOf } from '../../sandbox/requests.ts';
import {
  createSandboxHost,
  recordedRequests,
  runCloudctl,
  runLogin,
  sandboxEnvironment,
  stableText,
} from '../run-cloudctl.ts';

const day = 86_400_000;

describe('auth status', () => {
  it('prints the place of the session whole on a narrow terminal, because users copy it', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { place } = await seedSession(host, sandbox, { profile: `a-profile-${'with-a-long-name-'.repeat(3)}x` });
    const ran = await runCloudctl(host, ['auth', 'status', '--profile', place.profile], { terminal: 60 });
    expect(ran.code).toBe(0);
    expect(ran.out.split('\n').find((line) => line.includes('StorePlace'))).toContain(place.credentialFile);
  });

  it('prints exactly the documented fields, and sends no request', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: sandboxEnvironment(sandbox) });
    recordSandbox(host.folders.state, sandbox.ready);
    await runLogin(host);
    await admin(sandbox, 'DELETE', '/_sandbox/requests');
    const ran = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(ran.code).toBe(0);
    const report = ran.json<Record<string, unknown>>();
    expect(Object.keys(report).sort()).toEqual(
      [
        'profile',
        'name',
        'email',
        'uuid',
        'scope',
        'scope_verified',
        'expires_at',
        'flow',
        'store',
        'state',
        'pending_write',
        'expires_in',
        'store_place',
        'auth_url',
        'base_url',
        'sandbox',
      ].sort(),
    );
    const { auth_url, base_url } = sandbox.ready;
    expect(report).toMatchObject({ auth_url, base_url });
    expect(report).toMatchObject({ state: 'valid', pending_write: false, sandbox: true, store: 'file', scope: 'read' });
    expect(report.expires_in).toBeGreaterThan(29 * 86_400);
    // Where the session is stored is a field; only the login says it in a sentence.
    expect(ran.err).toBe('');
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('is also auth whoami', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    const [status, whoami] = [await runCloudctl(host, ['auth', 'status']), await runCloudctl(host, ['auth', 'whoami'])];
    expect(whoami).toMatchObject({ code: 0, out: status.out, err: status.err });
  });

  it('never prints a token', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    for (const format of ['table', 'json', 'ndjson', 'yaml', 'csv']) {
      const ran = await runCloudctl(host, ['auth', 'status', '--check', '--trace', '-o', format]);
      expect(ran.out + ran.err).not.toContain(grant.access_token);
      expect(ran.out + ran.err).not.toContain(grant.refresh_token);
      expect(ran.out).toContain('valid');
    }
  });

  it.each([
    ['sandbox', true],
    ['second', false],
  ])('of profile %s at servers of this machine that have stopped is of a sandbox: %s', async (profile, is) => {
    const host = testHost();
    await seedSession(host, await sandboxFor(), { profile });
    const ran = await runCloudctl(host, ['auth', 'status', '--profile', profile, '-o', 'json']);
    expect(ran.json()).toMatchObject({ sandbox: is });
  });

  it.each([
    ['valid', 0, true, 0],
    ['expires_soon', 30 * day - 60_000, true, 0],
    ['expires_soon', 30 * day - 60_000, false, 0],
    ['expired', 31 * day, true, 0],
    ['needs_login', 31 * day, false, 4],
  ])('says %s after %d ms with a refresh token: %s', async (state, age, renewable, exit) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { record, place } = await seedSession(host, sandbox);
    const { refreshToken: _none, ...bare } = record;
    if (!renewable) await createFileStore(place).withItems((items) => items.write('credential', encodeRecord(bare)));
    host.clock.advance(age);
    const ran = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(ran.code).toBe(exit);
    expect(ran.json()).toMatchObject({ state, sandbox: false });
    expect(ran.json<{ expires_in: number }>().expires_in).toBeGreaterThanOrEqual(0);
  });

  it('of a session whose last refresh was interrupted is in doubt, and usable', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { record, place } = await seedSession(host, sandbox);
    (await beginRefresh(createFileStore(place), host, record)).close();
    const ran = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ state: 'in_doubt', pending_write: false });
    expectGolden('auth', stableText(ran));
    expect((await runCloudctl(host, ['auth', 'list', '-o', 'json'])).json()).toMatchObject([{ state: 'in_doubt' }]);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('of a refresh that is not in the keychain yet shows the session of later commands', async () => {
    const items = new Map<string, string>();
    const [host, sandbox] = [testHost({ keychain: memoryKeychain(items) }), await sandboxFor()];
    const { record, place } = await seedSession(host, sandbox, { values: { credential_store: 'keychain' } });
    items.set(keychainAccount(place, host.random), encodeRecord(record).reveal());
    const entry = await beginRefresh(keychainStoreOf(host), host, record);
    const now = Math.floor(host.clock.now() / 1000);
    const tokens = { accessToken: new Secret('at-2'), refreshToken: new Secret('rt-2') };
    await entry.keep({ ...record, ...tokens, gen: 2, expiresAt: now + 60, obtainedAt: now - 3540, scope: 'read' });
    entry.close();
    const ran = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ state: 'expires_soon', pending_write: true, scope: 'read', store: 'keychain' });
    expectGolden('auth', stableText(ran));
    items.clear();
    const gone = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(gone).toMatchObject({ code: 4, out: '' });
    expect(gone.error()).toMatchObject({ code: 'needs_login' });
  });

  it('without a session is exit 4 with nothing on standard output', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox);
    const ran = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.error()).toMatchObject({ code: 'not_logged_in', hint: expect.stringContaining('cloudctl auth login') });
  });

  it('of a profile without servers says what is missing', async () => {
    const ran = await runCloudctl(testHost(), ['auth', 'status']);
    expect(ran.code).toBe(4);
    expect(ran.err).toMatch(/auth_url, base_url, client_id/);
  });

  it('of a keychain that cannot be asked is exit 1, not "not logged in"', async () => {
    const sandbox = await sandboxFor();
    const env = { ...sandboxEnvironment(sandbox), CLOUDCTL_CREDENTIAL_STORE: 'keychain' };
    const host = testHost({ env, keychain: memoryKeychain(new Map(), () => 'hung') });
    const ran = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable' });
  });

  it('with CLOUDCTL_ACCESS_TOKEN and without a server is a usage error', async () => {
    const ran = await runCloudctl(testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x' } }), ['auth', 'status']);
    expect(ran).toMatchObject({ code: 2, out: '' });
  });
});

describe('auth status --check', () => {
  it('asks the server', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    expect((await runCloudctl(host, ['auth', 'status', '--check'])).code).toBe(0);
    expect(await recordedRequests(sandbox)).toContain('GET /v2/actions');
  });

  it('renews a session whose token was refused', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant, stored } = await seedSession(host, sandbox);
    await admin(sandbox, 'POST', '/_sandbox/tokens/expire', { token: grant.access_token });
    expect((await runCloudctl(host, ['auth', 'status', '--check'])).code).toBe(0);
    expect(stored()?.gen).toBe(2);
  });

  it('of a session that was revoked is exit 4', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: grant.access_token });
    expect((await runCloudctl(host, ['auth', 'status'])).code).toBe(0);
    const ran = await runCloudctl(host, ['auth', 'status', '--check', '-o', 'json']);
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.error()).toMatchObject({ code: 'needs_login' });
    expect((await runCloudctl(host, ['auth', 'status'])).code).toBe(4);
  });
});

describe('auth status with CLOUDCTL_ACCESS_TOKEN', () => {
  async function tokenHost(context: object = {}) {
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox, { user: TOMAS, ...context });
    const env = { CLOUDCTL_ACCESS_TOKEN: token, CLOUDCTL_BASE_URL: sandbox.ready.base_url };
    return { sandbox, token, host: testHost({ env }) };
  }

  it.each(['status', 'whoami'])('asks the server whose it is, and prints no token: auth %s', async (word) => {
    const { sandbox, token, host } = await tokenHost();
    const ran = await runCloudctl(host, ['auth', word, '-o', 'json', '--trace']);
    expect(ran.code).toBe(0);
    expect(ran.json()).toEqual({
      source: 'CLOUDCTL_ACCESS_TOKEN',
      base_url: sandbox.ready.base_url,
      name: 'Tomás Okafor',
      email: TOMAS,
      uuid: userOf(sandbox, TOMAS).uuid,
      state: 'valid',
      renewable: false,
    });
    expect(ran.out + ran.err).not.toContain(token);
    expect(await recordedRequests(sandbox)).toEqual(['GET /v2/account']);
    expectGolden('auth', stableText(await runCloudctl(host, ['auth', word])));
  });

  it('names the team', async () => {
    const sandbox = await sandboxFor();
    const [team] = userOf(sandbox, TOMAS).teams;
    const { access_token: token } = await tokenFor(sandbox, { user: TOMAS, team: team?.uuid });
    const env = { CLOUDCTL_ACCESS_TOKEN: token, CLOUDCTL_BASE_URL: sandbox.ready.base_url };
    const ran = await runCloudctl(testHost({ env }), ['auth', 'status', '-o', 'json']);
    expect(ran.json()).toMatchObject({ team_name: 'Harbour Works', team_uuid: team?.uuid });
  });

  it('asks a collection where the server does not name the account', async () => {
    const { sandbox, host } = await tokenHost();
    sandbox.faults.add({ match: { path: '/v2/account' }, action: 'status', status: 404 });
    const ran = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json()).not.toHaveProperty('uuid');
    expect(await recordedRequests(sandbox)).toEqual(expect.arrayContaining(['GET /v2/account', 'GET /v2/actions']));
  });

  it.each([[], ['/v2/account']])('is exit 4 if the server refuses it; missing: %j', async (...missing) => {
    const { sandbox, token, host } = await tokenHost();
    for (const path of missing) sandbox.faults.add({ match: { path }, action: 'status', status: 403 });
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token });
    const ran = await runCloudctl(host, ['auth', 'status', '-o', 'json']);
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.error()).toMatchObject({ code: 'token_refused' });
    expectGolden('auth', stableText(ran));
  });
});

it.each([
  ['a profile that is not set up', []],
  ['the profile of a sandbox that was never started', ['--profile', 'sandbox']],
])('%s names its own next step', async (_, words) => {
  const ran = await runCloudctl(testHost(), ['actions', 'list', ...words]);
  expect(ran.out).toBe('');
  expectGolden('auth', stableText(ran));
});
