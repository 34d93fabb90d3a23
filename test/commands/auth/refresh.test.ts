import { describe, expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { callApi, sandboxFor } from '../../sandbox/requests.ts';
import { runCloudctl, sandboxEnvironment } from '../run-cloudctl.ts';

describe('auth refresh', () => {
  it('renews the session now and prints its shape without a token', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant, stored } = await seedSession(host, sandbox);
    const ran = await runCloudctl(host, ['auth', 'refresh', '-o', 'json']);
    expect(ran.code).toBe(0);
    expect(ran.json()).toMatchObject({ profile: 'default', scope: 'read write', flow: 'code', store: 'file' });
    expect(stored()?.gen).toBe(2);
    expect(ran.out).not.toContain(stored()?.accessToken.reveal());
    expect((await callApi(sandbox, grant.access_token, 'GET', '/v2/actions')).status).toBe(404);
  });

  it('sends the client credentials in a form where the profile says so', async () => {
    const sandbox = await sandboxFor();
    const host = testHost({ env: { ...sandboxEnvironment(sandbox), CLOUDCTL_TOKEN_PARAMS: 'body' } });
    const { stored } = await seedSession(host, sandbox);
    const ran = await runCloudctl(host, ['auth', 'refresh', '--trace']);
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(/POST http:\S+\/v1\/oauth\/token 200/);
    expect(stored()?.gen).toBe(2);
    const wrong = { ...sandboxEnvironment(sandbox), CLOUDCTL_TOKEN_PARAMS: 'body', CLOUDCTL_CLIENT_SECRET: 'wrong' };
    const refused = await runCloudctl(host, ['auth', 'refresh', '-o', 'json'], { env: wrong });
    expect(refused.error()).toMatchObject({ code: 'invalid_client', exit_code: 4 });
    expect(stored()?.gen).toBe(2);
  });

  it('traces names of parameters and no values', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    const ran = await runCloudctl(host, ['auth', 'refresh', '--trace']);
    expect(ran.err).toMatch(/POST http:\S+\/v1\/oauth\/token\?grant_type&refresh_token 200 \d+ ms/);
    expect(ran.err).not.toContain(grant.refresh_token);
  });

  it('with CLOUDCTL_ACCESS_TOKEN is a usage error', async () => {
    const ran = await runCloudctl(testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x' } }), ['auth', 'refresh']);
    expect(ran).toMatchObject({ code: 2, out: '' });
  });
});
