import { describe, expect, test } from 'vitest';
import { lacks } from '../../fixtures/needs.ts';
import { type LoginFixture, useLoginFixture } from './login-fixture.ts';
import { authorizationLine, errorOf, type Machine } from './machine.ts';
import { type RecordedGrant, startTokenRecorder, type TokenRecorder } from './token-recorder.ts';

const edits = [
  { asked: 'read write', granted: 'read' },
  { asked: 'read', granted: 'read write' },
] as const;

describe.skipIf(lacks('chromium'))('a person who edits the scope in the authorization URL', () => {
  const fixture = useLoginFixture();

  test.each(edits)(
    'from "$asked" to "$granted", without a terminal: exit 4 scope_mismatch, the grant is revoked, nothing is kept',
    async ({ asked, granted }) => {
      const { maya, ...here } = fixture();
      const { machine, recorder } = await prepare(fixture());
      const visitor = await here.visitor();
      const login = await machine.login(['--scope', asked, '-o', 'json']);
      await visitor.logIn(withScope(recorder.behind(login.authorizationUrl), granted), maya);
      expect(await visitor.told()).toMatch(/\bnot signed\b/);
      const ran = await login.ended;
      expect(ran.code).toBe(4);
      expect(ran.stdout).toBe('');
      expect(errorOf(ran)).toMatchObject({ code: 'scope_mismatch', exit_code: 4 });
      expect(errorOf(ran).message).toContain(`"${granted}", not "${asked}"`);
      expect(errorOf(ran).hint).toContain('--accept-scope');
      await isRevoked(fixture(), recorder.grants);
      expect(machine.keepsSession()).toBe(false);
    },
  );

  test.each(edits)(
    'from "$asked" to "$granted", with --accept-scope: kept, and status shows what was granted',
    async ({ asked, granted }) => {
      const { maya, ...here } = fixture();
      const { machine, recorder } = await prepare(fixture());
      const visitor = await here.visitor();
      const login = await machine.login(['--scope', asked, '--accept-scope', '-o', 'json']);
      await visitor.logIn(withScope(recorder.behind(login.authorizationUrl), granted), maya);
      expect(await visitor.told()).toContain('Maya Lindqvist');
      expect((await login.ended).json()).toMatchObject({ scope: granted, scope_verified: true });
      expect((await machine.run(['auth', 'status', '-o', 'json'])).json()).toMatchObject({ scope: granted });
      expect(await here.requests('POST /v1/oauth/revoke')).toEqual([]);
    },
  );

  describe.skipIf(lacks('tmux'))('in a terminal', () => {
    test('is asked, and yes keeps the session', async () => {
      const { maya, ...here } = fixture();
      const { machine, recorder } = await prepare(fixture());
      const visitor = await here.visitor();
      const terminal = await machine.terminal(['auth', 'login', '--scope', 'read write', '--no-browser']);
      const [address] = authorizationLine.exec(await terminal.waitFor(authorizationLine)) ?? [''];
      await visitor.logIn(withScope(recorder.behind(address), 'read'), maya);
      expect(await visitor.told()).toMatch(/\bterminal\b/);
      await terminal.waitFor(/"read".*"read write".*\?/);
      expect(machine.keepsSession()).toBe(false);
      await terminal.type('y');
      await terminal.press('Enter');
      expect(await terminal.ended()).toBe(0);
      expect(await terminal.screen()).toContain('Maya Lindqvist');
      expect((await machine.run(['auth', 'status', '-o', 'json'])).json()).toMatchObject({ scope: 'read' });
    });

    test.each([
      ['no', ['n', 'Enter'], 4],
      ['Enter alone', ['Enter'], 4],
      ['Ctrl-C', ['C-c'], 130],
    ] as const)('is asked, and %s revokes the grant and keeps nothing', async (_, keys, code) => {
      const { maya, ...here } = fixture();
      const { machine, recorder } = await prepare(fixture());
      const visitor = await here.visitor();
      const terminal = await machine.terminal(['auth', 'login', '--no-browser']);
      const [address] = authorizationLine.exec(await terminal.waitFor(authorizationLine)) ?? [''];
      await visitor.logIn(withScope(recorder.behind(address), 'read write'), maya);
      await terminal.waitFor(/"read write".*"read".*\?/);
      await terminal.press(...keys);
      expect(await terminal.ended()).toBe(code);
      await isRevoked(fixture(), recorder.grants);
      expect(machine.keepsSession()).toBe(false);
    });
  });
});

async function prepare(
  fixture: LoginFixture,
): Promise<{ readonly machine: Machine; readonly recorder: TokenRecorder }> {
  await fixture.forgetRequests();
  const recorder = await startTokenRecorder(fixture.sandbox, fixture.secrets);
  return { machine: fixture.machine({ env: { ...fixture.sandbox.env, CLOUDCTL_AUTH_URL: recorder.url } }), recorder };
}

function withScope(address: string, scope: string): string {
  const url = new URL(address);
  url.searchParams.set('scope', scope);
  return url.href;
}

/** The server was told, and neither token of the grant is good for anything any more. */
async function isRevoked(fixture: LoginFixture, grants: readonly RecordedGrant[]): Promise<void> {
  expect(grants).toHaveLength(1);
  for (const { access_token, refresh_token } of grants) {
    const revocations = await fixture.requests('POST /v1/oauth/revoke');
    expect(revocations).toMatchObject([{ status: 200, token_hint: access_token.slice(-4) }]);
    const used = await fetch(new URL('/v2/actions', fixture.sandbox.base_url), {
      headers: { authorization: `Bearer ${access_token}` },
    });
    expect(used.status).toBe(404);
    expect(await used.json()).toMatchObject({ id: 'not_found' });
    const query = new URLSearchParams({ grant_type: 'refresh_token', refresh_token });
    const refreshed = await fetch(`${fixture.sandbox.auth_url}/v1/oauth/token?${query}`, { method: 'POST' });
    expect(await refreshed.json()).toMatchObject({ error: 'invalid_grant' });
  }
}
