import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { memoryKeychain, testHost } from '../../fixtures/host.ts';
import { seedSession } from '../../fixtures/session.ts';
import { admin, sandboxFor } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, stableText } from '../run-cloudctl.ts';

describe('auth token', () => {
  it('prints the access token and a newline, and nothing else', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    expect(await runCloudctl(host, ['auth', 'token'])).toMatchObject({
      code: 0,
      out: `${grant.access_token}\n`,
      err: '',
    });
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('prints the same in every format', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    expect((await runCloudctl(host, ['auth', 'token', '-o', 'json'])).out).toBe(`${grant.access_token}\n`);
  });

  it('has no columns, fields or query', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    for (const words of [
      ['--format', 'x'],
      ['--json', 'x'],
      ['--query', 'x'],
    ])
      expect(await runCloudctl(host, ['auth', 'token', ...words])).toMatchObject({ code: 2, out: '' });
  });

  it('warns on a terminal', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    const ran = await runCloudctl(host, ['auth', 'token'], { terminal: 80 });
    expect(ran.out).toBe(`${grant.access_token}\n`);
    expectGolden('auth', stableText(ran).replace(/\u001b\[\d+m/g, ''));
  });

  it('is refreshed first when it has expired', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant, stored } = await seedSession(host, sandbox);
    host.clock.advance(31 * 86_400_000);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '31d' });
    const ran = await runCloudctl(host, ['auth', 'token']);
    expect(ran.out).toBe(`${stored()?.accessToken.reveal()}\n`);
    expect(ran.out).not.toContain(grant.access_token);
  });

  it('is not refreshed while the environment would print it', async () => {
    const [host, sandbox] = [testHost({ env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } }), await sandboxFor()];
    await seedSession(host, sandbox);
    host.clock.advance(31 * 86_400_000);
    const ran = await runCloudctl(host, ['auth', 'token']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain('unset NODE_TLS_REJECT_UNAUTHORIZED');
    expect(await recordedRequests(sandbox)).toEqual([]);
  });

  it('of CLOUDCTL_ACCESS_TOKEN is printed as it is, and the store is not asked', async () => {
    const host = testHost({
      env: { CLOUDCTL_ACCESS_TOKEN: 'mine' },
      keychain: memoryKeychain(new Map(), () => {
        throw new Error('asked');
      }),
    });
    expect(await runCloudctl(host, ['auth', 'token'])).toMatchObject({ code: 0, out: 'mine\n' });
  });
});
