import { describe, expect, it } from 'vitest';
import { storeAccount } from '../../../src/auth/session/account.ts';
import { encodeRecord } from '../../../src/auth/session/record.ts';
import { createFileStore } from '../../../src/auth/session/store.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { callApi, sandboxFor } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, sandboxEnvironment, stableText } from '../run-cloudctl.ts';

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

  it('is not ended by --timeout, because the response may be the only copy of the tokens', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const grant = { access_token: 'at-2', token_type: 'bearer', refresh_token: 'rt-2', expires_in: 3600 };
    const { origin, seen } = await serverFor((_, response) => {
      setTimeout(() => reply(response, 200, grant), 1_300);
    });
    const { stored } = await seedSession(host, sandbox, {
      values: { auth_url: origin },
      record: { authOrigin: origin },
    });
    expect((await runCloudctl(host, ['auth', 'refresh', '--timeout', '1s'])).code).toBe(0);
    expect(stored()?.accessToken.reveal()).toBe('at-2');
    expect(seen).toHaveLength(1);
  });

  it('traces names of parameters and no values', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    const ran = await runCloudctl(host, ['auth', 'refresh', '--trace']);
    expect(ran.err).toMatch(/POST http:\S+\/v1\/oauth\/token\?grant_type&refresh_token 200 \d+ ms/);
    expect(ran.err).not.toContain(grant.refresh_token);
  });

  it.each([
    ['implicit', ' --flow implicit'],
    ['code', ''],
  ] as const)(
    'of a valid session without a refresh token, flow %s, says so and how long it lasts',
    async (flow, option) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      const { record, place, stored } = await seedSession(host, sandbox);
      const { refreshToken: _none, ...bare } = record;
      await createFileStore(place).withItems((items) => items.write('credential', encodeRecord(bare)));
      const { sid, scope } = record;
      storeAccount(host.folders.config, 'default', { sid, scope, scope_verified: false, flow });
      const ran = await runCloudctl(host, ['auth', 'refresh', '-o', 'json']);
      expect(ran).toMatchObject({ code: 4, out: '' });
      expect(ran.error()).toMatchObject({ code: 'needs_login', hint: expect.stringContaining(`auth login${option}`) });
      expect(await recordedRequests(sandbox)).toEqual([]);
      expect(stored()).toEqual(bare);
      expectGolden('auth', stableText(await runCloudctl(host, ['auth', 'refresh'])));
      host.clock.advance(31 * 86_400_000);
      expect((await runCloudctl(host, ['auth', 'refresh'])).err).toContain('has ended');
    },
  );

  it('with CLOUDCTL_ACCESS_TOKEN needs a session of the profile nevertheless', async () => {
    const ran = await runCloudctl(testHost({ env: { CLOUDCTL_ACCESS_TOKEN: 'x' } }), ['auth', 'refresh']);
    expect(ran).toMatchObject({ code: 4, out: '' });
  });
});
