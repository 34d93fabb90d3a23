import { describe, expect, it } from 'vitest';
import { DatabaseConnectError, DatabaseError } from '../../src/platform/connect-error.ts';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import type { CredentialRecord } from '../../src/session/credential-record.ts';
import type { LogoutOutcome } from '../../src/session/logout.ts';
import { listRefreshJournalFiles } from '../../src/session/profile-paths.ts';
import { createReconnectingCall } from '../../src/shared-store/create-reconnecting-call.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { callApi, refreshWith, sandboxFor } from '../sandbox/requests.ts';
import { interceptOperations, logoutOn, sharedMachines } from './shared-machines.ts';

const away = new DatabaseConnectError('network', 'ECONNREFUSED', 'connection refused');

async function twoMachines() {
  const sandbox = await sandboxFor();
  const all = sharedMachines(sandbox);
  const [first, second] = [all.machine('ci-1#a'), all.machine('ci-2#b')];
  const s0 = await all.login(first);
  await second.store.synchronize?.();
  return { sandbox, ...all, first, second, s0 };
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

  it('is not proven after a restore of the store, if another machine has the newest session in its copy', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    const backup = server.row();
    const newest = await second.session().forceRefresh();
    server.restore(backup);
    await expect(first.session().forceRefresh()).rejects.toMatchObject({ code: 'needs_login' });
    expect(server.row()).toMatchObject({ refusedGen: 1, intentBy: undefined });
    expect(await logoutOn(first)).toMatchObject({ kind: 'unproven' });
    expect(await isAccepted(sandbox, newest)).toBe(true);
  });

  it('is not proven if neither the row nor a copy can be read', async () => {
    const { sandbox, machine, server, s0 } = await twoMachines();
    const row = server.row();
    server.restore(row && { ...row, record: 'AAAA' });
    const outcome = await logoutOn(machine('ci-3#c'));
    expectGolden('auth-share', textOf(outcome, sandbox));
    expect(await isAccepted(sandbox, s0)).toBe(true);
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

describe('a signal during a logout', () => {
  it('before the tombstone is sent: the session goes on', async () => {
    const { sandbox, first, server, s0 } = await twoMachines();
    const seen: string[] = [];
    interceptOperations(server, async (operation, run) => {
      seen.push(operation.op);
      first.host.signal('SIGINT');
      return run(operation);
    });
    await expect(logoutOn(first)).rejects.toMatchObject({ code: 'cancelled', exitCode: 130 });
    expect(seen).toEqual(['read', 'read']);
    expect(await isAccepted(sandbox, s0)).toBe(true);
  });

  it('while the tombstone is stored: the tokens are revoked before the command ends', async () => {
    const { sandbox, first, server, s0 } = await twoMachines();
    interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') first.host.signal('SIGTERM');
      return run(operation);
    });
    const outcome = await logoutOn(first);
    expect(outcome).toMatchObject({ kind: 'unproven', error: { code: 'cancelled', exitCode: 143 } });
    expectGolden('auth-share', textOf(outcome, sandbox));
    expect(await isAccepted(sandbox, s0)).toBe(false);
  });
});

describe('two logouts of a shared session', () => {
  it('at the same moment: both succeed', async () => {
    const { sandbox, first, second, s0 } = await twoMachines();
    const outcomes = await Promise.all([logoutOn(first), logoutOn(second)]);
    expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['nothing', 'revoked']);
    expect(await isAccepted(sandbox, s0)).toBe(false);
  });

  it('of which one is complete after the other one has read the session: both succeed', async () => {
    const { first, second, server } = await twoMachines();
    let reads = 0;
    let other: LogoutOutcome | undefined;
    interceptOperations(server, async (operation, run) => {
      if (operation.op === 'read' && ++reads === 2) other = await logoutOn(second);
      return run(operation);
    });
    expect([await logoutOn(first), other]).toEqual([{ kind: 'nothing' }, { kind: 'revoked' }]);
  });
});

it.each([
  ['the program', false],
  ['the connection', true],
])('a logout whose reply was lost and that %s repeats does not end a later login', async (_name, inside) => {
  const { sandbox, first, second, login, server, clockOffset } = await twoMachines();
  const calls = createReconnectingCall<object>({ connect: async () => ({}), end: () => undefined });
  let isLater = false;
  let later: CredentialRecord | undefined;
  interceptOperations(server, async (operation, run) => {
    const work = async () => {
      const snapshot = await run(operation);
      if (operation.op !== 'commit' || isLater) return snapshot;
      isLater = true;
      clockOffset.ms = 6_000;
      later = await login(second);
      throw inside ? new DatabaseError('ECONNRESET', 'connection lost', true) : away;
    };
    return inside && !isLater ? calls.run(work) : work();
  });
  expect(await logoutOn(first)).toEqual({ kind: 'revoked' });
  if (later === undefined) throw new Error('there was no login');
  expect(server.row()?.sid).toBe(later.sid);
  expect(await isAccepted(sandbox, later)).toBe(true);
});

it('a logout whose first commit failed revokes the tokens of a refresh that came before the repetition', async () => {
  const { sandbox, first, second, server } = await twoMachines();
  let newest: CredentialRecord | undefined;
  const undo = interceptOperations(server, async (operation, run) => {
    if (operation.op !== 'commit') return run(operation);
    undo();
    newest = await second.session().forceRefresh();
    throw away;
  });
  expect(await logoutOn(first)).toEqual({ kind: 'revoked' });
  if (newest === undefined) throw new Error('the session was not refreshed');
  expect(await isAccepted(sandbox, newest)).toBe(false);
});

it('after a logout, a machine with a journal file of the session is not logged in, and keeps the file', async () => {
  const { first, second, server } = await twoMachines();
  const undo = interceptOperations(server, async (operation, run) => {
    if (operation.op === 'commit') throw away;
    return run(operation);
  });
  await first.session().forceRefresh();
  await logoutOn(first);
  undo();
  await first.store.synchronize?.();
  expect(listRefreshJournalFiles(first.place)).toHaveLength(1);
  for (const machine of [first, second]) {
    await machine.store.synchronize?.();
    await expect(machine.session().bearer()).rejects.toMatchObject({ code: 'not_logged_in' });
  }
});
