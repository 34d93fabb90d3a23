import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CredentialRecord } from '../../../src/auth/session/credential-record.ts';
import {
  encodeRefreshJournalHeader,
  encryptRefreshJournal,
  refreshTokenFingerprint,
} from '../../../src/auth/session/encrypted-journal.ts';
import { createProfileAccessTokenProvider } from '../../../src/auth/session/profile-access-token-provider.ts';
import { buildRefreshJournalFilePath } from '../../../src/auth/session/profile-paths.ts';
import { refreshStoredSession } from '../../../src/auth/session/refresh-session.ts';
import { loadStoredSession } from '../../../src/auth/session/stored-session.ts';
import {
  createWriteAheadFileJournal,
  type RefreshJournalFileOperations,
} from '../../../src/auth/session/write-ahead-journal.ts';
import { createFileWithReservedSpace } from '../../../src/platform/files.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { expectAlive, machineWith, type SessionMachine, singleUseServer, token, unexpired } from './session-fixture.ts';

const due = { kind: 'due' } as const;
const day = 86_400;

interface Content {
  readonly gen?: number;
  readonly sid?: string;
  readonly at?: number;
  readonly proof?: string;
  /** The generation the sealed answer grants; absent: zeros. */
  readonly grants?: number;
  readonly extra?: object;
}

/** A write-ahead file as an interrupted refresh leaves it. */
function leave(machine: SessionMachine, content: Content = {}): string {
  const record = machine.stored()!;
  const { gen = record.gen + 1, sid = record.sid, at = Math.floor(Date.now() / 1000) } = content;
  const head = encodeRefreshJournalHeader({
    sid,
    gen,
    fingerprint: content.proof ?? refreshTokenFingerprint(record.refreshToken!),
    sentAt: at,
    pid: 1,
  });
  const path = buildRefreshJournalFilePath(machine.place, sid, gen);
  mkdirSync(machine.place.folder, { recursive: true });
  const file = createFileWithReservedSpace(path, head, 4096);
  if (content.grants !== undefined) {
    const tokens = { access_token: `at-${content.grants}`, refresh_token: `rt-${content.grants}` };
    const body = JSON.stringify({ ...tokens, token_type: 'bearer', expires_in: 3600, scope: 'read', ...content.extra });
    file.fill(encryptRefreshJournal(head, record.journalKey, body, 4096, machine.host.random(12)));
  }
  file.close();
  return path;
}

async function keychainMachine(record: Partial<CredentialRecord> = {}) {
  const server = await singleUseServer();
  return { server, machine: await machineWith(server, 'keychain', record) };
}

const binding = (machine: SessionMachine) => machine.deps.binding;

describe('the current record', () => {
  it('is the newest of the item and a write-ahead file that opens, for every reader and without the lock', async () => {
    const { machine } = await keychainMachine();
    leave(machine, { grants: 2 });
    const stored = await loadStoredSession(machine.store, binding(machine));
    expect(stored).toMatchObject({ kind: 'found', pending: true, inDoubt: false, needsRecovery: true });
    expect(stored.kind === 'found' && stored.record.accessToken.reveal()).toBe('at-2');
  });

  it('goes from file to file where the store could not follow', async () => {
    const { machine } = await keychainMachine();
    leave(machine, { grants: 2, extra: { scope: 'read write' } });
    leave(machine, { grants: 3, gen: 3, extra: { refresh_token: undefined, scope: undefined } });
    const stored = await loadStoredSession(machine.store, binding(machine));
    if (stored.kind !== 'found') throw new Error(stored.kind);
    expect(stored.record).toMatchObject({ gen: 3, scope: 'read write' });
    expect(stored.record.accessToken.reveal()).toBe('at-3');
    expect(stored.record.refreshToken?.reveal()).toBe('rt-2');
  });

  it('is never made of a file of another session or generation, nor of one that was given another name', async () => {
    const { machine } = await keychainMachine();
    const path = leave(machine, { grants: 2 });
    cpSync(path, buildRefreshJournalFilePath(machine.place, machine.stored()!.sid, 5));
    rmSync(path);
    leave(machine, { grants: 7, sid: 'fedcba9876543210' });
    const stored = await loadStoredSession(machine.store, binding(machine));
    expect(stored.kind === 'found' && stored.record.gen).toBe(1);
  });

  it('in a folder that cannot be listed is not known, which is not the same as the item', async () => {
    const { machine } = await keychainMachine();
    mkdirSync(dirname(machine.place.folder), { recursive: true });
    writeFileSync(machine.place.folder, 'a file where the folder should be');
    expect(await loadStoredSession(machine.store, binding(machine))).toMatchObject({
      kind: 'unavailable',
      why: 'file',
    });
  });

  it('that was sealed is not granted is in doubt', async () => {
    const { machine } = await keychainMachine(unexpired());
    leave(machine, { grants: 2, extra: { access_token: '', refresh_token: '' } });
    expect(await loadStoredSession(machine.store, binding(machine))).toMatchObject({ pending: false, inDoubt: true });
  });
});

describe('an answer with a new refresh token and no access token', () => {
  it('is promoted: the next refresh sends the new refresh token', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    server.generation = 2;
    leave(machine, { grants: 2, extra: { access_token: undefined } });
    expectAlive(await createProfileAccessTokenProvider(machine.deps).record(), server);
    expect(machine.stored()?.gen).toBe(3);
    expect(machine.traces()).toEqual([]);
  });
});

describe('recovery', () => {
  it('without a file does nothing', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    expect((await createProfileAccessTokenProvider(machine.deps).bearer()).reveal()).toBe('at-1');
    expect(server.seen).toEqual([]);
  });

  it('promotes what opens, and asks nobody', async () => {
    const { server, machine } = await keychainMachine();
    server.generation = 2;
    leave(machine, { grants: 2 });
    expectAlive(await createProfileAccessTokenProvider(machine.deps).record(), server);
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
    expectAlive(await createProfileAccessTokenProvider({ ...machine.deps, store: stubborn }).record(), server);
    expect(machine.stored()?.gen).toBe(1);
    expect(machine.traces()).toHaveLength(1);
    expect(machine.deps.warnings).toHaveLength(1);
    expectGolden('auth', machine.deps.warnings.join('\n'));
    fails = false;
    await createProfileAccessTokenProvider({ ...machine.deps, store: stubborn }).record();
    expect(machine.stored()?.gen).toBe(2);
    expect(machine.traces()).toEqual([]);
  });

  it.each([1, 2])('removes a file of generation %d beside an item of generation 2', async (gen) => {
    const { server, machine } = await keychainMachine({ ...unexpired(), gen: 2 });
    leave(machine, { gen, grants: gen });
    expect((await createProfileAccessTokenProvider(machine.deps).record()).gen).toBe(2);
    expect(machine.traces()).toEqual([]);
    expect(server.seen).toEqual([]);
  });

  it('in doubt uses the access token while the resource API takes it, and keeps the file', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    leave(machine);
    const session = createProfileAccessTokenProvider(machine.deps);
    expect((await session.bearer()).reveal()).toBe('at-1');
    expect((await session.bearer()).reveal()).toBe('at-1');
    expect(server.seen).toEqual(['/v2/actions']);
    expect(machine.traces()).toHaveLength(1);
  });

  it('in doubt uses it as well while the resource API cannot be asked and the clock gives it time', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    leave(machine);
    const probe = async () => 'unknown' as const;
    expect((await createProfileAccessTokenProvider({ ...machine.deps, probe }).bearer()).reveal()).toBe('at-1');
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
      const session = createProfileAccessTokenProvider(machine.deps);
      if (what === 'unreadable') {
        // Not even a place for the answer: nothing is sent, and nothing is lost.
        await expect(session.bearer()).rejects.toMatchObject({ code: 'storage', exitCode: 7 });
        expect(server.seen).toEqual(['/v2/actions']);
        expect(machine.traces()).toHaveLength(1);
        rmSync(path, { recursive: true });
        await session.renew(token('at-1'));
      }
      expectAlive(await createProfileAccessTokenProvider(machine.deps).record(), server);
      expect(machine.stored()?.gen).toBe(2);
      expect(machine.traces()).toEqual([]);
    },
  );

  it('in doubt asks again when the token is refused: invalid_grant ends the session', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    server.generation = 2;
    leave(machine);
    await expect(createProfileAccessTokenProvider(machine.deps).bearer()).rejects.toMatchObject({
      code: 'needs_login',
      exitCode: 4,
    });
    expect(machine.traces()).toEqual([]);
    expect(machine.stored()).not.toHaveProperty('refreshToken');
    // The resource API has refused the access token, so later commands neither print nor send it.
    expect(machine.stored()?.expiresAt).toBeLessThanOrEqual(Date.now() / 1000);
    await expect(createProfileAccessTokenProvider(machine.deps).bearer()).rejects.toMatchObject({
      code: 'needs_login',
    });
    expect(server.seen).toEqual(['/v2/actions', '/v1/oauth/token']);
  });

  it('is not in doubt over a refresh token that is not the current one', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    leave(machine, { proof: '00000000' });
    expect((await createProfileAccessTokenProvider(machine.deps).bearer()).reveal()).toBe('at-1');
    expect(server.seen).toEqual([]);
  });

  it.each([
    [34, 1],
    [35.5, 0],
  ])('leaves a file of another session alone; after %s days %d is left', async (days, left) => {
    const { machine } = await keychainMachine(unexpired());
    leave(machine, { sid: 'fedcba9876543210', at: Math.floor(Date.now() / 1000) - days * day, grants: 2 });
    expect((await createProfileAccessTokenProvider(machine.deps).record()).gen).toBe(1);
    await createProfileAccessTokenProvider(machine.deps).forceRefresh();
    expect(machine.traces()).toHaveLength(left);
  });

  it('of an item that is gone is a login, and nothing is touched', async () => {
    const { machine } = await keychainMachine(unexpired());
    leave(machine, { grants: 2 });
    machine.items.clear();
    await expect(createProfileAccessTokenProvider(machine.deps).bearer()).rejects.toMatchObject({
      code: 'needs_login',
    });
    await expect(refreshStoredSession(machine.deps, due)).rejects.toMatchObject({ code: 'needs_login' });
    expect(machine.traces()).toHaveLength(1);
  });

  it('with a keychain that cannot be asked touches nothing', async () => {
    const { machine } = await keychainMachine();
    leave(machine, { grants: 2 });
    const before = [...machine.items];
    machine.trouble = 'locked';
    const error = await createProfileAccessTokenProvider(machine.deps)
      .bearer()
      .catch((caught) => caught);
    expect(error).toMatchObject({ code: 'keychain_unavailable', exitCode: 1 });
    expectGolden('auth', errorText(error));
    await expect(refreshStoredSession(machine.deps, due)).rejects.toMatchObject({ code: 'keychain_unavailable' });
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
      expectAlive(await createProfileAccessTokenProvider(machine.deps).record(), server);
      machine.host.clock.advance(-seconds * 1000);
      expectAlive(await createProfileAccessTokenProvider(machine.sibling()).record(), server);
    }
  });
});

describe('a disk that fails', () => {
  const failing = (code: string, of: keyof RefreshJournalFileOperations): RefreshJournalFileOperations => {
    const real: RefreshJournalFileOperations = {
      create: createFileWithReservedSpace,
      read: (path) => (existsSync(path) ? readFileSync(path) : undefined),
      rename: () => undefined,
      remove: (path) => rmSync(path, { force: true }),
    };
    const fail = (): never => {
      throw Object.assign(new Error(`${code}: no`), { code });
    };
    return { ...real, [of]: fail };
  };
  const withDisk = (machine: SessionMachine, disk: RefreshJournalFileOperations) => ({
    ...machine.deps,
    store: { ...machine.store, place: '', journal: createWriteAheadFileJournal(machine.place, disk) },
  });

  it.each(['ENOSPC', 'EROFS', 'EACCES', 'EDQUOT', 'EIO'])(
    'with %s is found out before anything is sent',
    async (code) => {
      const { server, machine } = await keychainMachine();
      await expect(refreshStoredSession(withDisk(machine, failing(code, 'create')), due)).rejects.toMatchObject({
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
    const create: RefreshJournalFileOperations['create'] = (path, head, room) => ({
      ...createFileWithReservedSpace(path, head, room),
      fill: () => {
        throw Object.assign(new Error('ENOSPC: no'), { code: 'ENOSPC' });
      },
    });
    await refreshStoredSession(withDisk(machine, { ...failing('', 'rename'), create }), due);
    expectAlive(machine.stored()!, server);
    expect(machine.deps.warnings).toEqual([]);
    expect(machine.traces()).toEqual([]);
  });

  it('when a file is removed is no failure: it is worthless, and the next command removes it', async () => {
    const { server, machine } = await keychainMachine();
    await refreshStoredSession(withDisk(machine, failing('EACCES', 'remove')), due);
    expect(machine.traces()).toHaveLength(1);
    expectAlive(await createProfileAccessTokenProvider(machine.deps).record(), server);
    expect(machine.traces()).toEqual([]);
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });

  it('when a file is read is in doubt, and loses nothing', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    leave(machine);
    const session = createProfileAccessTokenProvider(withDisk(machine, failing('EIO', 'read')));
    expect((await session.bearer()).reveal()).toBe('at-1');
    expect(server.seen).toEqual(['/v2/actions']);
  });

  it('leaves no half-made replacement of a file in doubt', async () => {
    const { server, machine } = await keychainMachine(unexpired());
    const path = leave(machine);
    writeFileSync(`${path}.next`, 'half');
    const refused = { kind: 'refused', token: token('at-1') } as const;
    await refreshStoredSession(machine.deps, refused);
    expectAlive(machine.stored()!, server);
    expect(machine.traces()).toEqual([]);
  });
});

/** The same store, whose writes of the session fail. */
function writing(machine: SessionMachine, fails: () => boolean): SessionMachine['store'] {
  const { store } = machine;
  return {
    profile: store.profile,
    kind: store.kind,
    location: store.location,
    maxLength: store.maxLength,
    journal: store.journal,
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
