import { describe, expect, it } from 'vitest';
import { decodeCredentialRecord, encodeCredentialRecord } from '../../../src/auth/session/credential-record.ts';
import { performLogout } from '../../../src/auth/session/logout.ts';
import { createProfileAccessTokenProvider } from '../../../src/auth/session/profile-access-token-provider.ts';
import { profilePaths } from '../../../src/auth/session/profile-paths.ts';
import { refreshStoredSession } from '../../../src/auth/session/refresh-session.ts';
import { loadStoredSession } from '../../../src/auth/session/stored-session.ts';
import { HttpSendError } from '../../../src/platform/http-sender.ts';
import { reply } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { keychainStoreOf } from '../../fixtures/session.ts';
import { commitsAndDrops, expectAlive, machineWith, singleUseServer, token, unexpired } from './session-fixture.ts';

const due = { kind: 'due' } as const;
const long = 'x'.repeat(1280);

async function setup(...rest: [Parameters<typeof machineWith>[2]?, Parameters<typeof machineWith>[3]?]) {
  const server = await singleUseServer();
  return { server, machine: await machineWith(server, 'keychain', ...rest) };
}

describe('a refresh with the keychain', () => {
  it('passes its points in the order of the protocol, and leaves nothing but the item', async () => {
    const { server, machine } = await setup();
    const passed: string[] = [];
    await refreshStoredSession({ ...machine.deps, onFailpoint: (point) => passed.push(point) }, due);
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
    const { machine } = await setup();
    const order: string[] = [];
    const lock = async () => {
      const held = await machine.deps.lock();
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
    await refreshStoredSession({ ...machine.deps, lock, store }, due);
    expect(order).toEqual(['under the lock', 'closed', 'freed']);
  });

  it('seals at the last byte that was announced, however the connection ends', async () => {
    const { server, machine } = await setup();
    const body = JSON.stringify({ access_token: 'at-2', refresh_token: 'rt-2', token_type: 'bearer', expires_in: 60 });
    const send = async () => async () => ({
      status: 200,
      headers: { get: (name: string) => (name === 'content-length' ? String(body.length) : null) },
      text: async () => body,
      body: (async function* () {
        yield Buffer.from(body.slice(0, 10));
        yield Buffer.from(body.slice(10));
        throw new HttpSendError('connection', true, 'it was reset');
      })(),
    });
    server.generation = 2;
    expectAlive((await refreshStoredSession({ ...machine.deps, createSender: send }, due)).record, server);
    expectAlive(machine.stored()!, server);
  });

  it('makes one request of many callers and many processes', async () => {
    const { server, machine } = await setup();
    const sessions = Array.from({ length: 10 }, () => createProfileAccessTokenProvider(machine.sibling()));
    const bearers = await Promise.all(sessions.flatMap((session) => [session.bearer(), session.bearer()]));
    expect(new Set(bearers.map((bearer) => bearer.reveal()))).toEqual(new Set(['at-2']));
    expect(server.seen).toEqual(['/v1/oauth/token']);
    expect(machine.traces()).toEqual([]);
  });

  it('does not disturb one whose token is good while a sibling refreshes: it waits for the new one', async () => {
    const { server, machine } = await setup(unexpired());
    let other: Promise<unknown> = Promise.resolve();
    const reached = (point: string): void => {
      if (point === 'K7-read') other = createProfileAccessTokenProvider(machine.sibling()).bearer();
    };
    await createProfileAccessTokenProvider({ ...machine.deps, onFailpoint: reached }).forceRefresh();
    expect(await other).toMatchObject({});
    expectAlive(machine.stored()!, server);
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });
});

describe.each(['hung', 'locked', 'missing', 'failed'] as const)('a keychain that is %s at the commit', (why) => {
  it('costs a warning: the token serves, the next command goes on from the file, and the one after stores it', async () => {
    const { server, machine } = await setup();
    const reached = (point: string): void => {
      if (point === 'K9-storing') machine.trouble = why;
    };
    const { record } = await refreshStoredSession({ ...machine.deps, onFailpoint: reached }, due);
    expectAlive(record, server);
    expect(machine.deps.warnings).toHaveLength(1);
    expectGolden('auth', machine.deps.warnings.join('\n'));
    expect(machine.traces()).toEqual(['default.0123456789abcdef.2.wal']);
    machine.trouble = undefined;
    expect(machine.stored()?.gen).toBe(1);
    expectAlive(await createProfileAccessTokenProvider(machine.sibling()).record(), server);
    expectAlive(machine.stored()!, server);
    expect(machine.traces()).toEqual([]);
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });
});

describe('a write that was given up and lands late', () => {
  it('is what decides: the file is removed beside an item of its generation', async () => {
    const { server, machine } = await setup();
    const reached = (point: string): void => {
      if (point === 'K9-storing') machine.trouble = 'hung';
    };
    const { record } = await refreshStoredSession({ ...machine.deps, onFailpoint: reached }, due);
    machine.trouble = undefined;
    machine.items.set('default#test', encodeCredentialRecord(record).reveal());
    expectAlive(await createProfileAccessTokenProvider(machine.sibling()).record(), server);
    expect(machine.traces()).toEqual([]);
  });
});

describe('a grant that is too long for a keychain item', () => {
  it('is used and kept sealed, the warning says what to do, and later refreshes go on from it', async () => {
    const { server, machine } = await setup();
    server.extra = { scope: long };
    const { record } = await refreshStoredSession(machine.deps, due);
    expectAlive(record, server);
    expect(machine.deps.warnings).toEqual([expect.stringMatching(/ credential_store file\b/)]);
    expectGolden('auth', machine.deps.warnings.join('\n'));
    expect(machine.deps.warnings.join()).not.toContain('xxx');
    expect(machine.stored()?.gen).toBe(1);
    const later = machine.sibling();
    expectAlive(await createProfileAccessTokenProvider(later).record(), server);
    // The lock is not even asked for: nothing can be put right.
    expectAlive(
      await createProfileAccessTokenProvider({ ...later, lock: () => Promise.reject(new Error('locked')) }).record(),
      server,
    );
    expectAlive(await createProfileAccessTokenProvider(later).forceRefresh(), server);
    expectAlive(await createProfileAccessTokenProvider(machine.sibling()).record(), server);
    expect(server.generation).toBe(3);
    expect(later.warnings).toHaveLength(1);
    // Short again: the item catches up, and the files go.
    server.extra = {};
    expectAlive(await createProfileAccessTokenProvider(machine.sibling()).forceRefresh(), server);
    expectAlive(machine.stored()!, server);
    expect(machine.traces()).toEqual([]);
  });

  it('is kept whole however long it is', async () => {
    const { server, machine } = await setup();
    server.extra = { info: { name: 'n'.repeat(50_000) }, scope: long };
    await refreshStoredSession(machine.deps, due);
    const stored = await loadStoredSession(machine.store, machine.deps.binding);
    if (stored.kind !== 'found') throw new Error(stored.kind);
    expectAlive(stored.record, server);
  });
});

describe('a refresh in doubt', () => {
  it('asks twice in the first command and once in each later one, until an answer ends it', async () => {
    const { server, machine } = await setup();
    server.instead.push(
      ...Array.from({ length: 4 }, () => (_: unknown, response: { destroy(): void }) => void response.destroy()),
    );
    server.expired = 1;
    const asked = () => server.seen.filter((path) => path === '/v1/oauth/token').length;
    await expect(createProfileAccessTokenProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(asked()).toBe(2);
    expect(machine.traces()).toHaveLength(1);
    await expect(createProfileAccessTokenProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(asked()).toBe(3);
    await expect(createProfileAccessTokenProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(asked()).toBe(4);
    expectAlive(await createProfileAccessTokenProvider(machine.sibling()).record(), server);
    expect(machine.traces()).toEqual([]);
  });

  it('that the server had processed is a login, with the command that leads back', async () => {
    const { server, machine } = await setup({ accountUuid: 'a1b2c3d4-0000', scope: 'read write' });
    server.instead.push(commitsAndDrops(server));
    await expect(createProfileAccessTokenProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'needs_login',
      exitCode: 4,
      hint: '`cloudctl auth login --prompt none --account-hint a1b2c3 --scope "read write"`',
    });
    expect(machine.traces()).toEqual([]);
    await expect(createProfileAccessTokenProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'needs_login',
    });
    expect(server.seen).toHaveLength(2);
  });

  it.each([
    ['invalid_client', 401, 'invalid_client'],
    ['invalid_request', 400, 'api_error'],
  ])('keeps tokens and doubt at %s', async (error, status, code) => {
    const { server, machine } = await setup();
    server.expired = 1;
    const drop = (_: unknown, response: { destroy(): void }) => void response.destroy();
    server.instead.push(drop, drop, (_, response) => reply(response, status, { error }));
    await expect(createProfileAccessTokenProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    await expect(createProfileAccessTokenProvider(machine.sibling()).bearer()).rejects.toMatchObject({ code, status });
    expectAlive(machine.stored()!, server);
    expect(machine.traces()).toHaveLength(1);
    expectAlive(await createProfileAccessTokenProvider(machine.sibling()).record(), server);
  });

  it('of a success that is not understood: the answer stays sealed, the old token is asked for again', async () => {
    const { server, machine } = await setup();
    server.expired = 1;
    server.instead.push((_, response) => reply(response, 200, '<html>', { 'content-type': 'text/html' }));
    await expect(createProfileAccessTokenProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'api_error',
    });
    expect(machine.traces()).toHaveLength(1);
    expectAlive(await createProfileAccessTokenProvider(machine.sibling()).record(), server);
    expect(machine.traces()).toEqual([]);
  });

  it.each([
    ['a refusal', 400],
    ['a redirect', 302],
  ])('there is none after %s: the file goes at once', async (_what, status) => {
    const { server, machine } = await setup();
    server.instead.push((_, response) => reply(response, status, { error: 'invalid_request' }));
    await expect(refreshStoredSession(machine.deps, due)).rejects.toMatchObject({ code: 'api_error' });
    expect(machine.traces()).toEqual([]);
    expectAlive(machine.stored()!, server);
  });
});

describe('a signal', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s between sending and the commit ends with %d, after the commit', async (signal, exitCode) => {
    for (const point of ['K3-sending', 'K6-partial', 'K7-read', 'K8-sealed', 'K9-storing', 'K10-stored']) {
      const { server, machine } = await setup();
      const reached = (at: string): void => {
        if (at === point) expect(machine.host.signal(signal)).toBe(1);
      };
      await expect(refreshStoredSession({ ...machine.deps, onFailpoint: reached }, due)).rejects.toMatchObject({
        exitCode,
      });
      expectAlive(machine.stored()!, server);
      expect(machine.traces()).toEqual([]);
    }
  });
});

describe('other commands at the same time', () => {
  it('a logout between a refusal and the lock is not undone', async () => {
    const { server, machine } = await setup();
    const lock = async () => {
      await performLogout(logoutDeps(machine.sibling()), true);
      return machine.deps.lock();
    };
    await expect(refreshStoredSession({ ...machine.deps, lock }, due)).rejects.toMatchObject({ code: 'not_logged_in' });
    expect([...machine.items]).toEqual([]);
    expect(server.seen).toEqual([]);
  });

  it('a logout after an interrupted refresh revokes the newest token, and no file is left to bring it back', async () => {
    const { machine } = await setup();
    const reached = (point: string): void => {
      if (point === 'K9-storing') machine.trouble = 'failed';
    };
    await refreshStoredSession({ ...machine.deps, onFailpoint: reached }, due);
    machine.trouble = undefined;
    const revoked: string[] = [];
    const deps = logoutDeps(machine.sibling());
    const acceptance = async (record: { accessToken: { reveal(): string } }) => {
      revoked.push(record.accessToken.reveal());
      return 'refused' as const;
    };
    const send = async () => async () => ({
      status: 200,
      headers: { get: () => null },
      body: null,
      text: async () => '{}',
    });
    expect(await performLogout({ ...deps, createSender: send, probe: acceptance }, false)).toEqual({ kind: 'revoked' });
    expect(revoked).toEqual(['at-2']);
    expect(machine.traces()).toEqual([]);
    await expect(createProfileAccessTokenProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'not_logged_in',
    });
  });

  it('a login between a refusal and the lock is used, and neither overwritten nor deleted', async () => {
    const { server, machine } = await setup();
    const old = machine.stored()!;
    const fresh = { ...old, ...unexpired(), sid: 'fedcba9876543210', gen: 1, accessToken: token('at-new') };
    for (const cause of [
      due,
      { kind: 'refused', token: old.accessToken },
      { kind: 'forced', sid: old.sid, gen: 1 },
    ] as const) {
      const lock = async () => {
        machine.items.set('default#test', encodeCredentialRecord(fresh).reveal());
        return machine.deps.lock();
      };
      const { record } = await refreshStoredSession({ ...machine.deps, lock }, cause);
      expect(record.accessToken.reveal()).toBe('at-new');
    }
    expect(decodeCredentialRecord(machine.items.get('default#test') ?? '')?.sid).toBe('fedcba9876543210');
    expect(server.seen).toEqual([]);
  });

  it('another profile keeps its files', async () => {
    const { machine } = await setup();
    const other = profilePaths(machine.host.folders.state, 'other');
    const store = keychainStoreOf(machine.host, 'other');
    const theirs = { ...machine.stored()!, sid: 'fedcba9876543210' };
    await store.withItems((items) => items.write('credential', encodeCredentialRecord(theirs)));
    store.journal.reserve(theirs, { now: 1, random: machine.host.random }).close();
    await refreshStoredSession(machine.deps, due);
    await performLogout(logoutDeps(machine.sibling()), true);
    expect(machine.traces()).toEqual(['other.fedcba9876543210.2.wal']);
    expect(other.profile).toBe('other');
    expect(store.journal.inspect(theirs)).toMatchObject({ inDoubt: true });
  });
});

function logoutDeps({
  store,
  lock,
  requireSafe,
  binding,
}: ReturnType<Awaited<ReturnType<typeof machineWith>>['sibling']>) {
  return {
    store,
    lock,
    requireSafe,
    createSender: () => Promise.reject(new Error('sent')),
    client: async () => ({ ...binding, tokenParams: 'query' as const }),
    removeAccount: () => undefined,
    probe: async () => 'refused' as const,
  };
}
