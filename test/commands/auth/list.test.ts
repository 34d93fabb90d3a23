import { describe, expect, it } from 'vitest';
import { encodeRecord } from '../../../src/auth/session/record.ts';
import { createFileStore } from '../../../src/auth/session/store.ts';
import { closedOrigin } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, testHost } from '../../fixtures/host.ts';
import { profileOf, seedSession } from '../../fixtures/session.ts';
import { sandboxFor } from '../../sandbox/requests.ts';
import { createSandboxHost, recordedRequests, runCloudctl, runLogin, stableText } from '../run-cloudctl.ts';

describe('auth list', () => {
  it('has a documented row for each profile, and marks the current one', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    await runLogin(host);
    const { raw } = host.readConfig();
    host.writeConfig({ ...raw, profiles: { ...Object(raw.profiles), bare: {} } });
    const auth_url = sandbox.ready.auth_url;
    const ran = await runCloudctl(host, ['auth', 'list', '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json()).toEqual([
      { profile: 'default', current: true, source: 'current', auth_url, email: 'maya@example.com', state: 'valid' },
      { profile: 'bare', current: false, auth_url: null, state: 'logged_out' },
    ]);
    const chosen = await runCloudctl(host, [
      'auth',
      'list',
      '--profile',
      'bare',
      '--format',
      'Profile,Current',
      '-o',
      'csv',
    ]);
    expect(chosen.out).toBe('Profile,Current\ndefault,\nbare,*\n');
  });

  it('tells the servers of two profiles apart on a narrow terminal', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const servers = ['https://one.cloud.example', 'https://two.cloud.example'];
    for (const [at, auth_url] of servers.entries())
      await seedSession(host, sandbox, { profile: `p${at}`, values: { auth_url }, record: { authOrigin: auth_url } });
    const ran = await runCloudctl(host, ['auth', 'list'], { terminal: 60 });
    for (const url of servers) expect(ran.out).toContain(new URL(url).hostname);
  });

  it('names the server of this machine that has ended, and what removes its profile', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox, { profile: 'runs' });
    const dead = await closedOrigin();
    await seedSession(host, sandbox, { profile: 'ended', values: { auth_url: dead }, record: { authOrigin: dead } });
    const ran = await runCloudctl(host, ['auth', 'list']);
    expect(ran.code).toBe(0);
    expectGolden('auth', stableText(ran));
    expect(await runCloudctl(host, ['auth', 'list', '-o', 'json'])).toMatchObject({ code: 0, err: '' });
    const [command = ''] = /(?<=`cloudctl )[^`]*/.exec(ran.err) ?? [];
    expect((await runCloudctl(host, command.split(' '))).code).toBe(0);
    expect([...host.readConfig().profiles.keys()]).toEqual(['runs']);
  });

  it('tells the state of each session and asks no server', async () => {
    const [host, sandbox] = [testHost({ keychain: memoryKeychain(new Map(), () => 'locked') }), await sandboxFor()];
    const profiles = ['valid', 'expired', 'ended', 'elsewhere', 'none', 'locked'];
    for (const profile of profiles) await seedSession(host, sandbox, { profile });
    const expired = { expiresAt: 1 };
    await seedSession(host, sandbox, { profile: 'expired', record: expired });
    await seedSession(host, sandbox, { profile: 'elsewhere', record: { clientId: 'other' } });
    await seedSession(host, sandbox, { profile: 'locked', values: { credential_store: 'keychain' } });
    const { record, place } = await seedSession(host, sandbox, { profile: 'ended', record: expired });
    const { refreshToken: _none, ...bare } = record;
    await createFileStore(place).withItems((items) => items.write('credential', encodeRecord(bare)));
    await runCloudctl(host, ['auth', 'logout', '--local', '--profile', 'none']);
    const ran = await runCloudctl(host, ['auth', 'list', '-o', 'json']);
    const states = ran.json<{ profile: string; state: string }[]>().map(({ profile, state }) => [profile, state]);
    expect(Object.fromEntries(states)).toEqual({
      valid: 'valid',
      expired: 'expired',
      ended: 'needs_login',
      elsewhere: 'needs_login',
      none: 'logged_out',
      locked: 'unknown',
    });
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it.each([
    [['--profile', 'kc'], { CLOUDCTL_PROFILE: 'b' }, 'kc', '--profile'],
    [[], { CLOUDCTL_PROFILE: 'b' }, 'b', 'CLOUDCTL_PROFILE'],
    [[], { CLOUDCTL_PROFILE: '' }, 'a', 'current'],
  ])('marks the profile that %j with %j selects, and says what selected it', async (words, env, name, source) => {
    const host = testHost({ env });
    host.writeConfig({ current: 'a', profiles: { a: {}, b: {}, kc: {} } });
    const rows = (await runCloudctl(host, ['auth', 'list', ...words, '-o', 'json'])).json<{ current: boolean }[]>();
    expect(rows.filter(({ current }) => current)).toMatchObject([{ profile: name, source }]);
    const table = await runCloudctl(host, ['auth', 'list', ...words]);
    expect(table.out.split('\n').filter((line) => line.includes('*'))).toEqual([
      expect.stringMatching(new RegExp(`^${name} .*${source}`)),
    ]);
  });

  it('marks default without a current profile', async () => {
    const host = testHost();
    host.writeConfig({ profiles: { a: {}, default: {} } });
    const rows = (await runCloudctl(host, ['auth', 'list', '-o', 'json'])).json();
    expect(rows).toMatchObject([{ current: false }, { profile: 'default', current: true, source: 'default' }]);
  });

  it('says that commands use the token of CLOUDCTL_ACCESS_TOKEN, unless --profile is given', async () => {
    const host = testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'secret-token' } });
    host.writeConfig({ profiles: { default: {} } });
    const ran = await runCloudctl(host, ['auth', 'list']);
    expect(ran.err).toMatch(/^CLOUDCTL_ACCESS_TOKEN is set: /);
    expect(ran.out + ran.err).not.toContain('secret-token');
    expect((await runCloudctl(host, ['auth', 'list', '--profile', 'default'])).err).toBe('');
    expect((await runCloudctl(host, ['auth', 'list', '-o', 'json'])).err).toBe('');
  });

  it('of no profile is an empty list', async () => {
    expect((await runCloudctl(testHost(), ['auth', 'list', '-o', 'json'])).out).toBe('[]\n');
  });

  it('does not let the environment speak for other profiles', async () => {
    const sandbox = await sandboxFor();
    const host = testHost({ env: { CLOUDCTL_AUTH_URL: 'https://other.example' } });
    host.writeConfig({ profiles: { work: profileOf(sandbox) } });
    expect((await runCloudctl(host, ['auth', 'list', '-o', 'json'])).json()).toMatchObject([
      { auth_url: sandbox.ready.auth_url },
    ]);
  });
});
