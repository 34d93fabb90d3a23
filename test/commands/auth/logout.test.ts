import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import { createFileStore, writeClientSecret } from '../../../src/auth/session/store.ts';
import { Secret } from '../../../src/base/secret.ts';
import { closedOrigin, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, testHost } from '../../fixtures/host.ts';
import { bindingTo, profileOf, seedSession } from '../../fixtures/session.ts';
import { callApi, sandboxFor } from '../../sandbox/requests.ts';
import {
  createSandboxHost,
  recordedRequests,
  runCloudctl,
  runLogin,
  sandboxEnvironment,
  stableText,
} from '../run-cloudctl.ts';

describe('auth logout', () => {
  it('deletes the session and its account, revokes the token and checks that it is refused', async () => {
    const sandbox = await sandboxFor();
    const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
    await runLogin(host);
    const { out: token } = await runCloudctl(host, ['auth', 'token']);
    const ran = await runCloudctl(host, ['auth', 'logout']);
    expect(ran).toMatchObject({ code: 0, out: '' });
    expectGolden('auth', stableText(ran));
    expect(existsSync(profilePaths(host.folders.state, 'default').credentialFile)).toBe(false);
    expect(existsSync(join(host.folders.config, 'accounts', 'default.json'))).toBe(false);
    expect((await callApi(sandbox, token.trim(), 'GET', '/v2/actions')).status).toBe(404);
    expect((await runCloudctl(host, ['auth', 'status'])).code).toBe(4);
  });

  it('goes to the server of the session, wherever the profile points now', async () => {
    const [host, sandbox, elsewhere] = [testHost(), await sandboxFor(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    host.writeConfig({ profiles: { default: profileOf(elsewhere) } });
    expect((await runCloudctl(host, ['auth', 'logout'])).code).toBe(0);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
    expect(await recordedRequests(elsewhere)).toEqual([]);
  });

  it('is exit 6 when the server cannot be reached, and the session is deleted all the same', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { place } = await seedSession(host, sandbox, { record: { authOrigin: await closedOrigin() } });
    const ran = await runCloudctl(host, ['auth', 'logout', '-o', 'json']);
    expect(ran).toMatchObject({ code: 6, out: '' });
    expect(ran.error()).toMatchObject({ code: 'unreachable', hint: expect.stringContaining('control panel') });
    expectGolden('auth', stableText(ran));
    expect(existsSync(place.credentialFile)).toBe(false);
  });

  it.each([
    [403, { code: 0 }],
    [200, { code: 1 }],
    [503, { code: 1 }],
  ])('proves the end at a resource API that answers %i to a revoked token', async (status, expected) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { origin } = await serverFor((_, response) => reply(response, status, 'no', { 'retry-after': '0' }));
    await seedSession(host, sandbox, { record: { baseOrigin: origin } });
    const ran = await runCloudctl(host, ['auth', 'logout']);
    expect(ran).toMatchObject(expected);
    expectGolden('auth', stableText(ran));
  });

  it.each(['auth logout', 'auth logout --all'])(
    'says that the client secret stays, and what deletes it: %s',
    async (line) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      const { place } = await seedSession(host, sandbox, { profile: 'work' });
      await writeClientSecret(createFileStore(place), bindingTo(sandbox), new Secret('client-secret'));
      const env = { CLOUDCTL_PROFILE: 'work' };
      const ran = await runCloudctl(host, line.split(' '), { env });
      expect(ran.code).toBe(0);
      expectGolden('auth', stableText(ran));
      expect(existsSync(place.clientFile)).toBe(true);
      const [remove = ''] = /(?<=`cloudctl )auth remove [^`]*/.exec(ran.err) ?? [];
      expect((await runCloudctl(host, remove.split(' '), { env })).code).toBe(0);
      expect(existsSync(place.clientFile)).toBe(false);
    },
  );

  it('with --local sends no request', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { place } = await seedSession(host, sandbox);
    const ran = await runCloudctl(host, ['auth', 'logout', '--local']);
    expect(ran.code).toBe(0);
    expectGolden('auth', stableText(ran));
    expect(existsSync(place.credentialFile)).toBe(false);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('without a session succeeds and says so', async () => {
    const sandbox = await sandboxFor();
    const ran = await runCloudctl(await createSandboxHost(sandbox), ['auth', 'logout']);
    expect(ran.code).toBe(0);
    expectGolden('auth', stableText(ran));
  });

  it('of an unknown profile is a usage error', async () => {
    const sandbox = await sandboxFor();
    const ran = await runCloudctl(await createSandboxHost(sandbox), ['auth', 'logout', '--profile', 'defautl']);
    expect(ran.code).toBe(2);
    expectGolden('auth', stableText(ran));
  });

  it('of a session whose profile is gone still ends it', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox, { profile: 'old' });
    host.writeConfig({});
    const env = { CLOUDCTL_CREDENTIAL_STORE: 'file' };
    expect((await runCloudctl(host, ['auth', 'logout', '--profile', 'old'], { env })).code).toBe(0);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
  });

  it('sends nothing while the environment would print it, and deletes nothing', async () => {
    const [host, sandbox] = [testHost({ env: { NODE_DEBUG: 'http' } }), await sandboxFor()];
    const { place } = await seedSession(host, sandbox);
    const ran = await runCloudctl(host, ['auth', 'logout']);
    expect(ran.code).toBe(2);
    expectGolden('auth', stableText(ran));
    expect(existsSync(place.credentialFile)).toBe(true);
    expect(await recordedRequests(sandbox)).toEqual([]);
  });
});

describe('auth logout --all', () => {
  it('ends the session of every profile', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const seeded = [await seedSession(host, sandbox), await seedSession(host, sandbox, { profile: 'work' })];
    const ran = await runCloudctl(host, ['auth', 'logout', '--all']);
    expect(ran).toMatchObject({ code: 0, out: '' });
    for (const { grant, place } of seeded) {
      expect(existsSync(place.credentialFile)).toBe(false);
      expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
    }
  });

  it('goes on after a server that cannot be reached, and exits with 6', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox, { profile: 'a', record: { authOrigin: await closedOrigin() } });
    const { grant, place } = await seedSession(host, sandbox, { profile: 'b' });
    const ran = await runCloudctl(host, ['auth', 'logout', '--all']);
    expect(ran.code).toBe(6);
    expect(ran.err).toMatch(/^warning: profile a: /m);
    expectGolden('auth', stableText(ran));
    expect(existsSync(place.credentialFile)).toBe(false);
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
  });

  it('goes on after a keychain that is not available', async () => {
    const [host, sandbox] = [testHost({ keychain: memoryKeychain(new Map(), () => 'locked') }), await sandboxFor()];
    await seedSession(host, sandbox, { profile: 'a', values: { credential_store: 'keychain' } });
    const { place } = await seedSession(host, sandbox, { profile: 'b' });
    const ran = await runCloudctl(host, ['auth', 'logout', '--all', '-o', 'json']);
    expect(ran.code).toBe(1);
    expect(ran.error()).toMatchObject({ code: 'keychain_unavailable' });
    expectGolden('auth', stableText(ran));
    expect(existsSync(place.credentialFile)).toBe(false);
  });

  it('ends the session of an environment without a profile as well', async () => {
    const sandbox = await sandboxFor();
    const host = testHost({ env: sandboxEnvironment(sandbox) });
    const { place } = await seedSession(host, sandbox);
    host.writeConfig({});
    expect((await runCloudctl(host, ['auth', 'logout', '--all'])).code).toBe(0);
    expect(existsSync(place.credentialFile)).toBe(false);
  });

  it('contradicts --profile', async () => {
    const ran = await runCloudctl(testHost(), ['auth', 'logout', '--all', '--profile', 'x']);
    expect(ran.code).toBe(2);
    expectGolden('auth', stableText(ran));
  });
});
