import { randomBytes } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { CliError } from '../../src/base/errors.ts';
import { DatabaseConnectError } from '../../src/platform/connect-error.ts';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import { decodeCredentialRecord } from '../../src/session/credential-record.ts';
import { createFileCredentialStore } from '../../src/session/file-store.ts';
import { performLogout } from '../../src/session/logout.ts';
import { profilePaths } from '../../src/session/profile-paths.ts';
import { createSharedSessionEncryptor } from '../../src/session/sealed-session.ts';
import type { SessionRefreshDeps } from '../../src/session/session-refresh-deps.ts';
import { readLocalCopyOfSharedSession } from '../../src/session/shared-copy.ts';
import { createSharedCredentialStore } from '../../src/session/shared-credential-store.ts';
import { loadStoredSession } from '../../src/session/stored-session.ts';
import { addShareEncryptionKey } from '../../src/shared-store/share-encryption-keys.ts';
import type { SharedSessionOperation } from '../../src/shared-store/shared-session.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { testHost } from '../fixtures/host.ts';
import { profileNamed } from '../fixtures/profile.ts';
import { bindingTo } from '../fixtures/session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { interceptOperations, sharedMachines } from './shared-machines.ts';

const refreshesOf = (sandbox: SandboxServers) =>
  sandbox.requests('POST /v1/oauth/token').filter((one) => one.grant_type === 'refresh_token');

async function twoMachines(seconds: number) {
  const sandbox = await sandboxFor();
  const all = sharedMachines(sandbox);
  const [first, second] = [all.machine('ci-1#a'), all.machine('ci-2#b')];
  await all.login(first, seconds);
  return { sandbox, ...all, first, second };
}

describe('a session that two machines share', () => {
  it('is refreshed by one of them, and the other uses the new token', async () => {
    const { sandbox, first, second, server } = await twoMachines(60);
    const tokens = await Promise.all([first.session().bearer(), second.session().bearer()]);
    expect(tokens[0].reveal()).toBe(tokens[1].reveal());
    expect(refreshesOf(sandbox)).toHaveLength(1);
    expect(server.row()).toMatchObject({ gen: 2, holder: undefined, intentGen: undefined });
    const log = await server.readLog(10);
    expect(log.map(({ event }) => event)).toEqual(['refresh', 'claim', 'login']);
  });

  it('needs no statement while the copy on the machine is valid', async () => {
    const { first, server } = await twoMachines(3600);
    server.operations.length = 0;
    await first.session().bearer();
    expect(server.operations).toEqual([]);
    await first.store.synchronize?.();
    expect(server.operations.map(({ op }) => op)).toEqual(['read']);
  });

  it('is measured by the clock of the store', async () => {
    const { sandbox, first, clockOffset } = await twoMachines(3600);
    clockOffset.ms = 7_200_000;
    await first.store.synchronize?.();
    await first.session().bearer();
    expect(refreshesOf(sandbox)).toHaveLength(1);
    expect(first.store.clock?.now()).toBeGreaterThan(Date.now() + 7_000_000);
  });

  it('is read again when the API refuses the token of the copy', async () => {
    const { sandbox, first, second } = await twoMachines(3600);
    const old = await second.session().bearer();
    const renewed = await first.session().forceRefresh();
    const current = await second.session().renew(old);
    expect(current.reveal()).toBe(renewed.accessToken.reveal());
    expect(refreshesOf(sandbox)).toHaveLength(1);
  });
});

it('a forced refresh replaces the tokens that the store has, also when the copy on the machine is older', async () => {
  const { sandbox, first, second, server } = await twoMachines(3600);
  await second.store.synchronize?.();
  await first.session().forceRefresh();
  await second.session().forceRefresh();
  expect(refreshesOf(sandbox).map(({ status }) => status)).toEqual([200, 200]);
  expect(server.row()).toMatchObject({ gen: 3 });
});

describe('a store that was restored from a backup', () => {
  it('gets the newest record from a machine that has seen it', async () => {
    const { sandbox, first, second, server } = await twoMachines(3600);
    const backup = server.row();
    await first.session().forceRefresh();
    server.restore(backup);
    await first.store.synchronize?.();
    expect(server.row()).toMatchObject({ gen: 2 });
    await second.store.synchronize?.();
    await second.session().forceRefresh();
    expect(refreshesOf(sandbox).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('gets the tombstone of a logout, so that the session does not come back', async () => {
    const { first, second, server } = await twoMachines(3600);
    await second.store.synchronize?.();
    const backup = server.row();
    await first.store.withItems((items) => items.remove('credential'));
    const { epoch } = server.row() ?? {};
    server.restore(backup);
    await first.store.synchronize?.();
    expect(server.row()?.epoch).toBe(epoch);
    expect(await loadStoredSession(second.store, second.deps.binding)).toMatchObject({ kind: 'found' });
    await second.store.synchronize?.();
    expect(await loadStoredSession(second.store, second.deps.binding)).toMatchObject({ kind: 'absent' });
  });

  it('without such a machine: needs_login, the token is sent once, and nothing is deleted', async () => {
    const { sandbox, first, second, server } = await twoMachines(60);
    const backup = server.row();
    await first.session().bearer();
    server.restore(backup);
    await expect(second.session().bearer()).rejects.toMatchObject({ code: 'needs_login', exitCode: 4 });
    await expect(second.session().bearer()).rejects.toMatchObject({ code: 'needs_login' });
    expect(refreshesOf(sandbox).map(({ status }) => status)).toEqual([200, expect.any(Number)]);
    expect(server.row()).toMatchObject({ gen: 1, refusedGen: 1 });
    // The machine that has the record runs again, which clears the refusal.
    await first.store.synchronize?.();
    expect(server.row()).toMatchObject({ gen: 2, refusedGen: undefined });
    await second.session().bearer();
    expect(refreshesOf(sandbox)).toHaveLength(2);
  });

  it('a machine that was refused is not waited for, because it has no newer record', async () => {
    const { first, second, machine, server } = await twoMachines(60);
    const third = machine('ci-3#c');
    const backup = server.row();
    await first.session().bearer();
    server.restore(backup);
    await expect(second.session().bearer()).rejects.toMatchObject({ code: 'needs_login' });
    expect(server.row()).toMatchObject({ refusedGen: 1, intentBy: undefined });
    const older = { detail: expect.stringContaining('may be older than the session') };
    await expect(third.session().bearer()).rejects.toMatchObject({ code: 'needs_login', ...older });
  });
});

describe('a machine that sends no client credentials to a server that requires them', () => {
  const refusing: Partial<SessionRefreshDeps> = {
    createSender: async () => async () => ({
      status: 400,
      headers: new Headers({ 'content-type': 'application/json' }),
      body: Readable.from([Buffer.from('{"error":"invalid_grant"}')]),
      text: async () => '{"error":"invalid_grant"}',
    }),
  };

  it('ends no session: auth refresh sends the token once more', async () => {
    const { sandbox, first, machine, server } = await twoMachines(60);
    const refused = machine('ci-3#c', refusing);
    await refused.store.synchronize?.();
    await expect(refused.session().bearer()).rejects.toMatchObject({ code: 'needs_login' });
    expect(server.row()).toMatchObject({ gen: 1, refusedGen: 1 });
    await expect(first.session().bearer()).rejects.toMatchObject({ code: 'needs_login' });
    expect(refreshesOf(sandbox)).toEqual([]);
    expect((await first.session().forceRefresh()).gen).toBe(2);
    expect(server.row()).toMatchObject({ gen: 2, refusedGen: undefined });
  });

  it('is told how to send them, if the server may not follow docs/service.md', async () => {
    const { machine, tryLogin } = await twoMachines(60);
    const refused = machine('ci-3#c', refusing);
    await tryLogin(refused, 60, { isSpecServer: false });
    expectGolden(
      'auth-share',
      errorText(
        await refused
          .session()
          .forceRefresh()
          .catch((caught) => caught),
      ),
    );
  });
});

describe('tokens of this machine that another login replaces', () => {
  it('before the store has them are named, because no machine revokes them', async () => {
    const { first, second, login, server } = await twoMachines(3600);
    await first.store.synchronize?.();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') throw new DatabaseConnectError('network', 'ECONNREFUSED', 'refused');
      return run(operation);
    });
    await first.session().forceRefresh();
    undo();
    await login(second);
    first.deps.warnings.splice(0);
    await first.store.synchronize?.();
    expectGolden('auth-share', first.deps.warnings.join('\n'));
  });

  it('in the same second, after the store lost the first one, are named', async () => {
    const { first, second, login, server } = await twoMachines(3600);
    const before = server.row();
    await login(first);
    const { epoch } = server.row() ?? {};
    server.restore(before);
    await login(second);
    expect(server.row()?.epoch).toBe(epoch);
    await first.store.synchronize?.();
    expect(first.deps.warnings).toHaveLength(1);
  });
});

describe('a machine that does not report its refresh', () => {
  it('is not waited for after it has run again without a newer record', async () => {
    const { sandbox, server, first, second } = await twoMachines(60);
    const { epoch = 0, sid = '' } = server.row() ?? {};
    const before = server.row();
    await second.session().forceRefresh();
    // The response to ci-1 was lost, and ci-2 has found that the token is used.
    server.restore(before);
    rmSync(second.place.folder, { recursive: true });
    const found = await loadStoredSession(first.store, first.deps.binding);
    if (found.kind !== 'found') throw new Error('the first machine has no session');
    first.store.journal.reserve(
      { ...found.record, gen: 1 },
      { now: Math.floor(Date.now() / 1000), random: randomBytes },
    );
    await server.run({ op: 'claim', by: first.name, attempt: 'x', leaseMs: -1, epoch, sid, gen: 1 });
    await expect(second.session().bearer()).rejects.toMatchObject({ detail: expect.stringContaining('ci-1#a') });
    expect(server.row()).toMatchObject({ refusedGen: 1, intentBy: 'ci-1#a' });
    const older = { detail: expect.stringContaining('may be older than the session') };
    await expect(first.session().bearer()).rejects.toMatchObject({ code: 'needs_login', ...older });
    expect(server.row()).toMatchObject({ intentBy: undefined });
    await expect(second.session().bearer()).rejects.toMatchObject({ code: 'needs_login', ...older });
    expect(refreshesOf(sandbox)).toHaveLength(2);
  });

  it('is named to the others, which wait for it and send the token once', async () => {
    const { sandbox, server, first, second } = await twoMachines(60);
    await loadStoredSession(second.store, second.deps.binding);
    const { epoch = 0, sid = '' } = server.row() ?? {};
    // ci-1 announced the refresh, and the server processed it.
    await server.run({ op: 'claim', by: first.name, attempt: 'x', leaseMs: -1, epoch, sid, gen: 1 });
    const row = server.row();
    await first.session().forceRefresh();
    server.restore(row);
    const failure = await second
      .session()
      .bearer()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'needs_login', detail: expect.stringContaining('ci-1#a') });
    expect(refreshesOf(sandbox)).toHaveLength(2);
  });

  it('is not waited for longer than its lease', async () => {
    const { server, first, second } = await twoMachines(60);
    const { epoch = 0, sid = '' } = server.row() ?? {};
    await server.run({ op: 'claim', by: first.name, attempt: 'x', leaseMs: 100, epoch, sid, gen: 1 });
    // The access token is still accepted, so the refresh was not processed.
    const session = second.session();
    expect((await session.bearer()).reveal()).toBe((await session.record()).accessToken.reveal());
    expect(server.row()).toMatchObject({ gen: 1, holder: undefined, intentBy: 'ci-1#a' });
  });

  it('that refreshes without end makes the others busy', async () => {
    const { server, first, second } = await twoMachines(60);
    const { epoch = 0, sid = '' } = server.row() ?? {};
    await server.run({ op: 'claim', by: first.name, attempt: 'x', leaseMs: 60_000, epoch, sid, gen: 1 });
    await expect(second.session().bearer()).rejects.toMatchObject({
      code: 'busy',
      detail: expect.stringContaining('ci-1'),
    });
  });
});

const away = new DatabaseConnectError('network', 'ECONNREFUSED', 'connection refused');

describe('a store that does not answer', () => {
  it('does not stop a command whose token is valid, and nothing is sent', async () => {
    const { sandbox, first, server } = await twoMachines(60);
    server.fail(away);
    await first.session().bearer();
    expect(refreshesOf(sandbox)).toEqual([]);
    expect(first.deps.warnings.length).toBeGreaterThan(0);
  });

  it('is unreachable for a command whose token has expired', async () => {
    const { sandbox, first, server } = await twoMachines(-60);
    server.fail(away);
    await expect(first.session().bearer()).rejects.toMatchObject({ code: 'unreachable', exitCode: 6 });
    expect(refreshesOf(sandbox)).toEqual([]);
  });

  it('after the request: the token is used, and a later command publishes the grant from the journal', async () => {
    const { sandbox, machine, login, server, first } = await twoMachines(60);
    const third = machine('ci-3#c', {
      createSender: async () => {
        const send = await first.deps.createSender();
        return async (url, init) => {
          const response = await send(url, init);
          server.fail(away);
          return response;
        };
      },
    });
    await login(third, -60);
    const token = await third.session().bearer();
    expect(server.row()).toMatchObject({ gen: 1, intentBy: 'ci-3#c' });
    server.fail(undefined);
    const record = await third.session().record();
    expect([record.gen, record.accessToken.reveal()]).toEqual([2, token.reveal()]);
    expect(server.row()).toMatchObject({ gen: 2, intentGen: undefined });
    expect(refreshesOf(sandbox)).toHaveLength(1);
    expect((await server.readLog(1))[0]?.event).toBe('publish');
  });
});

it('a state folder that cannot be used is reported as by the file store', async () => {
  const { server, keys } = await twoMachines(60);
  const host = testHost();
  const place = profilePaths(host.folders.state, 'default');
  const store = createSharedCredentialStore({
    profile: profileNamed('default'),
    place,
    keys: async () => keys,
    open: async () => server,
    local: createFileCredentialStore(place),
    location: 'memory',
    machine: () => {
      throw new Error('ENOTDIR: not a directory');
    },
    clock: host.clock,
    random: host.random,
    warn: async () => undefined,
  });
  await store.withItems(async (items) => {
    const read = await items.read('credential');
    const record = read.kind === 'found' ? decodeCredentialRecord(read.value.reveal()) : undefined;
    if (record === undefined) throw new Error(read.kind);
    await expect(
      items.shared?.claim(record, { hasUnfinishedRefresh: false, maySendRefusedToken: false }),
    ).rejects.toMatchObject({
      code: 'keychain_unavailable',
      detail: expect.stringContaining('ENOTDIR'),
    });
  });
});

it('a signal ends the wait after a refusal, and the refresh does not begin again', async () => {
  const { first, machine, server, sandbox } = await twoMachines(60);
  const backup = server.row();
  await first.session().bearer();
  if (backup === undefined) throw new Error('there is no row');
  server.restore({ ...backup, intentGen: 1, intentBy: 'ci-9#z', intentMs: Date.now() });
  const third = machine('ci-3#c');
  const listeners: number[] = [];
  let isRefused = false;
  interceptOperations(server, async (operation, run) => {
    const snapshot = await run(operation);
    // A process without a listener is ended by the signal.
    if (isRefused) listeners.push(third.host.signal('SIGINT'));
    isRefused ||= operation.op === 'refuse';
    return snapshot;
  });
  await expect(third.session().forceRefresh()).rejects.toMatchObject({ code: 'needs_login' });
  expect(new Set(listeners)).toEqual(new Set([0]));
  expect(refreshesOf(sandbox)).toHaveLength(2);
});

describe('a login and a logout', () => {
  it('a login on one machine replaces the session of the others', async () => {
    const { first, second, login, server } = await twoMachines(3600);
    await second.store.synchronize?.();
    const before = server.row()?.epoch ?? 0;
    const record = await login(first);
    expect(server.row()?.epoch).toBeGreaterThan(before);
    await second.store.synchronize?.();
    expect((await second.session().record()).sid).toBe(record.sid);
  });

  it('a grant that meets a newer session is revoked and not stored', async () => {
    const all = await twoMachines(60);
    const { sandbox, login, server, first } = all;
    const slow = refreshingWith(all, () => login(first));
    const record = await slow.session().record();
    expect(record.sid).toBe(server.row()?.sid);
    expect(sandbox.requests('POST /v1/oauth/revoke')).toHaveLength(1);
  });

  it('a logout ends the session for all, and refreshes once without storing the tokens', async () => {
    const { sandbox, first, second, server } = await twoMachines(3600);
    await second.store.synchronize?.();
    const { binding, store, createSender, lock } = first.deps;
    const outcome = await performLogout(
      {
        store,
        createSender,
        lock,
        client: async () => ({ authOrigin: binding.authOrigin, clientId: binding.clientId, tokenParams: 'query' }),
        requireSafe: () => undefined,
        removeAccount: () => undefined,
        probe: async () => 'refused',
      },
      false,
    );
    expect(outcome).toEqual({ kind: 'revoked' });
    expect(refreshesOf(sandbox)).toHaveLength(1);
    expect(server.row()).toMatchObject({ gen: 1 });
    await second.store.synchronize?.();
    expect(await loadStoredSession(second.store, bindingTo(sandbox))).toMatchObject({ kind: 'absent' });
  });
});

/** A machine during whose refresh `work` happens, after the server has processed it. */
function refreshingWith(
  { machine, first }: Pick<Awaited<ReturnType<typeof twoMachines>>, 'machine' | 'first'>,
  work: () => Promise<unknown>,
) {
  let isDone = false;
  return machine('ci-9#z', {
    createSender: async () => {
      const send = await first.deps.createSender();
      return async (url, init) => {
        const response = await send(url, init);
        if (!isDone) await work();
        isDone = true;
        return response;
      };
    },
  });
}

describe('while a machine refreshes', () => {
  it('a later refresh of the same session on another one: the grant is not revoked, which could end the session', async () => {
    const all = await twoMachines(60);
    const { sandbox, keys, server, first } = all;
    const sealer = createSharedSessionEncryptor(keys, 'default', randomBytes);
    const slow = refreshingWith(all, async () => {
      const row = server.row();
      const opened = row === undefined ? undefined : sealer.open(row);
      if (row === undefined || opened?.kind !== 'record') throw new Error('there is no record');
      const expiresAt = Math.floor(Date.now() / 1000) + 3600;
      const newer = sealer.seal({ ...row, gen: 3 }, { ...opened.record, gen: 3, expiresAt });
      await server.run({ op: 'commit', by: 'ci-7#q', event: 'refresh', ...newer });
    });
    expect(await slow.session().record()).toMatchObject({ gen: 3 });
    expect(sandbox.requests('POST /v1/oauth/revoke')).toEqual([]);
    await first.store.synchronize?.();
    expect(server.row()).toMatchObject({ gen: 3 });
  });

  it('another command of this machine that reads the older record does not replace the copy', async () => {
    const { first, server, keys } = await twoMachines(3600);
    const { run } = server;
    Object.assign(server, {
      run: async (operation: SharedSessionOperation) => {
        const snapshot = await run(operation);
        Object.assign(server, { run });
        if (operation.op === 'read') await first.session().forceRefresh();
        return snapshot;
      },
    });
    rmSync(first.place.folder, { recursive: true, force: true });
    await first.store.synchronize?.();
    expect(readLocalCopyOfSharedSession(first.place, keys.share)).toMatchObject({ gen: 2 });
  });

  it('and the server refuses it while the store is away: later commands do not wait for this machine', async () => {
    const { first, second, server } = await twoMachines(60);
    const backup = server.row();
    await first.session().bearer();
    server.restore(backup);
    const { run } = server;
    Object.assign(server, {
      run: async (operation: SharedSessionOperation) => {
        if (operation.op === 'renew' || operation.op === 'refuse') throw away;
        return run(operation);
      },
    });
    await expect(second.session().forceRefresh()).rejects.toMatchObject({ code: 'unreachable' });
    Object.assign(server, { run });
    const failure = await second
      .session()
      .forceRefresh()
      .then(String, (error: CliError) => error);
    expect(failure).toMatchObject({ code: 'needs_login' });
    expect(failure).not.toMatchObject({ detail: expect.stringContaining('ci-2#b') });
  });

  it('a logout on another one: the grant is revoked and not stored', async () => {
    const all = await twoMachines(60);
    const { sandbox, first, server } = all;
    const slow = refreshingWith(all, () => first.store.withItems((items) => items.remove('credential')));
    await expect(slow.session().bearer()).rejects.toMatchObject({ code: 'not_logged_in' });
    expect(sandbox.requests('POST /v1/oauth/revoke')).toHaveLength(1);
    expect(server.row()).toMatchObject({ gen: 1 });
    expect(await loadStoredSession(first.store, first.deps.binding)).toMatchObject({ kind: 'absent' });
    expect((await server.readLog(10)).map(({ event }) => event)).toEqual(['logout', 'claim', 'login']);
  });

  it('a new key: the grant is stored with the key that the machine knows, the next one with the new key', async () => {
    const all = await twoMachines(60);
    const { machine, server, keys } = all;
    const renewed = addShareEncryptionKey(keys, randomBytes);
    const [newest, old] = renewed.keys;
    const activate = async (): Promise<void> => {
      const row = server.row();
      const sealer = createSharedSessionEncryptor(renewed, 'default', randomBytes);
      const opened = row === undefined ? undefined : sealer.open(row);
      if (row === undefined || opened?.kind !== 'record') throw new Error('the record does not open');
      const sealed = sealer.seal(row, opened.record, newest.kid);
      await server.run({ op: 'reseal', by: 'ci-1#a', oldKid: old?.kid ?? '', ...sealed });
    };
    await refreshingWith(all, activate).session().bearer();
    expect(server.row()).toMatchObject({ gen: 2, kid: old?.kid, activeKid: newest.kid });
    const joined = machine('ci-2#b', {}, renewed);
    expect((await joined.session().record()).gen).toBe(2);
    await joined.session().forceRefresh();
    expect(server.row()).toMatchObject({ gen: 3, kid: newest.kid });
  });
});

describe('a row that was not written by a member', () => {
  it('is damaged, and the copy of the machine stays', async () => {
    const { first, server } = await twoMachines(3600);
    const row = server.row();
    if (row === undefined) throw new Error('there is no row');
    server.restore({ ...row, epoch: row.epoch + 1000 });
    expect(
      await first.store.withItems((items) => items.read('credential'), { descriptor: 0, release: () => {} }),
    ).toMatchObject({
      kind: 'found',
    });
    expect(existsSync(first.place.sharedCopyFile)).toBe(true);
    server.restore(row);
    expect((await first.session().record()).gen).toBe(1);
  });

  it('and a new key that the machine does not have: the refresh names the command that adds the key', async () => {
    const { second, machine, server, keys } = await twoMachines(3600);
    const renewed = addShareEncryptionKey(keys, randomBytes);
    await second.store.synchronize?.();
    const old = await second.session().bearer();
    const third = machine('ci-3#c', {}, renewed);
    const row = server.row();
    if (row === undefined) throw new Error('there is no row');
    server.restore({ ...row, activeKid: renewed.keys[0].kid });
    await third.session().forceRefresh();
    server.operations.length = 0;
    const failure = await second
      .session()
      .renew(old)
      .then(String, (error: CliError) => error);
    expect(failure).toMatchObject({ code: 'unreachable' });
    expectGolden('auth-share', errorText(failure).replace(renewed.keys[0].kid, 'KID'));
    expect(server.operations.length).toBeLessThan(5);
  });

  it('with an unknown key is unavailable, with the command that adds the key', async () => {
    const { first, second, server } = await twoMachines(3600);
    const row = server.row();
    if (row === undefined) throw new Error('there is no row');
    server.restore({ ...row, kid: 'ffffffff' });
    expect(await second.store.synchronize?.()).toMatchObject({ kind: 'unavailable', why: 'shared' });
    expect(first.name).toBe('ci-1#a');
  });
});
