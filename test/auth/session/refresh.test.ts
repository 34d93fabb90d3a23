import { execFileSync } from 'node:child_process';
import fs, { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Failpoint } from '../../../src/auth/session/failpoints.ts';
import { beginEntry, findNewest } from '../../../src/auth/session/journal.ts';
import { logOut } from '../../../src/auth/session/logout.ts';
import { journalPath, listJournals, profilePaths } from '../../../src/auth/session/paths.ts';
import { storedProvider } from '../../../src/auth/session/provider.ts';
import { decodeRecord, encodeRecord, recordCodec, type SessionRecord } from '../../../src/auth/session/record.ts';
import { refreshSession, writeIfCurrent } from '../../../src/auth/session/refresh.ts';
import type { SessionRun } from '../../../src/auth/session/run.ts';
import { type CredentialStore, fileUnavailable, removeLeftovers } from '../../../src/auth/session/store.ts';
import { loadSession } from '../../../src/auth/session/stored.ts';
import { Secret } from '../../../src/base/secret.ts';
import { SendError } from '../../../src/platform/http-sender.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { closedOrigin, type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { keychainStoreOf } from '../../fixtures/session.ts';
import {
  diskThatFillsNothing,
  expectAlive,
  failingDisk,
  grantedTokens as granted,
  grantsTokens,
  machineWith,
  sessionAt,
  singleUseServer,
  storeOnDisk,
  token,
  unexpired,
} from './session-fixture.ts';

const due = { kind: 'due' } as const;

const withoutTime = (text: string): string => text.replace(/until \d\d:\d\d/, 'until TIME');

describe('a refresh', () => {
  it('stores the new tokens under the next generation of the same session', async () => {
    const { origin, seen } = await serverFor(grantsTokens);
    const { run, stored, record } = await sessionAt(origin);
    const { record: renewed } = await refreshSession(run, due);
    expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/v1/oauth/token?grant_type=refresh_token&refresh_token=rt-1', ''],
    ]);
    expect(renewed.accessToken.reveal()).toBe('at-2');
    expect(stored()).toMatchObject({ sid: record.sid, gen: 2, accountUuid: 'u-2', scope: 'read' });
    expect(stored()?.refreshToken?.reveal()).toBe('rt-2');
    expect(stored()?.journalKey.reveal()).toBe(record.journalKey.reveal());
    expect((stored()?.expiresAt ?? 0) - (stored()?.obtainedAt ?? 0)).toBe(3600);
  });

  it('keeps what the answer leaves out', async () => {
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, { access_token: 'at-2', token_type: 'bearer', expires_in: 60 }),
    );
    const { run, stored } = await sessionAt(origin, { accountUuid: 'u-1', scope: 'read write' });
    await refreshSession(run, due);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
    expect(stored()).toMatchObject({ accountUuid: 'u-1', scope: 'read write' });
  });

  it.each([7, { token: 'rt-2' }, [], false, 'rt\u001b2', 'rt 2', 'r'.repeat(65_537)])(
    'keeps the access token beside a refresh token that cannot be used, and never sends the replaced one (%#)',
    async (refresh_token) => {
      const { origin, seen } = await serverFor((_, response) => reply(response, 200, { ...granted, refresh_token }));
      const { run, stored } = await sessionAt(origin, { scope: 'read' });
      const { record } = await refreshSession(run, due);
      expect(record.accessToken.reveal()).toBe('at-2');
      expect(stored()).toMatchObject({ gen: 2, accountUuid: 'u-2', scope: 'read' });
      expect(stored()).toEqual(record);
      expect(stored()?.refreshToken).toBeUndefined();
      expect((stored()?.expiresAt ?? 0) - (stored()?.obtainedAt ?? 0)).toBe(3600);
      expect(run.warnings).toHaveLength(1);
      if (refresh_token === 7) expectGolden('auth', withoutTime(run.warnings.join('\n')));
      const forced = refreshSession(run, { kind: 'forced', sid: record.sid, gen: 2 });
      await expect(forced).rejects.toMatchObject({ code: 'needs_login' });
      expect(seen).toHaveLength(1);
    },
  );

  it.each([
    ['read', 'read write'],
    ['read write', 'read'],
    ['read', 'write'],
    ['read', 'admin:\u001b[31m*'],
  ])('that changes the scope from %j to %j says so', async (scope, next) => {
    const { origin } = await serverFor((_, response) => reply(response, 200, { ...granted, scope: next }));
    const { run, stored } = await sessionAt(origin, { scope });
    await refreshSession(run, due);
    expect(stored()?.scope).toBe(next);
    expectGolden('auth', run.warnings.join('\n'));
  });

  it('says nothing of the same scope in another order', async () => {
    const { origin } = await serverFor((_, response) => reply(response, 200, { ...granted, scope: 'write read' }));
    const { run } = await sessionAt(origin, { scope: 'read write' });
    await refreshSession(run, due);
    expect(run.warnings).toEqual([]);
  });

  it('lives as long as the one before where the server does not say how long', async () => {
    const { expires_in: _, ...silent } = granted;
    const { origin } = await serverFor((_request, response) => reply(response, 200, silent));
    const now = Math.floor(Date.now() / 1000);
    const { run, stored } = await sessionAt(origin, { obtainedAt: now - 7300, expiresAt: now - 100 });
    await refreshSession(run, due);
    const next = stored();
    expect(next).toMatchObject({ gen: 2 });
    expect((next?.expiresAt ?? 0) - (next?.obtainedAt ?? 0)).toBe(7200);
  });

  it('is not sent when somebody else did it while the lock was awaited', async () => {
    const { origin, seen } = await serverFor(grantsTokens);
    const { run, record } = await sessionAt(origin);
    const fresh = { ...record, gen: 2, accessToken: new Secret('sibling'), expiresAt: record.expiresAt + 10_000 };
    const lock: SessionRun['lock'] = async () => {
      await run.store.withItems((items) => items.write('credential', encodeRecord(fresh)));
      return run.lock();
    };
    for (const cause of [
      due,
      { kind: 'refused', token: new Secret('at-1') },
      { kind: 'forced', sid: record.sid, gen: 1 },
    ] as const) {
      expect((await refreshSession({ ...run, lock }, cause)).record.accessToken.reveal()).toBe('sibling');
    }
    expect(seen).toHaveLength(0);
  });

  it('carries client credentials only where the server wants them', async () => {
    const { origin, seen } = await serverFor(grantsTokens);
    const client = {
      authOrigin: origin,
      clientId: 'client-1',
      clientSecret: new Secret('shh'),
      tokenParams: 'body',
    } as const;
    const { run } = await sessionAt(origin);
    const settings = { ...run.settings, values: { ...run.settings.values, token_params: 'body' as const } };
    await refreshSession({ ...run, settings, client: async () => client }, due);
    expect(seen[0]).toMatchObject({
      url: '/v1/oauth/token',
      body: 'grant_type=refresh_token&refresh_token=rt-1&client_id=client-1&client_secret=shh',
    });
  });

  it('is not sent while the environment would print it', async () => {
    const { origin, seen } = await serverFor(grantsTokens);
    const { run } = await sessionAt(
      origin,
      {},
      {
        requireSafe: () => {
          throw new Error('NODE_DEBUG');
        },
      },
    );
    await expect(refreshSession(run, due)).rejects.toThrow('NODE_DEBUG');
    expect(seen).toHaveLength(0);
  });

  it('of a session without refresh token is a login, and nothing is sent', async () => {
    const { origin, seen } = await serverFor(grantsTokens);
    const { run, record, stored } = await sessionAt(origin);
    const { refreshToken: _none, ...bare } = record;
    await run.store.withItems((items) => items.write('credential', encodeRecord(bare)));
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'needs_login', exitCode: 4 });
    expect(stored()?.accessToken.reveal()).toBe('at-1');
    expect(seen).toHaveLength(0);
  });

  it('frees its lock however it ends', async () => {
    const { origin } = await serverFor((_, response) => reply(response, 400, { error: 'invalid_request' }));
    const { run } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toThrow();
    (await run.lock()).release();
  });
});

describe('a refresh token that is refused', () => {
  const refuses: RequestHandler = (_, response) =>
    reply(response, 400, { error: 'invalid_grant', error_description: 'used' });

  it('ends the session, and what is still good stays: the access token', async () => {
    const { origin, seen } = await serverFor(refuses);
    const { run, stored, host } = await sessionAt(origin, {
      expiresAt: Math.floor(Date.now() / 1000) + 120,
      obtainedAt: Math.floor(Date.now() / 1000) - 3480,
      accountUuid: 'u-1',
    });
    const error = await refreshSession(run, due).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'needs_login', exitCode: 4, hint: '`cloudctl auth login`' });
    expectGolden('auth', withoutTime(errorText(error)));
    expect(stored()?.accessToken.reveal()).toBe('at-1');
    expect(stored()).not.toHaveProperty('refreshToken');
    expect(stored()?.expiresAt).toBeGreaterThan(host.clock.now() / 1000 + 60);
    expect(seen).toHaveLength(1);
  });

  it('leaves nothing good of a session whose access token was refused as well', async () => {
    const { origin } = await serverFor(refuses);
    const { run, stored, host } = await sessionAt(origin, { expiresAt: Math.floor(Date.now() / 1000) + 9_999 });
    const refreshed = refreshSession(run, { kind: 'refused', token: new Secret('at-1') });
    const error = await refreshed.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'needs_login' });
    expectGolden('auth', errorText(error));
    expect(stored()?.expiresAt).toBeLessThanOrEqual(host.clock.now() / 1000);
  });
});

describe('a signal during a refresh', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s waits for the commit and then ends with %d', async (signal, exitCode) => {
    const { origin } = await serverFor((_, response) => {
      expect(host.signal(signal)).toBe(1);
      setTimeout(() => reply(response, 200, granted), 30);
    });
    const { run, stored, host } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'cancelled', exitCode });
    expect(stored()?.gen).toBe(2);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-2');
    expect(host.signal(signal)).toBe(0);
  });

  it('ends with its status although the refresh failed', async () => {
    const { origin } = await serverFor((_, response) => {
      host.signal('SIGTERM');
      reply(response, 400, { error: 'invalid_request' });
    });
    const { run, stored, host } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'cancelled', exitCode: 143 });
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
  });
});

describe('the commit of a refresh', () => {
  it('is of any length', async () => {
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, { ...granted, access_token: 'x'.repeat(4_000) }),
    );
    const { run, stored } = await sessionAt(origin);
    await refreshSession(run, due);
    expect(stored()?.accessToken.reveal()).toHaveLength(4_000);
    expect(run.warnings).toEqual([]);
  });

  it('is in the journal at the last byte that was announced, before the connection tells its end', async () => {
    const { run, stored } = await sessionAt(await closedOrigin());
    const body = JSON.stringify(granted);
    const seen: unknown[] = [];
    const send = async () => async () => ({
      status: 200,
      headers: { get: (name: string) => (name === 'content-length' ? String(body.length) : null) },
      text: async () => body,
      body: (async function* () {
        yield Buffer.from(body);
        seen.push(await loadSession(run.store, run.binding));
        throw new SendError('connection', true, 'it was reset');
      })(),
    });
    expect((await refreshSession({ ...run, send }, due)).record.gen).toBe(2);
    expect(seen).toMatchObject([{ kind: 'found', pending: true, inDoubt: false, record: { gen: 2 } }]);
    expect(stored()?.gen).toBe(2);
  });

  it('that the journal refuses is made all the same', async () => {
    const { origin } = await serverFor(grantsTokens);
    const { run, stored, place } = await sessionAt(origin);
    await refreshSession({ ...run, store: storeOnDisk(run.store, diskThatFillsNothing) }, due);
    expect(stored()?.gen).toBe(2);
    expect(run.warnings).toEqual([]);
    expect(listJournals(place)).toEqual([]);
  });

  it.each(['ENOSPC', 'EROFS', 'EACCES'])(
    'that has no place on a disk with %s is known before anything is sent',
    async (code) => {
      const { origin, seen } = await serverFor(grantsTokens);
      const { run, stored } = await sessionAt(origin);
      const cause = Object.assign(new Error(`${code}: no`), { code });
      const stores: readonly CredentialStore[] = [
        storeOnDisk(run.store, failingDisk(code, 'create')),
        { ...run.store, checkWritable: () => fileUnavailable(cause) },
      ];
      for (const store of stores) {
        const error = await refreshSession({ ...run, store }, due).catch((caught) => caught);
        expect(error).toMatchObject({ code: 'storage', exitCode: 7 });
        expectGolden('auth', errorText(error));
        expect(seen).toHaveLength(0);
        expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
      }
      await refreshSession(run, due);
      expect(stored()?.gen).toBe(2);
    },
  );

  it.skipIf(process.platform === 'win32').each([
    ['a folder', (path: string) => mkdirSync(path)],
    ['a named pipe', (path: string) => execFileSync('mkfifo', ['-m', '600', path])],
  ])('that finds %s in place of its journal does not speak of disk space', async (_what, create) => {
    const { origin, seen } = await serverFor(grantsTokens);
    const { run, record, place, stored } = await sessionAt(origin);
    create(journalPath(place, record.sid));
    const error = await refreshSession(run, { kind: 'forced', sid: record.sid, gen: 1 }).catch(
      (thrown: unknown) => thrown,
    );
    expectGolden('auth', errorText(error).replaceAll(record.sid, 'SID'));
    expect([seen.length, stored()?.gen]).toEqual([0, 1]);
  });

  it('is made also by a session whose key was shortened', async () => {
    const { origin } = await serverFor(grantsTokens);
    const { run, stored } = await sessionAt(origin, { journalKey: new Secret('short') });
    await refreshSession(run, due);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-2');
  });

  it('is made although another process without the lock removes its temporary file', async () => {
    const { origin } = await serverFor(grantsTokens);
    const { run, stored, place, record, host } = await sessionAt(origin);
    const { renameSync } = fs;
    let removed = 0;
    vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
      if (to === place.credentialFile && removed++ < 3) removeLeftovers(run.store, record.sid, host.clock.now());
      renameSync(from, to);
    });
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    syncBuiltinESMExports();
    await refreshSession(run, due);
    expect([stored()?.gen, removed, run.warnings]).toEqual([2, 4, []]);
  });

  it('leaves no temporary file behind', async () => {
    const { origin } = await serverFor(grantsTokens);
    const { run, host } = await sessionAt(origin);
    await refreshSession(run, due);
    expect(readdirSync(`${host.folders.state}/sessions`).sort()).toEqual(['default.credential.json', 'default.lock']);
  });

  it('that cannot be put in its place costs a warning, and the grant is used by the next command', async () => {
    const { origin, seen } = await serverFor((_, response) => {
      blockFile(place.credentialFile);
      reply(response, 200, granted);
    });
    const { run, stored, place, host, record } = await sessionAt(origin);
    expect((await refreshSession(run, due)).record.accessToken.reveal()).toBe('at-2');
    expect(run.warnings).toHaveLength(1);
    expectGolden('auth', run.warnings.join().replaceAll(host.folders.state, '/state'));
    rmSync(place.credentialFile, { recursive: true });
    await run.store.withItems((items) => items.write('credential', encodeRecord(record)));
    await refreshSession(run, due);
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), seen.length]).toEqual([2, 'rt-2', 1]);
    expect(readdirSync(place.folder).sort()).toEqual(['default.credential.json', 'default.lock']);
  });

  it('that neither the journal nor the store takes is an error, which says that the tokens are lost', async () => {
    const { origin } = await serverFor((_, response) => {
      blockFile(place.credentialFile);
      reply(response, 200, granted);
    });
    const { run, place, host } = await sessionAt(origin);
    const store = storeOnDisk(run.store, diskThatFillsNothing);
    const error = await refreshSession({ ...run, store }, due).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'keychain_unavailable', exitCode: 1 });
    expectGolden('auth', errorText(error).replaceAll(host.folders.state, '/state'));
  });

  it('into a journal that another process has removed since is not promised to later commands', async () => {
    const { origin } = await serverFor((_, response) => {
      blockFile(place.credentialFile);
      for (const { path } of listJournals(place)) rmSync(path);
      reply(response, 200, granted);
    });
    const { run, place } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'keychain_unavailable' });
    expect(run.warnings).toEqual([]);
  });
});

/** As with a file that was mounted in the meantime. */
function blockFile(path: string): void {
  rmSync(path);
  mkdirSync(`${path}/x`, { recursive: true });
}

describe.each(['file', 'keychain'] as const)('a refresh token that is rejected (%s)', (kind) => {
  it('ends the session where the store has nothing newer', async () => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    server.generation = 7;
    await expect(refreshSession(machine.run, due)).rejects.toMatchObject({ code: 'needs_login' });
    expect(machine.stored()?.refreshToken).toBeUndefined();
    expect(machine.traces()).toEqual([]);
  });

  it('does not end a session that another process has refreshed: the newer record is used', async () => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    const sent = machine.stored();
    if (sent === undefined) throw new Error('no session');
    const tokens = { accessToken: token('at-2'), refreshToken: token('rt-2') };
    const newer = { ...sent, gen: 2, ...tokens, expiresAt: sent.expiresAt + 7_200 };
    server.instead.push((_, response) => {
      // The lock of the folder is not shared: the winner stores its grant before the answer for this process arrives.
      void machine.store
        .withItems((items) => items.write('credential', encodeRecord(newer)))
        .then(() => reply(response, 400, { error: 'invalid_grant' }));
    });
    const { record } = await refreshSession(machine.run, due);
    expect([record.gen, record.accessToken.reveal()]).toEqual([2, 'at-2']);
    expect(machine.stored()?.refreshToken?.reveal()).toBe('rt-2');
    expect(machine.traces()).toEqual([]);
  });

  it('by six processes at once, without a lock, is one grant for all of them', async () => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    const lock = async () => ({ descriptor: -1, release: () => undefined });
    const all = await Promise.all(Array.from({ length: 6 }, () => refreshSession(machine.sibling({ lock }), due)));
    expect(all.map(({ record }) => record.accessToken.reveal())).toEqual(all.map(() => 'at-2'));
    expect(machine.stored()?.refreshToken?.reveal()).toBe('rt-2');
    expect(machine.traces()).toEqual([]);
  });
});

describe('the record of a refresh is written', () => {
  const stored = [
    { what: 'the record that was sent', change: {}, kind: 'done' },
    { what: 'an older generation', change: { gen: 2, refreshToken: token('rt-0') }, kind: 'done' },
    { what: 'the same generation that has ended', change: { refreshToken: undefined }, kind: 'done' },
    { what: 'another refresh token', change: { refreshToken: token('rt-other') }, kind: 'superseded' },
    { what: 'a newer generation', change: { gen: 4, refreshToken: token('rt-4') }, kind: 'superseded' },
    { what: 'a newer generation that has ended', change: { gen: 4, refreshToken: undefined }, kind: 'superseded' },
    { what: 'another session', change: { sid: 'fedcba9876543210' }, kind: 'superseded' },
  ];

  it.each(stored)('over $what: $kind', async ({ change, kind }) => {
    const machine = await machineWith(await singleUseServer(), 'file', { gen: 3 });
    const sent = machine.stored();
    if (sent === undefined) throw new Error('no session');
    const { refreshToken: _sent, ...bare } = sent;
    const { refreshToken = sent.refreshToken, ...rest } = change;
    const isEnded = 'refreshToken' in change && change.refreshToken === undefined;
    const present = { ...bare, ...rest, ...(isEnded || refreshToken === undefined ? {} : { refreshToken }) };
    const next = { ...sent, gen: 4, refreshToken: token('rt-new') };
    await machine.store.withItems(async (items) => {
      await items.write('credential', encodeRecord(present));
      expect((await writeIfCurrent(machine.run, items, next, sent)).kind).toBe(kind);
    });
    const expected = kind === 'done' ? next : present;
    expect(machine.stored()?.refreshToken?.reveal()).toBe(expected.refreshToken?.reveal());
  });

  it('does not bring back a session that was logged out', async () => {
    const machine = await machineWith(await singleUseServer(), 'file');
    const sent = machine.stored();
    if (sent === undefined) throw new Error('no session');
    await machine.store.withItems(async (items) => {
      await items.remove('credential');
      const written = await writeIfCurrent(machine.run, items, { ...sent, gen: 2 }, sent);
      expect(written.kind).toBe('superseded');
    });
    expect(machine.stored()).toBeUndefined();
  });
});

describe('a refresh with the keychain', () => {
  it('passes its points in the order of the protocol, and leaves nothing but the item', async () => {
    const { server, machine } = await keychainMachine();
    const passed: string[] = [];
    await refreshSession({ ...machine.run, onFailpoint: (point) => passed.push(point) }, due);
    expect(passed).toEqual([
      'K1-waiting',
      'K1-locked',
      'K2-reserved',
      'K3-sending',
      'K6-answering',
      'K6-partial',
      'K7-read',
      'K7-written',
      'K8-sealed',
      'K9-storing',
      'K10-stored',
      'K10-cleared',
    ]);
    expectAlive(machine.stored()!, server);
    expect(machine.traces()).toEqual([]);
  });

  it('lets the helper of the keychain hold the lock as well, and frees it after the helper', async () => {
    const { machine } = await keychainMachine();
    const order: string[] = [];
    const lock = async () => {
      const held = await machine.run.lock();
      return {
        ...held,
        release: () => {
          order.push('freed');
          held.release();
        },
      };
    };
    const store = keychainStoreOf({
      ...machine.host,
      keychain: {
        open: (options) => {
          const session = machine.host.keychain.open(options);
          order.push(options.lockDescriptor === undefined ? 'without' : 'under the lock');
          return { ...session, close: async () => void order.push('closed') };
        },
      },
    });
    await refreshSession({ ...machine.run, lock, store }, due);
    expect(order).toEqual(['under the lock', 'closed', 'freed']);
  });

  it('seals at the last byte that was announced, however the connection ends', async () => {
    const { server, machine } = await keychainMachine();
    const body = JSON.stringify({ access_token: 'at-2', refresh_token: 'rt-2', token_type: 'bearer', expires_in: 60 });
    const send = async () => async () => ({
      status: 200,
      headers: { get: (name: string) => (name === 'content-length' ? String(body.length) : null) },
      text: async () => body,
      body: (async function* () {
        yield Buffer.from(body.slice(0, 10));
        yield Buffer.from(body.slice(10));
        throw new SendError('connection', true, 'it was reset');
      })(),
    });
    server.generation = 2;
    expectAlive((await refreshSession({ ...machine.run, send }, due)).record, server);
    expectAlive(machine.stored()!, server);
  });

  it('makes one request of many callers and many processes', async () => {
    const { server, machine } = await keychainMachine();
    const sessions = Array.from({ length: 10 }, () => storedProvider(machine.sibling()));
    const bearers = await Promise.all(sessions.flatMap((session) => [session.bearer(), session.bearer()]));
    expect(new Set(bearers.map((bearer) => bearer.reveal()))).toEqual(new Set(['at-2']));
    expect(server.seen).toEqual(['/v1/oauth/token']);
    expect(machine.traces()).toEqual([]);
  });

  it('does not disturb one whose token is good while a sibling refreshes: it waits for the new one', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    let other: Promise<unknown> = Promise.resolve();
    const reached = (point: string): void => {
      if (point === 'K7-read') other = storedProvider(machine.sibling()).bearer();
    };
    await storedProvider({ ...machine.run, onFailpoint: reached }).forceRefresh();
    expect(await other).toMatchObject({});
    expectAlive(machine.stored()!, server);
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });
});

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s between sending and the commit ends with %d, after the commit', async (signal, exitCode) => {
    for (const point of ['K3-sending', 'K6-partial', 'K7-read', 'K8-sealed', 'K9-storing', 'K10-stored']) {
      const { server, machine } = await keychainMachine();
      const reached = (at: string): void => {
        if (at === point) expect(machine.host.signal(signal)).toBe(1);
      };
      await expect(refreshSession({ ...machine.run, onFailpoint: reached }, due)).rejects.toMatchObject({
        exitCode,
      });
      expectAlive(machine.stored()!, server);
      expect(machine.traces()).toEqual([]);
    }
  });
});

describe('other commands at the same time', () => {
  it('a grant for a session that was meanwhile removed is revoked', async () => {
    const { server, machine } = await keychainMachine();
    const onFailpoint = (point: Failpoint): void => {
      if (point === 'K7-read') machine.items.clear();
    };
    await expect(refreshSession({ ...machine.run, onFailpoint }, due)).rejects.toMatchObject({ code: 'not_logged_in' });
    expect(server.seen.at(-1)).toBe('/v1/oauth/revoke');
    expect(machine.traces()).toEqual([]);
  });

  it('a logout between a refusal and the lock is not undone', async () => {
    const { server, machine } = await keychainMachine();
    const lock = async () => {
      await logOut(logoutRun(machine.sibling()), true);
      return machine.run.lock();
    };
    await expect(refreshSession({ ...machine.run, lock }, due)).rejects.toMatchObject({ code: 'not_logged_in' });
    expect([...machine.items]).toEqual([]);
    expect(server.seen).toEqual([]);
  });

  it('a logout after an interrupted refresh revokes the newest token, and no file is left to bring it back', async () => {
    const { machine } = await keychainMachine();
    const reached = (point: string): void => {
      if (point === 'K9-storing') machine.trouble = 'failed';
    };
    await refreshSession({ ...machine.run, onFailpoint: reached }, due);
    machine.trouble = undefined;
    const revoked: string[] = [];
    const logout = logoutRun(machine.sibling());
    const acceptance: Parameters<typeof logOut>[2] = async (_run, record) => {
      revoked.push(record.accessToken.reveal());
      return 'refused';
    };
    const send = async () => async () => ({
      status: 200,
      headers: { get: () => null },
      body: null,
      text: async () => '{}',
    });
    expect(await logOut({ ...logout, send }, false, acceptance)).toEqual({ kind: 'revoked' });
    expect(revoked).toEqual(['at-2']);
    expect(machine.traces()).toEqual([]);
    await expect(storedProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'not_logged_in',
    });
  });

  it('a login between a refusal and the lock is used, and neither overwritten nor deleted', async () => {
    const { server, machine } = await keychainMachine();
    const old = machine.stored()!;
    const fresh = { ...old, ...unexpired(), sid: 'fedcba9876543210', gen: 1, accessToken: token('at-new') };
    for (const cause of [
      due,
      { kind: 'refused', token: old.accessToken },
      { kind: 'forced', sid: old.sid, gen: 1 },
    ] as const) {
      const lock = async () => {
        machine.items.set('default#test', encodeRecord(fresh).reveal());
        return machine.run.lock();
      };
      const { record } = await refreshSession({ ...machine.run, lock }, cause);
      expect(record.accessToken.reveal()).toBe('at-new');
    }
    expect(decodeRecord(machine.items.get('default#test') ?? '')?.sid).toBe('fedcba9876543210');
    expect(server.seen).toEqual([]);
  });

  it('another profile keeps its files', async () => {
    const { machine } = await keychainMachine();
    const other = profilePaths(machine.host.folders.state, 'other');
    const store = keychainStoreOf(machine.host, 'other');
    const theirs = { ...machine.stored()!, sid: 'fedcba9876543210' };
    await store.withItems((items) => items.write('credential', encodeRecord(theirs)));
    const journal = store.journal(theirs.sid);
    const found = findNewest(await journal.read(), theirs, recordCodec);
    const now = Math.floor(Date.now() / 1000);
    (await beginEntry(journal, found, recordCodec, { sentAt: now, random: machine.host.random })).close();
    await refreshSession(machine.run, due);
    await logOut(logoutRun(machine.sibling()), true);
    expect(machine.traces()).toEqual(['other.fedcba9876543210.wal']);
    expect(other.profile).toBe('other');
    expect(findNewest(await journal.read(), theirs, recordCodec)).toMatchObject({ inDoubt: true });
  });
});

async function keychainMachine(record: Partial<SessionRecord> = {}) {
  const server = await singleUseServer();
  return { server, machine: await machineWith(server, 'keychain', record) };
}

function logoutRun(run: SessionRun) {
  const client = async () => ({ ...run.binding, tokenParams: 'query' as const });
  return { timeout: 30_000, ...run, client, send: () => Promise.reject(new Error('sent')) };
}
