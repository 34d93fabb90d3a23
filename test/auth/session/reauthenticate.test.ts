import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readAccount } from '../../../src/auth/session/account.ts';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import {
  createSandboxHost,
  followRedirects,
  recordedRequests,
  runCloudctl,
  runLogin,
  sandboxEnvironment,
} from '../../commands/run-cloudctl.ts';
import type { TestHost, TestHostOptions } from '../../fixtures/host.ts';
import { storedRecord } from '../../fixtures/session.ts';
import { admin, MAYA, sandboxFor, send } from '../../sandbox/requests.ts';

/** Somebody whose session was revoked in the control panel; the browser is signed in still. */
async function revokedSession(scope: readonly string[] = []) {
  const sandbox = await sandboxFor();
  const host = await createSandboxHost(sandbox, { env: { ...sandboxEnvironment(sandbox), DISPLAY: ':0' } });
  expect((await runLogin(host, scope)).code).toBe(0);
  const before = storedRecord(profilePaths(host.folders.state, 'default'))!;
  await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: before.accessToken.reveal() });
  await admin(sandbox, 'DELETE', '/_sandbox/requests');
  return { sandbox, host, before, now: () => storedRecord(profilePaths(host.folders.state, 'default')) };
}

/** A terminal, with a browser that goes where it is sent. */
const terminal = (): TestHostOptions => ({
  terminal: 100,
  browse: (url) => void followRedirects(url).catch(() => undefined),
});

describe('a session that has ended', () => {
  it('is had again in a terminal without a page: same account, same scope, and the command goes on', async () => {
    const { sandbox, host, before, now } = await revokedSession(['--scope', 'read write']);
    const ran = await runCloudctl(host, ['actions', 'list', '--yes', '-o', 'json'], terminal());
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.json<unknown[]>().length).toBeGreaterThan(0);
    const [, url = ''] = /^(http\S+\/v1\/oauth\/authorize\?\S+)$/m.exec(ran.err) ?? [];
    const asked = new URL(url).searchParams;
    expect(asked.get('prompt')).toBe('none');
    expect(asked.get('i')).toBe(before.accountUuid?.slice(0, 6));
    expect(asked.get('scope')).toBe('read write');
    expect(ran.err).toContain('maya@example.com');
    expect(now()).toMatchObject({ scope: 'read write', accountUuid: before.accountUuid, gen: 1 });
    expect(now()?.sid).not.toBe(before.sid);
    expect(readAccount(host.folders.config, 'default')?.sid).toBe(now()?.sid);
    expect(await recordedRequests(sandbox)).toContain('GET /v2/actions');
  });

  it('is not replaced by that of another account', async () => {
    const { sandbox, host, before, now } = await revokedSession();
    const whole = { ...before, accountUuid: `${before.accountUuid?.slice(0, 6)}ff-0000-4000-8000-000000000000` };
    replaceAccount(host, whole.accountUuid);
    const ran = await runCloudctl(host, ['actions', 'list', '--yes', '-o', 'json'], terminal());
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.error()).toMatchObject({ code: 'login_required' });
    expect(now()?.sid).toBe(before.sid);
    expect(await recordedRequests(sandbox)).toContain('POST /v1/oauth/revoke');
  });

  it('where the browser is not signed in, goes on with the sign-in page in the same tab, and ends in the list', async () => {
    const { sandbox, host, now, before } = await revokedSession();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'ask' });
    const visited: string[] = [];
    // A browser that stops at the sign-in page; there the person signs in.
    const browse = async (url: string): Promise<void> => {
      for (let at: string | undefined = url; at !== undefined; ) {
        const { origin, pathname, search } = new URL(at);
        visited.push(pathname);
        const answer = await send(origin, `${pathname}${search}`);
        const isPage = answer.headers.location === undefined && pathname === '/v1/oauth/authorize';
        if (isPage) await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'approve', user: MAYA });
        else at = answer.headers.location === undefined ? undefined : new URL(answer.headers.location, at).href;
      }
    };
    const ran = await runCloudctl(host, ['actions', 'list', '--yes', '-o', 'json'], {
      terminal: 100,
      browse: (url) => void browse(url),
    });
    expect(ran.code).toBe(0);
    expect(ran.json<unknown[]>().length).toBeGreaterThan(0);
    expect(visited.filter((path) => path === '/v1/oauth/authorize')).toHaveLength(3);
    expect(ran.host.opened).toHaveLength(1);
    expect(now()?.sid).not.toBe(before.sid);
  });

  it.each<[string, readonly string[], TestHostOptions]>([
    ['without a terminal', [], {}],
    ['with --no-input', ['--no-input'], { terminal: 100 }],
  ])('%s is exit 4 with the exact command, and no browser', async (_what, words, options) => {
    const { host, before } = await revokedSession(['--scope', 'read write']);
    const ran = await runCloudctl(host, ['actions', 'list', '--yes', '-o', 'json', ...words], options);
    expect(ran).toMatchObject({ code: 4, out: '' });
    const hint = before.accountUuid?.slice(0, 6);
    expect(ran.error()).toMatchObject({
      code: 'needs_login',
      hint: expect.stringContaining(`--account-hint ${hint} `),
    });
    expect(ran.host.opened).toEqual([]);
  });

  it('by that command is had again', async () => {
    const { host, before, now } = await revokedSession(['--scope', 'read write']);
    const hint = before.accountUuid?.slice(0, 6) ?? '';
    const ran = await runLogin(host, ['--prompt', 'none', '--account-hint', hint, '--scope', 'read write']);
    expect(ran.code).toBe(0);
    expect(now()).toMatchObject({ scope: 'read write', accountUuid: before.accountUuid });
    expect((await runCloudctl(host, ['actions', 'list'])).code).toBe(0);
  });
});

function replaceAccount(host: TestHost, uuid: string): void {
  const path = profilePaths(host.folders.state, 'default').credentialFile;
  const record = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify({ ...record, account_uuid: uuid }));
}
