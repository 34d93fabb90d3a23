import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Failpoint, failpoints } from '../../../src/auth/session/failpoints.ts';
import { type JournalDisk, proofOf } from '../../../src/auth/session/journal.ts';
import { journalPath } from '../../../src/auth/session/paths.ts';
import { storedProvider } from '../../../src/auth/session/provider.ts';
import { encodeRecord, type SessionRecord } from '../../../src/auth/session/record.ts';
import { refreshSession } from '../../../src/auth/session/refresh.ts';
import { loadSession } from '../../../src/auth/session/stored.ts';
import { SendError } from '../../../src/platform/http-sender.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { reply } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import {
  commitsAndDrops,
  diskThatFillsNothing,
  expectAlive,
  failingDisk,
  leaveEntry as leave,
  machineFromSnapshot,
  machineWith,
  type SessionMachine,
  type StoreKind,
  singleUseServer,
  snapshotAt,
  storeOnDisk,
  token,
  unexpired,
} from './session-fixture.ts';

const due = { kind: 'due' } as const;
const day = 86_400;
const long = 'x'.repeat(1280);

async function keychainMachine(record: Partial<SessionRecord> = {}) {
  const server = await singleUseServer();
  return { server, machine: await machineWith(server, 'keychain', record) };
}

const binding = (machine: SessionMachine) => machine.run.binding;

describe('the current record', () => {
  it('is the newest of the item and a write-ahead file that opens, for every reader and without the lock', async () => {
    const { machine } = await keychainMachine();
    leave(machine, { grants: 2 });
    const stored = await loadSession(machine.store, binding(machine));
    expect(stored).toMatchObject({ kind: 'found', pending: true, inDoubt: false, needsRecovery: true });
    expect(stored.kind === 'found' && stored.record.accessToken.reveal()).toBe('at-2');
  });

  it('goes from entry to entry where the store could not follow', async () => {
    const { machine } = await keychainMachine();
    leave(machine, { grants: 2, changes: { scope: 'read write' } });
    const kept = { scope: 'read write', refreshToken: token('rt-2') };
    leave(machine, { grants: 3, gen: 3, changes: kept, isSecond: true });
    const stored = await loadSession(machine.store, binding(machine));
    if (stored.kind !== 'found') throw new Error(stored.kind);
    expect(stored.record).toMatchObject({ gen: 3, scope: 'read write' });
    expect(stored.record.accessToken.reveal()).toBe('at-3');
    expect(stored.record.refreshToken?.reveal()).toBe('rt-2');
  });

  it('is never made of a file of another session or generation, nor of one that was given another name', async () => {
    const { machine } = await keychainMachine();
    const { sid } = machine.stored()!;
    const path = journalPath(machine.place, sid);
    renameSync(leave(machine, { grants: 7, sid: 'fedcba9876543210' }), path);
    expect(await loadSession(machine.store, binding(machine))).toMatchObject({ record: { gen: 1 } });
    // The first line says another generation than the one for which the record was encrypted.
    writeFileSync(path, readFileSync(leave(machine, { grants: 2 }), 'latin1').replace('"gen":2', '"gen":5'), 'latin1');
    expect(await loadSession(machine.store, binding(machine))).toMatchObject({
      record: { gen: 1 },
      inDoubt: true,
    });
    rmSync(path);
    leave(machine, { grants: 7, sid: 'fedcba9876543210' });
    const stored = await loadSession(machine.store, binding(machine));
    expect(stored.kind === 'found' && stored.record.gen).toBe(1);
  });

  it('in a folder that cannot be listed is not known, which is not the same as the item', async () => {
    const { machine } = await keychainMachine();
    mkdirSync(dirname(machine.place.folder), { recursive: true });
    writeFileSync(machine.place.folder, 'a file where the folder should be');
    expect(await loadSession(machine.store, binding(machine))).toMatchObject({
      kind: 'found',
      inDoubt: true,
      needsRecovery: true,
    });
    await expect(storedProvider(machine.run).bearer()).rejects.toThrow();
  });

  it('that was sealed is no record is in doubt', async () => {
    const { machine } = await keychainMachine(unexpired());
    leave(machine, { text: '{"access_token":"","refresh_token":""}' });
    expect(await loadSession(machine.store, binding(machine))).toMatchObject({ pending: false, inDoubt: true });
  });
});

describe('an answer with a new refresh token and no access token', () => {
  it('is promoted: the next refresh sends the new refresh token', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    server.generation = 2;
    leave(machine, { grants: 2, changes: { accessToken: token('at-1'), expiresAt: 1, obtainedAt: 1 } });
    expectAlive(await storedProvider(machine.run).record(), server);
    expect(machine.stored()?.gen).toBe(3);
    expect(machine.traces()).toEqual([]);
  });
});

describe('recovery', () => {
  it('without a file does nothing', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    expect((await storedProvider(machine.run).bearer()).reveal()).toBe('at-1');
    expect(server.seen).toEqual([]);
  });

  it('promotes what opens, and asks nobody', async () => {
    const { server, machine } = await keychainMachine();
    server.generation = 2;
    leave(machine, { grants: 2 });
    expectAlive(await storedProvider(machine.run).record(), server);
    expect(machine.stored()).toMatchObject({ gen: 2 });
    expect(machine.traces()).toEqual([]);
    expect(server.seen).toEqual([]);
  });

  it('that cannot promote uses the token, keeps the file and says so; the next command tries again', async () => {
    const { server, machine } = await keychainMachine();
    server.generation = 2;
    leave(machine, { grants: 2 });
    let fails = true;
    const stubborn = writing(machine, () => fails);
    expectAlive(await storedProvider({ ...machine.run, store: stubborn }).record(), server);
    expect(machine.stored()?.gen).toBe(1);
    expect(machine.traces()).toHaveLength(1);
    expect(machine.run.warnings).toHaveLength(1);
    expectGolden('auth', machine.run.warnings.join('\n'));
    fails = false;
    await storedProvider({ ...machine.run, store: stubborn }).record();
    expect(machine.stored()?.gen).toBe(2);
    expect(machine.traces()).toEqual([]);
  });

  it.each([1, 2])('removes a file of generation %d beside an item of generation 2', async (gen) => {
    const { server, machine } = await keychainMachine({ ...unexpired(), gen: 2 });
    leave(machine, { gen, grants: gen });
    expect((await storedProvider(machine.run).record()).gen).toBe(2);
    expect(machine.traces()).toEqual([]);
    expect(server.seen).toEqual([]);
  });

  it('in doubt uses the access token while the resource API takes it, and keeps the file', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    leave(machine);
    const session = storedProvider(machine.run);
    expect((await session.bearer()).reveal()).toBe('at-1');
    expect((await session.bearer()).reveal()).toBe('at-1');
    expect(server.seen).toEqual(['/v2/actions']);
    expect(machine.traces()).toHaveLength(1);
  });

  it('in doubt uses it as well while the resource API cannot be asked and the clock gives it time', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    leave(machine);
    const send = async () => () => Promise.reject(new SendError('refused', false, 'connection refused'));
    expect((await storedProvider({ ...machine.run, send }).bearer()).reveal()).toBe('at-1');
    expect(server.seen).toEqual([]);
  });

  it.each(['zeros', 'torn', 'unreadable', 'empty'])(
    'in doubt (%s) asks again when the token is refused: granted',
    async (what) => {
      const { server, machine } = await keychainMachine(unexpired());
      server.expired = 1;
      const path = leave(machine, what === 'zeros' ? {} : { grants: 9 });
      if (what === 'torn') writeFileSync(path, readFileSync(path).subarray(0, 1000));
      if (what === 'empty') writeFileSync(path, '');
      if (what === 'unreadable') {
        rmSync(path);
        mkdirSync(path);
      }
      const session = storedProvider(machine.run);
      if (what === 'unreadable') {
        // Not even a place for the answer: nothing is sent, and nothing is lost.
        await expect(session.bearer()).rejects.toMatchObject({
          code: 'keychain_unavailable',
          hint: expect.stringContaining(`mv ${path} ${path}.damaged`),
        });
        expect(server.seen).toEqual(['/v2/actions']);
        expect(machine.traces()).toHaveLength(1);
        rmSync(path, { recursive: true });
        await session.renew(token('at-1'));
      }
      expectAlive(await storedProvider(machine.run).record(), server);
      expect(machine.stored()?.gen).toBe(2);
      expect(machine.traces()).toEqual([]);
    },
  );

  it('in doubt asks again when the token is refused: invalid_grant ends the session', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    server.generation = 2;
    leave(machine);
    await expect(storedProvider(machine.run).bearer()).rejects.toMatchObject({
      code: 'needs_login',
      exitCode: 4,
    });
    expect(machine.traces()).toEqual([]);
    expect(machine.stored()).not.toHaveProperty('refreshToken');
    // The resource API has refused the access token, so later commands neither print nor send it.
    expect(machine.stored()?.expiresAt).toBeLessThanOrEqual(Date.now() / 1000);
    await expect(storedProvider(machine.run).bearer()).rejects.toMatchObject({
      code: 'needs_login',
    });
    expect(server.seen).toEqual(['/v2/actions', '/v1/oauth/token']);
  });

  it('is not in doubt over a refresh token that is not the current one', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    leave(machine, { proof: '00000000' });
    expect((await storedProvider(machine.run).bearer()).reveal()).toBe('at-1');
    expect(server.seen).toEqual([]);
  });

  it.each([
    [34, 1],
    [35.5, 0],
  ])('leaves a file of another session alone; after %s days %d is left', async (days, left) => {
    const { machine } = await keychainMachine(unexpired());
    leave(machine, { sid: 'fedcba9876543210', at: Math.floor(Date.now() / 1000) - days * day, grants: 2 });
    expect((await storedProvider(machine.run).record()).gen).toBe(1);
    await storedProvider(machine.run).forceRefresh();
    expect(machine.traces()).toHaveLength(left);
  });

  it('leaves a file of another session alone whose second refresh is not old', async () => {
    const { machine } = await keychainMachine(unexpired());
    const now = Math.floor(Date.now() / 1000);
    const other = { sid: 'fedcba9876543210' };
    leave(machine, { ...other, at: now - 40 * day, grants: 2 });
    leave(machine, { ...other, at: now - day, gen: 3, isSecond: true });
    await storedProvider(machine.run).forceRefresh();
    expect(machine.traces()).toEqual(['default.fedcba9876543210.wal']);
  });

  it('keeps the doubt about a second refresh when it promotes the record before it', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    server.generation = 2;
    leave(machine, { grants: 2 });
    leave(machine, { gen: 3, proof: proofOf(token('rt-2')), isSecond: true });
    for (let command = 1; command <= 2; command++) {
      expectAlive(await storedProvider(machine.sibling()).record(), server);
      expect([machine.stored()?.gen, machine.traces().length]).toEqual([2, 1]);
      expect(server.seen).toEqual(Array.from({ length: command }, () => '/v2/actions'));
    }
    expectAlive(await storedProvider(machine.sibling()).forceRefresh(), server);
    expect(machine.traces()).toEqual([]);
  });

  it('of an item that is gone is a login, and nothing is touched', async () => {
    const { machine } = await keychainMachine(unexpired());
    leave(machine, { grants: 2 });
    machine.items.clear();
    await expect(storedProvider(machine.run).bearer()).rejects.toMatchObject({
      code: 'needs_login',
    });
    await expect(refreshSession(machine.run, due)).rejects.toMatchObject({ code: 'needs_login' });
    expect(machine.traces()).toHaveLength(1);
  });

  it('with a keychain that cannot be asked touches nothing', async () => {
    const { machine } = await keychainMachine();
    leave(machine, { grants: 2 });
    const before = [...machine.items];
    machine.trouble = 'locked';
    const error = await storedProvider(machine.run)
      .bearer()
      .catch((caught) => caught);
    expect(error).toMatchObject({ code: 'keychain_unavailable', exitCode: 1 });
    expectGolden('auth', errorText(error));
    await expect(refreshSession(machine.run, due)).rejects.toMatchObject({ code: 'keychain_unavailable' });
    expect(machine.traces()).toHaveLength(1);
    expect([...machine.items]).toEqual(before);
  });

  it.each([
    ['a day back', -day],
    ['forty days ahead', 40 * day],
  ])('loses nothing by a clock that is %s', async (_what, seconds) => {
    for (const content of [undefined, {}, { grants: 2 }]) {
      const { server, machine } = await keychainMachine(unexpired());
      if (content !== undefined) leave(machine, content);
      if (content?.grants === 2) server.generation = 2;
      machine.host.clock.advance(seconds * 1000);
      expectAlive(await storedProvider(machine.run).record(), server);
      machine.host.clock.advance(-seconds * 1000);
      expectAlive(await storedProvider(machine.sibling()).record(), server);
    }
  });
});

describe('a disk that fails', () => {
  const withDisk = (machine: SessionMachine, changes: Partial<JournalDisk>) => ({
    ...machine.run,
    store: storeOnDisk(machine.store, changes),
  });

  it.each(['ENOSPC', 'EROFS', 'EACCES', 'EDQUOT', 'EIO'])(
    'with %s is found out before anything is sent',
    async (code) => {
      const { server, machine } = await keychainMachine();
      await expect(refreshSession(withDisk(machine, failingDisk(code, 'create')), due)).rejects.toMatchObject({
        code: 'storage',
        exitCode: 7,
        detail: expect.stringContaining(`${code}: no`),
      });
      expect(server.seen).toEqual([]);
      expectAlive(machine.stored()!, server);
      expect(machine.traces()).toEqual([]);
    },
  );

  it('when the answer is written still leads to the store', async () => {
    const { server, machine } = await keychainMachine();
    await refreshSession(withDisk(machine, { ...failingDisk('', 'rename'), ...diskThatFillsNothing }), due);
    expectAlive(machine.stored()!, server);
    expect(machine.run.warnings).toEqual([]);
    expect(machine.traces()).toEqual([]);
  });

  it('when a file is removed is no failure: it is worthless, and the next command removes it', async () => {
    const { server, machine } = await keychainMachine();
    await refreshSession(withDisk(machine, failingDisk('EACCES', 'remove')), due);
    expect(machine.traces()).toHaveLength(1);
    expectAlive(await storedProvider(machine.run).record(), server);
    expect(machine.traces()).toEqual([]);
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });

  it('when a file is read is in doubt, and loses nothing', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    leave(machine);
    const session = storedProvider(withDisk(machine, failingDisk('EIO', 'read')));
    expect((await session.bearer()).reveal()).toBe('at-1');
    expect(server.seen).toEqual(['/v2/actions']);
  });

  it('leaves no half-made replacement of a file in doubt', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    const path = leave(machine);
    writeFileSync(`${path}.4711.next`, 'half');
    const refused = { kind: 'refused', token: token('at-1') } as const;
    await refreshSession(machine.run, refused);
    expectAlive(machine.stored()!, server);
    expect(machine.traces()).toEqual([]);
  });
});

/** The same store, whose writes of the session fail. */
function writing(machine: SessionMachine, fails: () => boolean): SessionMachine['store'] {
  const { store } = machine;
  return {
    ...store,
    withItems: (work, lock) =>
      store.withItems(
        (items) =>
          work({
            ...items,
            write: async (item, value) =>
              fails() ? { kind: 'unavailable', why: 'hung', reason: 'no answer' } : items.write(item, value),
          }),
        lock,
      ),
  };
}

describe.each(['hung', 'locked', 'missing', 'failed'] as const)('a keychain that is %s at the commit', (why) => {
  it('costs a warning: the token serves, the next command goes on from the file, and the one after stores it', async () => {
    const { server, machine } = await keychainMachine();
    const reached = (point: string): void => {
      if (point === 'K9-storing') machine.trouble = why;
    };
    const { record } = await refreshSession({ ...machine.run, onFailpoint: reached }, due);
    expectAlive(record, server);
    expect(machine.run.warnings).toHaveLength(1);
    expectGolden('auth', machine.run.warnings.join('\n'));
    expect(machine.traces()).toEqual(['default.0123456789abcdef.wal']);
    machine.trouble = undefined;
    expect(machine.stored()?.gen).toBe(1);
    expectAlive(await storedProvider(machine.sibling()).record(), server);
    expectAlive(machine.stored()!, server);
    expect(machine.traces()).toEqual([]);
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });
});

describe('a write that was given up and lands late', () => {
  it('is what decides: the file is removed beside an item of its generation', async () => {
    const { server, machine } = await keychainMachine();
    const reached = (point: string): void => {
      if (point === 'K9-storing') machine.trouble = 'hung';
    };
    const { record } = await refreshSession({ ...machine.run, onFailpoint: reached }, due);
    machine.trouble = undefined;
    machine.items.set('default#test', encodeRecord(record).reveal());
    expectAlive(await storedProvider(machine.sibling()).record(), server);
    expect(machine.traces()).toEqual([]);
  });
});

describe('a grant that is too long for a keychain item', () => {
  it('is used and kept sealed, the warning says what to do, and later refreshes go on from it', async () => {
    const { server, machine } = await keychainMachine();
    server.extra = { scope: long };
    const { record } = await refreshSession(machine.run, due);
    expectAlive(record, server);
    const [unstored = '', ...others] = machine.run.warnings;
    expect(unstored).toMatch(/ credential_store file\b/);
    expectGolden('auth', unstored);
    expect(unstored).not.toContain('xxx');
    expect(others).toHaveLength(1);
    expect(machine.stored()?.gen).toBe(1);
    const later = machine.sibling();
    expectAlive(await storedProvider(later).record(), server);
    // The lock is not even asked for: nothing can be put right.
    expectAlive(await storedProvider({ ...later, lock: () => Promise.reject(new Error('locked')) }).record(), server);
    expectAlive(await storedProvider(later).forceRefresh(), server);
    expectAlive(await storedProvider(machine.sibling()).record(), server);
    expect(server.generation).toBe(3);
    expect(later.warnings).toHaveLength(1);
    // Short again: the item catches up, and the files go.
    server.extra = {};
    expectAlive(await storedProvider(machine.sibling()).forceRefresh(), server);
    expectAlive(machine.stored()!, server);
    expect(machine.traces()).toEqual([]);
  });

  it('is kept whole however long it is', async () => {
    const { server, machine } = await keychainMachine();
    server.extra = { info: { name: 'n'.repeat(50_000) }, scope: long };
    await refreshSession(machine.run, due);
    const stored = await loadSession(machine.store, machine.run.binding);
    if (stored.kind !== 'found') throw new Error(stored.kind);
    expectAlive(stored.record, server);
  });
});

describe('a refresh in doubt', () => {
  it('asks twice in the first command and once in each later one, until an answer ends it', async () => {
    const { server, machine } = await keychainMachine();
    server.instead.push(
      ...Array.from({ length: 4 }, () => (_: unknown, response: { destroy(): void }) => void response.destroy()),
    );
    server.expired = 1;
    const asked = () => server.seen.filter((path) => path === '/v1/oauth/token').length;
    await expect(storedProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(asked()).toBe(2);
    expect(machine.traces()).toHaveLength(1);
    await expect(storedProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(asked()).toBe(3);
    await expect(storedProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(asked()).toBe(4);
    expectAlive(await storedProvider(machine.sibling()).record(), server);
    expect(machine.traces()).toEqual([]);
  });

  it('that the server had processed is a login, with the command that leads back', async () => {
    const { server, machine } = await keychainMachine({ accountUuid: 'a1b2c3d4-0000', scope: 'read write' });
    server.instead.push(commitsAndDrops(server));
    await expect(storedProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'needs_login',
      exitCode: 4,
      hint: '`cloudctl auth login --account-hint a1b2c3 --scope "read write"`',
    });
    expect(machine.traces()).toEqual([]);
    await expect(storedProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'needs_login',
    });
    expect(server.seen).toHaveLength(2);
  });

  it.each([
    ['invalid_client', 401, 'invalid_client'],
    ['invalid_request', 400, 'api_error'],
  ])('keeps tokens and doubt at %s', async (error, status, code) => {
    const { server, machine } = await keychainMachine();
    server.expired = 1;
    const drop = (_: unknown, response: { destroy(): void }) => void response.destroy();
    server.instead.push(drop, drop, (_, response) => reply(response, status, { error }));
    await expect(storedProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    await expect(storedProvider(machine.sibling()).bearer()).rejects.toMatchObject({ code, status });
    expectAlive(machine.stored()!, server);
    expect(machine.traces()).toHaveLength(1);
    expectAlive(await storedProvider(machine.sibling()).record(), server);
  });

  it('of a success that is not understood: the answer stays sealed, the old token is asked for again', async () => {
    const { server, machine } = await keychainMachine();
    server.expired = 1;
    server.instead.push((_, response) => reply(response, 200, '<html>', { 'content-type': 'text/html' }));
    await expect(storedProvider(machine.sibling()).bearer()).rejects.toMatchObject({
      code: 'api_error',
    });
    expect(machine.traces()).toHaveLength(1);
    expectAlive(await storedProvider(machine.sibling()).record(), server);
    expect(machine.traces()).toEqual([]);
  });

  it.each([
    ['a refusal', 400],
    ['a redirect', 302],
  ])('there is none after %s: the file goes at once', async (_what, status) => {
    const { server, machine } = await keychainMachine();
    server.instead.push((_, response) => reply(response, status, { error: 'invalid_request' }));
    await expect(refreshSession(machine.run, due)).rejects.toMatchObject({ code: 'api_error' });
    expect(machine.traces()).toEqual([]);
    expectAlive(machine.stored()!, server);
  });
});

const ofStore: Readonly<Record<StoreKind, readonly Failpoint[]>> = {
  keychain: Object.keys(failpoints).filter((point): point is Failpoint => !/^R-/.test(point)),
  file: Object.keys(failpoints).filter((point): point is Failpoint => !/^R-/.test(point)),
};

/** After which the server may have processed what nobody has read to its end: only these may cost a login. */
const open: readonly Failpoint[] = ['K6-answering', 'K6-partial', 'K7-read'];

describe.each(['keychain', 'file'] as const)('a process that dies during a refresh, with the %s store,', (kind) => {
  it.each(ofStore[kind])('at %s leaves a session that the next command uses', async (point) => {
    const server = await singleUseServer();
    server.expired = 1;
    const machine = await machineWith(server, kind);
    const { reached, moment } = snapshotAt(machine, server, point, testHost());
    await refreshSession({ ...machine.run, onFailpoint: reached }, due);
    const left = moment();
    if (left === undefined) throw new Error(`${point} was not reached`);
    const after = machineFromSnapshot(server, kind, left);
    const next = storedProvider(after.run).record();
    if (open.includes(point)) {
      await expect(next).rejects.toMatchObject({ code: 'needs_login', exitCode: 4 });
      expect(after.traces()).toEqual([]);
      return;
    }
    expectAlive(await next, server);
    expect(after.stored()?.gen).toBe(2);
    expectAlive(after.stored()!, server);
    expect(after.traces()).toEqual([]);
    expect(after.run.warnings).toEqual([]);
  });

  it.each(ofStore[kind])('at %s, forced while its token was good, loses nothing either', async (point) => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind, unexpired());
    const { reached, moment } = snapshotAt(machine, server, point, testHost());
    await storedProvider({ ...machine.run, onFailpoint: reached }).forceRefresh();
    const after = machineFromSnapshot(server, kind, moment()!);
    const session = storedProvider(after.run);
    if (open.includes(point)) {
      await expect(session.bearer()).rejects.toMatchObject({ code: 'needs_login' });
      return;
    }
    expect((await session.bearer()).reveal()).toBe(`at-${server.generation}`);
    expectAlive(await storedProvider(after.sibling()).forceRefresh(), server);
    expect(after.traces()).toEqual([]);
  });

  it.each(['R-promoting', 'R-promoted'] as const)('and one that dies at %s while it puts that right', async (point) => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    const first = snapshotAt(machine, server, 'K8-sealed', testHost());
    await refreshSession({ ...machine.run, onFailpoint: first.reached }, due);
    const middle = machineFromSnapshot(server, kind, first.moment()!);
    const second = snapshotAt(middle, server, point, testHost());
    await storedProvider({ ...middle.run, onFailpoint: second.reached }).record();
    const last = machineFromSnapshot(server, kind, second.moment()!);
    expectAlive(await storedProvider(last.run).record(), server);
    expect(last.traces()).toEqual([]);
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });

  it('once sealed is never asked for again: the server sees one refresh', async () => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    const { reached, moment } = snapshotAt(machine, server, 'K8-sealed', testHost());
    await refreshSession({ ...machine.run, onFailpoint: reached }, due);
    await storedProvider(machineFromSnapshot(server, kind, moment()!).run).bearer();
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });
});

/** Without those that only a store that takes the record leads to. */
const ofSecond = ofStore.file.filter((point) => !/^K10/.test(point));

describe.each(['keychain', 'file'] as const)('a store (%s) that took the record of no refresh so far', (kind) => {
  it.each(ofSecond)('has a session for the next command after a second refresh that died at %s', async (point) => {
    for (const isTakenNext of [true, false]) {
      const server = await singleUseServer();
      const machine = await machineWith(server, kind);
      const run = { ...machine.run, store: writing(machine, () => true) };
      const { record } = await refreshSession(run, due);
      const { reached, moment } = snapshotAt(machine, server, point, testHost());
      await refreshSession({ ...run, onFailpoint: reached }, { kind: 'forced', sid: record.sid, gen: 2 });
      expect(machine.stored()?.gen).toBe(1);
      const after = machineFromSnapshot(server, kind, moment()!);
      const session = storedProvider({ ...after.run, store: writing(after, () => !isTakenNext) });
      if (open.includes(point)) {
        await expect(session.bearer()).rejects.toMatchObject({ code: 'needs_login' });
        continue;
      }
      expect((await session.bearer()).reveal()).toBe(`at-${server.generation}`);
      expectAlive(await storedProvider(after.sibling()).forceRefresh(), server);
      expectAlive(after.stored()!, server);
      expect(after.traces()).toEqual([]);
    }
  });

  it('loses nothing to a second refresh that was not sent', async () => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    const store = writing(machine, () => true);
    const { record } = await refreshSession({ ...machine.run, store }, due);
    const send = async () => () => Promise.reject(new SendError('refused', false, 'connection refused'));
    const forced = { kind: 'forced', sid: record.sid, gen: 2 } as const;
    await expect(refreshSession({ ...machine.run, store, send }, forced)).rejects.toMatchObject({
      code: 'unreachable',
    });
    const left = await loadSession(machine.store, machine.run.binding);
    expect(left).toMatchObject({ kind: 'found', pending: true, inDoubt: false, record: { gen: 2 } });
    expectAlive(await storedProvider(machine.sibling()).record(), server);
    expect(machine.traces()).toEqual([]);
  });
});

describe('a write-ahead file torn at any byte', () => {
  it('or with a bit flipped is in doubt: the session ends well or needs a login, and is never wrong', async () => {
    const server = await singleUseServer();
    server.expired = 1;
    const machine = await machineWith(server, 'keychain');
    const { reached, moment } = snapshotAt(machine, server, 'K8-sealed', testHost());
    await refreshSession({ ...machine.run, onFailpoint: reached }, due);
    const left = moment()!;
    const whole = readFileSync(`${left.folder}/default.0123456789abcdef.wal`);
    const start = whole.indexOf('\n') + 1;
    for (const length of [0, 1, start - 1, start, start + 1, start + 27, start + 28, start + 100, whole.length - 1]) {
      const after = machineFromSnapshot(server, 'keychain', { ...left, generation: 2 });
      const path = `${after.place.folder}/default.0123456789abcdef.wal`;
      // Not filled with zeros: now and then the last byte of what is sealed is one.
      writeFileSync(path, Buffer.concat([whole.subarray(0, length), whole.subarray(length).map((byte) => ~byte)]));
      await expect(storedProvider(after.run).bearer()).rejects.toMatchObject({
        code: 'needs_login',
      });
      // The same file, while the server has not processed anything.
      const lucky = machineFromSnapshot(server, 'keychain', { ...left, generation: 1 });
      writeFileSync(path.replace(after.place.folder, lucky.place.folder), whole.subarray(0, length));
      expectAlive(await storedProvider(lucky.run).record(), server);
      expect(lucky.traces()).toEqual([]);
    }
  });
});
