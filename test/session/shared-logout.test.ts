import { describe, expect, it } from 'vitest';
import { DatabaseConnectError } from '../../src/platform/connect-error.ts';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import type { CredentialRecord } from '../../src/session/credential-record.ts';
import type { LogoutOutcome } from '../../src/session/logout.ts';
import { listRefreshJournalFiles } from '../../src/session/profile-paths.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { callApi, refreshWith, sandboxFor } from '../sandbox/requests.ts';
import { interceptOperations, logoutOn, sharedMachines } from './shared-machines.ts';

const away = new DatabaseConnectError('network', 'ECONNREFUSED', 'connection refused');

async function twoMachines() {
  const sandbox = await sandboxFor();
  const all = sharedMachines(sandbox);
  const [first, second] = [all.machine('ci-1#a'), all.machine('ci-2#b')];
  await all.login(first);
  await second.store.synchronize?.();
  return { sandbox, ...all, first, second };
}

async function isAccepted(sandbox: SandboxServers, { accessToken }: CredentialRecord): Promise<boolean> {
  return (await callApi(sandbox, accessToken.reveal(), 'GET', '/v2/actions')).status === 200;
}

function textOf(outcome: LogoutOutcome, { ready }: SandboxServers): string {
  return outcome.kind === 'unproven' ? errorText(outcome.error).replaceAll(ready.auth_url, 'AUTH_URL') : outcome.kind;
}

describe('a logout of a shared session', () => {
  it('revokes the record of the store, although the first read failed and the copy is older', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    const newest = await second.session().forceRefresh();
    let reads = 0;
    interceptOperations(server, async (operation, run) => {
      if (operation.op === 'read' && ++reads === 1) throw away;
      return run(operation);
    });
    expect(await logoutOn(first)).toEqual({ kind: 'revoked' });
    expect(await isAccepted(sandbox, newest)).toBe(false);
    expect((await refreshWith(sandbox, newest.refreshToken?.reveal() ?? '')).status).toBe(400);
  });

  it('revokes the record of a refresh between its first read and the tombstone', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    let reads = 0;
    let newest: CredentialRecord | undefined;
    interceptOperations(server, async (operation, run) => {
      if (operation.op === 'read' && ++reads === 2) newest = await second.session().forceRefresh();
      return run(operation);
    });
    expect(await logoutOn(first)).toEqual({ kind: 'revoked' });
    if (newest === undefined) throw new Error('the session was not refreshed');
    expect(await isAccepted(sandbox, newest)).toBe(false);
  });

  it('is not proven if another machine has refreshed the session and has not stored the result', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') throw away;
      return run(operation);
    });
    const newest = await second.session().forceRefresh();
    undo();
    expect(listRefreshJournalFiles(second.place)).toHaveLength(1);
    const outcome = await logoutOn(first);
    expect(outcome).toMatchObject({ kind: 'unproven', error: { code: 'api_error' } });
    expectGolden('auth-share', textOf(outcome, sandbox));
    expect(await isAccepted(sandbox, newest)).toBe(true);
  });

  it('is proven if the server had refused the refresh token before, and no machine may have the next one', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    const old = server.row();
    await second.session().forceRefresh();
    if (old === undefined) throw new Error('there is no row');
    // The record of the refresh was lost with the store and its machine.
    server.restore({ ...old, refusedGen: old.gen, refusedMs: Date.now() });
    expect(await logoutOn(first, { probe: async () => 'refused' })).toMatchObject({ kind: 'revoked' });
    expect(sandbox.requests('POST /v1/oauth/revoke')).toHaveLength(1);
  });

  it.each([503, 404])('is not proven if the refresh that spends the token is answered with %d', async (status) => {
    const { sandbox, first } = await twoMachines();
    const outcome = await logoutOn(first, {
      createSender: async () => {
        const send = await first.deps.createSender();
        return async (url, init) =>
          String(url).includes('refresh_token')
            ? { status, headers: new Headers(), body: null, text: async () => '' }
            : send(url, init);
      },
    });
    expect(outcome).toMatchObject({ kind: 'unproven', error: { status } });
    expect(sandbox.requests('POST /v1/oauth/revoke')).toHaveLength(1);
  });
});

describe('a logout that the store does not confirm', () => {
  it('is not proven: exit 6. The tokens are revoked, and a later command of the machine publishes the tombstone', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    const record = await second.session().record();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') throw away;
      return run(operation);
    });
    const outcome = await logoutOn(first);
    undo();
    expect(outcome).toMatchObject({ kind: 'unproven', error: { code: 'unreachable', exitCode: 6 } });
    expectGolden('auth-share', textOf(outcome, sandbox));
    expect(await isAccepted(sandbox, record)).toBe(false);
    await first.store.synchronize?.();
    expect(server.row()?.sid).not.toBe(record.sid);
    await second.store.synchronize?.();
    await expect(second.session().bearer()).rejects.toMatchObject({ code: 'not_logged_in' });
  });

  it('does not end a login that was stored after it', async () => {
    const { sandbox, first, second, login, server } = await twoMachines();
    let later: CredentialRecord | undefined;
    const undo = interceptOperations(server, async (operation, run) => {
      const snapshot = await run(operation);
      if (operation.op !== 'commit' || later !== undefined) return snapshot;
      undo();
      later = await login(second);
      throw away;
    });
    expect(await logoutOn(first)).toEqual({ kind: 'revoked' });
    if (later === undefined) throw new Error('there was no login');
    expect(server.row()?.sid).toBe(later.sid);
    expect(await isAccepted(sandbox, later)).toBe(true);
  });
});
