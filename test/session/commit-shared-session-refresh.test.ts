import { mkdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { DatabaseConnectError, DatabaseError } from '../../src/platform/connect-error.ts';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import { UnconfirmedLoginOrLogoutError } from '../../src/session/credential-store.ts';
import { revokeReplacedSession, revokeTokenGrantAndThrow } from '../../src/session/revoke-grant.ts';
import { readLocalCopyOfSharedSession } from '../../src/session/shared-copy.ts';
import { type LoginResult, storeLoginSession } from '../../src/session/store-login.ts';
import { createReconnectingCall } from '../../src/shared-store/create-reconnecting-call.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { callApi, sandboxFor, tokenFor } from '../sandbox/requests.ts';
import { interceptOperations, type SharedMachine, sharedMachines } from './shared-machines.ts';

const away = new DatabaseConnectError('network', 'ECONNREFUSED', 'connection refused');

async function twoMachines() {
  const sandbox = await sandboxFor();
  const all = sharedMachines(sandbox);
  const [first, second] = [all.machine('ci-1#a'), all.machine('ci-2#b')];
  const s0 = await all.login(first);
  await second.store.synchronize?.();
  return { sandbox, ...all, first, second, s0 };
}

const revocations = (sandbox: SandboxServers) => sandbox.requests('POST /v1/oauth/revoke');

async function statusAtApi(sandbox: SandboxServers, accessToken: Secret): Promise<number> {
  return (await callApi(sandbox, accessToken.reveal(), 'GET', '/v2/actions')).status;
}

/** Stores a grant and revokes the replaced session, as `auth login` does after the browser. */
async function storeGrant(sandbox: SandboxServers, { deps }: SharedMachine): Promise<LoginResult> {
  const { access_token, refresh_token, expires_in, scope } = await tokenFor(sandbox);
  const grant = {
    accessToken: new Secret(access_token),
    refreshToken: new Secret(refresh_token),
    expiresIn: expires_in,
    scope,
  };
  const client = await deps.client();
  const stored = await storeLoginSession({ ...deps, writeAccount: () => undefined }, grant, {
    scope: 'read',
    flow: 'code',
  }).catch((error: unknown) => revokeTokenGrantAndThrow({ ...deps, client }, grant, error));
  await revokeReplacedSession({ ...deps, client, isSpecServer: () => true }, stored);
  return stored;
}

describe('a login whose commit the store does not confirm', () => {
  it('is an error, and neither the new nor the replaced session is revoked', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') throw away;
      return run(operation);
    });
    const failure = await storeGrant(sandbox, first).then(String, (error: unknown) => error);
    undo();
    expect(failure).toBeInstanceOf(UnconfirmedLoginOrLogoutError);
    expect(failure).toMatchObject({ code: 'unreachable', exitCode: 6 });
    expectGolden('auth-share', errorText(failure));
    expect(revocations(sandbox)).toEqual([]);
    expect(await statusAtApi(sandbox, await second.session().bearer())).toBe(200);
  });

  it('is the session of all machines if the store has applied it', async () => {
    const { first, second, tryLogin, server } = await twoMachines();
    let isAway = false;
    const undo = interceptOperations(server, async (operation, run) => {
      if (isAway) throw away;
      const snapshot = await run(operation);
      isAway = operation.op === 'commit';
      if (isAway) throw away;
      return snapshot;
    });
    const { record, written } = await tryLogin(first);
    undo();
    expect(written).toMatchObject({ kind: 'unavailable', unconfirmed: { event: 'login', isKept: true } });
    expect((await first.session().record()).sid).toBe(record.sid);
    await second.store.synchronize?.();
    expect((await second.session().record()).sid).toBe(record.sid);
  });

  it('is a success if only the reply of the commit was lost', async () => {
    const { first, tryLogin, server } = await twoMachines();
    let commits = 0;
    interceptOperations(server, async (operation, run) => {
      const snapshot = await run(operation);
      if (operation.op === 'commit' && ++commits === 1) throw away;
      return snapshot;
    });
    const { record, written } = await tryLogin(first);
    expect(written).toMatchObject({ kind: 'done', replaced: { record: { gen: 1 } } });
    expect([commits, server.row()?.sid]).toEqual([1, record.sid]);
  });

  it('is stored by the next command of its machine that reads the store: a warning tells what is not revoked', async () => {
    const { first, tryLogin, server } = await twoMachines();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') throw away;
      return run(operation);
    });
    const { record } = await tryLogin(first);
    expect(server.row()?.sid).not.toBe(record.sid);
    undo();
    await first.store.synchronize?.();
    expect(server.row()?.sid).toBe(record.sid);
    await first.store.synchronize?.();
    expect(first.deps.warnings).toHaveLength(1);
    expectGolden('auth-share', first.deps.warnings.join('\n'));
  });

  it('and that another login of the same machine replaces is named in a warning', async () => {
    const { first, tryLogin, server } = await twoMachines();
    interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') throw away;
      return run(operation);
    });
    await tryLogin(first);
    expect(first.deps.warnings).toEqual([]);
    const { written } = await tryLogin(first);
    expect(written).toMatchObject({ unconfirmed: { isKept: true } });
    expect(first.deps.warnings).toHaveLength(1);
    expectGolden('auth-share', first.deps.warnings.join('\n'));
  });

  it('and that another login replaces is not used any more: a warning tells that its tokens may be valid', async () => {
    const { first, second, login, tryLogin, server } = await twoMachines();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') throw away;
      return run(operation);
    });
    await tryLogin(first);
    undo();
    const record = await login(second);
    await first.store.synchronize?.();
    expect((await first.session().record()).sid).toBe(record.sid);
    expect(first.deps.warnings).toEqual([expect.stringContaining('control panel')]);
  });

  it('and that is stored later is replaced by another login without a second warning', async () => {
    const { first, second, login, tryLogin, server } = await twoMachines();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') throw away;
      return run(operation);
    });
    await tryLogin(first);
    undo();
    await first.store.synchronize?.();
    expect(first.deps.warnings).toHaveLength(1);
    await login(second);
    await first.store.synchronize?.();
    expect(first.deps.warnings).toHaveLength(1);
  });

  it('and whose copy cannot be written either is not said to be kept', async () => {
    const { sandbox, first, server } = await twoMachines();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op !== 'commit') return run(operation);
      rmSync(first.place.sharedCopyFile, { recursive: true, force: true });
      mkdirSync(first.place.sharedCopyFile);
      throw away;
    });
    const failure = await storeGrant(sandbox, first).then(String, (error: unknown) => error);
    undo();
    expect(failure).toMatchObject({ exitCode: 6 });
    expectGolden('auth-share', errorText(failure));
    expect(first.deps.warnings).toHaveLength(1);
    expect(revocations(sandbox)).toEqual([]);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('is not repeated after %s, and the error tells that it may be stored', async (signal, exitCode) => {
    const { sandbox, first, server } = await twoMachines();
    let commits = 0;
    interceptOperations(server, async (operation, run) => {
      if (operation.op !== 'commit') return run(operation);
      commits += 1;
      expect(first.host.signal(signal)).toBe(1);
      throw away;
    });
    const failure = await storeGrant(sandbox, first).then(String, (error: unknown) => error);
    expect(failure).toMatchObject({ code: 'cancelled', exitCode });
    expectGolden('auth-share', errorText(failure));
    expect(commits).toBe(1);
    expect(revocations(sandbox)).toEqual([]);
    expect(first.host.signal(signal)).toBe(0);
  });
});

it('a login that the store rejects fails at once', async () => {
  const { first, tryLogin, server, keys } = await twoMachines();
  const { operations } = server;
  const before = server.row();
  operations.length = 0;
  interceptOperations(server, async (operation, run) => {
    if (operation.op !== 'commit') return run(operation);
    operations.push(operation);
    throw new DatabaseError('42501', 'permission denied', false);
  });
  const { written } = await tryLogin(first);
  expect(written).toMatchObject({ kind: 'unavailable', isRejected: true });
  expect(written).not.toHaveProperty('unconfirmed');
  expect(operations.map(({ op }) => op)).toEqual(['read', 'commit']);
  expect(server.row()).toEqual(before);
  expect(readLocalCopyOfSharedSession(first.place, keys.share)).toMatchObject({ sid: before?.sid });
});

describe('a login whose first commit failed', () => {
  it('revokes the tokens of a refresh that came before the repetition', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    let renewed: Secret | undefined;
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op !== 'commit') return run(operation);
      undo();
      renewed = (await second.session().forceRefresh()).accessToken;
      throw away;
    });
    const { record } = await storeGrant(sandbox, first);
    if (renewed === undefined) throw new Error('the session was not refreshed');
    expect(server.row()?.sid).toBe(record.sid);
    expect(await statusAtApi(sandbox, renewed)).toBe(404);
  });
});

describe('a signal during a login', () => {
  it('before the commit: nothing is sent, and the grant is revoked', async () => {
    const { sandbox, first, server, s0 } = await twoMachines();
    const seen: string[] = [];
    interceptOperations(server, async (operation, run) => {
      seen.push(operation.op);
      first.host.signal('SIGINT');
      return run(operation);
    });
    await expect(storeGrant(sandbox, first)).rejects.toMatchObject({ code: 'cancelled', exitCode: 130 });
    expect(seen).toEqual(['read', 'read']);
    expect(revocations(sandbox)).toHaveLength(1);
    expect(server.row()?.sid).toBe(s0.sid);
  });

  it('during the commit that is stored: the result names it, and the replaced session is revoked', async () => {
    const { sandbox, first, server, s0 } = await twoMachines();
    interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') first.host.signal('SIGTERM');
      return run(operation);
    });
    expect(await storeGrant(sandbox, first)).toMatchObject({ interruptedBy: 'SIGTERM' });
    expect(await statusAtApi(sandbox, s0.accessToken)).toBe(404);
  });

  it('during the commit that the store rejects: the command is interrupted', async () => {
    const { sandbox, first, server } = await twoMachines();
    interceptOperations(server, async (operation, run) => {
      if (operation.op !== 'commit') return run(operation);
      first.host.signal('SIGINT');
      throw new DatabaseError('42501', 'permission denied', false);
    });
    await expect(storeGrant(sandbox, first)).rejects.toMatchObject({ code: 'cancelled', exitCode: 130 });
    expect(revocations(sandbox)).toHaveLength(1);
  });
});

describe('two logins at the same moment', () => {
  it('one of them is stored; the other one is revoked, and reported if it was not replaced', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    const both = await Promise.allSettled([storeGrant(sandbox, first), storeGrant(sandbox, second)]);
    const sid = server.row()?.sid;
    const stored = both.flatMap((result) => (result.status === 'fulfilled' ? [result.value.record] : []));
    expect(stored.filter((record) => record.sid === sid)).toHaveLength(1);
    for (const record of stored)
      expect(await statusAtApi(sandbox, record.accessToken)).toBe(record.sid === sid ? 200 : 404);
    // The session that both replace, and the login that is not in the store.
    expect(revocations(sandbox)).toHaveLength(2);
  });

  it('a login that meets another one of the same epoch is not stored', async () => {
    const { sandbox, first, second, server } = await twoMachines();
    let other: LoginResult | undefined;
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op !== 'commit') return run(operation);
      undo();
      other = await storeGrant(sandbox, second);
      return run(operation);
    });
    const failure = await storeGrant(sandbox, first).then(String, (error: unknown) => error);
    if (other === undefined) throw new Error('there was no other login');
    expect(failure).toMatchObject({ code: 'unreachable' });
    expectGolden('auth-share', errorText(failure).replaceAll(String(server.row()?.epoch), 'EPOCH'));
    expect(server.row()?.sid).toBe(other.record.sid);
    expect(await statusAtApi(sandbox, other.record.accessToken)).toBe(200);
  });

  it.each([
    ['the program', false],
    ['the connection', true],
  ])('a login whose reply was lost and that %s repeats does not replace the later one', async (_name, inside) => {
    const { sandbox, first, second, server, clockOffset } = await twoMachines();
    const calls = createReconnectingCall<object>({ connect: async () => ({}), end: () => undefined });
    let isLater = false;
    let later: LoginResult | undefined;
    const commits: boolean[] = [];
    interceptOperations(server, async (operation, run) => {
      const work = async () => {
        const snapshot = await run(operation);
        if (operation.op !== 'commit') return snapshot;
        commits.push(snapshot.applied);
        if (isLater) return snapshot;
        isLater = true;
        clockOffset.ms = 6_000;
        later = await storeGrant(sandbox, second);
        throw inside ? new DatabaseError('ECONNRESET', 'connection lost', true) : away;
      };
      return inside && !isLater ? calls.run(work) : work();
    });
    await expect(storeGrant(sandbox, first)).rejects.toMatchObject({ code: 'unreachable' });
    if (later === undefined) throw new Error('there was no later login');
    expect(commits).toEqual(inside ? [true, true, false] : [true, true]);
    expect(server.row()?.sid).toBe(later.record.sid);
    expect(await statusAtApi(sandbox, later.record.accessToken)).toBe(200);
  });
});

it('a login revokes the record that the store has, although the machine knew an older one', async () => {
  const { sandbox, first, second, server } = await twoMachines();
  let reads = 0;
  let renewed: Secret | undefined;
  interceptOperations(server, async (operation, run) => {
    if (operation.op === 'read' && ++reads === 2) renewed = (await second.session().forceRefresh()).accessToken;
    return run(operation);
  });
  await storeGrant(sandbox, first);
  if (renewed === undefined) throw new Error('the session was not refreshed');
  expect(await statusAtApi(sandbox, renewed)).toBe(404);
});
