import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Failpoint, failpoints } from '../../../src/auth/session/failpoints.ts';
import { createProfileAccessTokenProvider } from '../../../src/auth/session/profile-access-token-provider.ts';
import { refreshStoredSession } from '../../../src/auth/session/refresh-session.ts';
import { testHost } from '../../fixtures/host.ts';
import {
  expectAlive,
  machineFromSnapshot,
  machineWith,
  type StoreKind,
  singleUseServer,
  snapshotAt,
  unexpired,
} from './session-fixture.ts';

const due = { kind: 'due' } as const;

const ofStore: Readonly<Record<StoreKind, readonly Failpoint[]>> = {
  keychain: Object.keys(failpoints).filter((point): point is Failpoint => !/^R-/.test(point)),
  file: Object.keys(failpoints).filter((point): point is Failpoint => !/^R-|K9/.test(point)),
};

/** After which the server may have processed what nobody has read to its end: only these may cost a login. */
const open: readonly Failpoint[] = ['K6-answering', 'K6-partial', 'K7-read'];

describe.each(['keychain', 'file'] as const)('a process that dies during a refresh, with the %s store,', (kind) => {
  it.each(ofStore[kind])('at %s leaves a session that the next command uses', async (point) => {
    const server = await singleUseServer();
    server.expired = 1;
    const machine = await machineWith(server, kind);
    const { reached, moment } = snapshotAt(machine, server, point, testHost());
    await refreshStoredSession({ ...machine.deps, onFailpoint: reached }, due);
    const left = moment();
    if (left === undefined) throw new Error(`${point} was not reached`);
    const after = machineFromSnapshot(server, kind, left);
    const next = createProfileAccessTokenProvider(after.deps).record();
    if (open.includes(point)) {
      await expect(next).rejects.toMatchObject({ code: 'needs_login', exitCode: 4 });
      expect(after.traces()).toEqual([]);
      return;
    }
    expectAlive(await next, server);
    expect(after.stored()?.gen).toBe(2);
    expectAlive(after.stored()!, server);
    expect(after.traces()).toEqual([]);
    expect(after.deps.warnings).toEqual([]);
  });

  it.each(ofStore[kind])('at %s, forced while its token was good, loses nothing either', async (point) => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind, unexpired());
    const { reached, moment } = snapshotAt(machine, server, point, testHost());
    await createProfileAccessTokenProvider({ ...machine.deps, onFailpoint: reached }).forceRefresh();
    const after = machineFromSnapshot(server, kind, moment()!);
    const session = createProfileAccessTokenProvider(after.deps);
    if (open.includes(point)) {
      await expect(session.bearer()).rejects.toMatchObject({ code: 'needs_login' });
      return;
    }
    expect((await session.bearer()).reveal()).toBe(`at-${server.generation}`);
    expectAlive(await createProfileAccessTokenProvider(after.sibling()).forceRefresh(), server);
    expect(after.traces()).toEqual([]);
  });

  it.each(['R-promoting', 'R-promoted'] as const)('and one that dies at %s while it puts that right', async (point) => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    const first = snapshotAt(machine, server, 'K8-sealed', testHost());
    await refreshStoredSession({ ...machine.deps, onFailpoint: first.reached }, due);
    const middle = machineFromSnapshot(server, kind, first.moment()!);
    const second = snapshotAt(middle, server, point, testHost());
    await createProfileAccessTokenProvider({ ...middle.deps, onFailpoint: second.reached }).record();
    const last = machineFromSnapshot(server, kind, second.moment()!);
    expectAlive(await createProfileAccessTokenProvider(last.deps).record(), server);
    expect(last.traces()).toEqual([]);
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });

  it('once sealed is never asked for again: the server sees one refresh', async () => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    const { reached, moment } = snapshotAt(machine, server, 'K8-sealed', testHost());
    await refreshStoredSession({ ...machine.deps, onFailpoint: reached }, due);
    await createProfileAccessTokenProvider(machineFromSnapshot(server, kind, moment()!).deps).bearer();
    expect(server.seen).toEqual(['/v1/oauth/token']);
  });
});

describe('a write-ahead file torn at any byte', () => {
  it('or with a bit flipped is in doubt: the session ends well or needs a login, and is never wrong', async () => {
    const server = await singleUseServer();
    server.expired = 1;
    const machine = await machineWith(server, 'keychain');
    const { reached, moment } = snapshotAt(machine, server, 'K8-sealed', testHost());
    await refreshStoredSession({ ...machine.deps, onFailpoint: reached }, due);
    const left = moment()!;
    const whole = readFileSync(`${left.folder}/default.0123456789abcdef.2.wal`);
    const start = whole.indexOf('\n') + 1;
    for (const length of [0, 1, start - 1, start, start + 1, start + 27, start + 28, start + 100, whole.length - 1]) {
      const after = machineFromSnapshot(server, 'keychain', { ...left, generation: 2 });
      const path = `${after.place.folder}/default.0123456789abcdef.2.wal`;
      // Not filled with zeros: now and then the last byte of what is sealed is one.
      writeFileSync(path, Buffer.concat([whole.subarray(0, length), whole.subarray(length).map((byte) => ~byte)]));
      await expect(createProfileAccessTokenProvider(after.deps).bearer()).rejects.toMatchObject({
        code: 'needs_login',
      });
      // The same file, while the server has not processed anything.
      const lucky = machineFromSnapshot(server, 'keychain', { ...left, generation: 1 });
      writeFileSync(path.replace(after.place.folder, lucky.place.folder), whole.subarray(0, length));
      expectAlive(await createProfileAccessTokenProvider(lucky.deps).record(), server);
      expect(lucky.traces()).toEqual([]);
    }
  });
});
