import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { CliError } from '../../src/base/errors.ts';
import { performLogout } from '../../src/session/logout.ts';
import { createSharedSessionEncryptor } from '../../src/session/sealed-session.ts';
import { readLocalCopyOfSharedSession, writeLocalCopyOfSharedSession } from '../../src/session/shared-copy.ts';
import { addShareEncryptionKey } from '../../src/shared-store/share-encryption-keys.ts';
import type { SharedSessionOperation } from '../../src/shared-store/shared-session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import type { ReferenceRow } from '../shared-store/reference-store.ts';
import { interceptOperations, sharedMachines } from './shared-machines.ts';

async function oneMachine(seconds = 3600) {
  const sandbox = await sandboxFor();
  const all = sharedMachines(sandbox);
  const first = all.machine('ci-1#a');
  await all.login(first, seconds);
  const row = (): ReferenceRow => {
    const found = all.server.row();
    if (found === undefined) throw new Error('there is no row');
    return found;
  };
  return { sandbox, ...all, first, row };
}

const lock = { descriptor: 0, release: () => undefined };

describe('a store that returns what it likes', () => {
  it('an older record, whatever is published: the copy is used and stays the newest', async () => {
    const { first, server, row, keys } = await oneMachine();
    const old = row();
    const renewed = await first.session().forceRefresh();
    const { run } = server;
    // The store confirms the commit and returns the old row all the same.
    Object.assign(server, { run: async () => ({ applied: true, nowMs: Date.now(), row: old }) });
    await first.store.synchronize?.();
    expect(readLocalCopyOfSharedSession(first.place, keys.share)).toMatchObject({ gen: 2 });
    const read = await first.store.withItems((items) => items.read('credential'), lock);
    expect(read.kind === 'found' && read.value.reveal().includes(renewed.accessToken.reveal())).toBe(true);
    expect(first.deps.warnings).toHaveLength(2);
    Object.assign(server, { run });
    server.restore(undefined);
    await first.store.synchronize?.();
    expect(row()).toMatchObject({ gen: 2 });
  });

  it('an older record, to a machine whose copy needs a key that is missing: the copy stays', async () => {
    const { first, machine, server, row, keys } = await oneMachine();
    const newer = addShareEncryptionKey(keys, randomBytes);
    const other = machine('ci-2#b', {}, newer);
    const old = row();
    await other.store.synchronize?.();
    server.restore({ ...old, activeKid: newer.keys[0].kid });
    await other.session().forceRefresh();
    const copy = readLocalCopyOfSharedSession(other.place, keys.share);
    expect(copy).toMatchObject({ gen: 2, kid: newer.keys[0].kid });
    // The same folder with the old keys, such as those of a variable that was not changed.
    if (copy !== undefined) writeLocalCopyOfSharedSession(first.place, copy);
    server.restore(old);
    await first.store.synchronize?.();
    expect(readLocalCopyOfSharedSession(first.place, keys.share)).toEqual(copy);
  });

  it('the key that was replaced: new records are encrypted with the newest one that is in use', async () => {
    const { machine, server, row, keys, sandbox } = await oneMachine();
    const [newest, old] = addShareEncryptionKey(keys, randomBytes).keys;
    const second = machine('ci-2#b', {}, { share: keys.share, keys: [newest, ...keys.keys] });
    await second.store.synchronize?.();
    const sealer = createSharedSessionEncryptor(
      { share: keys.share, keys: [newest, ...keys.keys] },
      'default',
      randomBytes,
    );
    const opened = sealer.open(row());
    if (opened.kind !== 'record') throw new Error(opened.kind);
    const resealed = sealer.seal(row(), opened.record, newest.kid);
    await server.run({ op: 'reseal', by: 'ci-9#z', oldKid: old?.kid ?? '', ...resealed });
    await second.store.synchronize?.();
    expect(readLocalCopyOfSharedSession(second.place, keys.share)?.kid).toBe(newest.kid);
    server.restore({ ...row(), activeKid: old?.kid ?? '' });
    await second.session().forceRefresh();
    expect(row()).toMatchObject({ gen: 2, kid: newest.kid });
    expect(sandbox.requests('POST /v1/oauth/token').filter((one) => one.grant_type === 'refresh_token')).toHaveLength(
      1,
    );
  });

  it.each([
    ['its time stands still', (row: ReferenceRow) => ({ ...row, refusedGen: row.gen, refusedMs: Date.now() + 9e9 })],
    ['the time of the refusal is missing', (row: ReferenceRow) => ({ ...row, refusedGen: row.gen })],
  ])('a refusal that does not end, because %s: exit 4 after the waiting time', async (_name, refused) => {
    const { machine, server, row } = await oneMachine(60);
    server.restore(refused({ ...row(), intentGen: 1, intentBy: 'ci-9#z', intentMs: Date.now() }));
    const started = performance.now();
    await expect(machine('ci-2#b').session().bearer()).rejects.toMatchObject({ code: 'needs_login', exitCode: 4 });
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('nothing after each refusal, as a cache that evicts rows: busy after some requests', async () => {
    const { sandbox, first, machine, server } = await oneMachine();
    const other = machine('ci-2#b');
    await other.store.synchronize?.();
    await first.session().forceRefresh();
    server.restore(undefined);
    const { run } = server;
    Object.assign(server, {
      run: async (operation: SharedSessionOperation) => {
        const snapshot = await run(operation);
        if (operation.op !== 'refuse') return snapshot;
        server.restore(undefined);
        return { ...snapshot, row: undefined };
      },
    });
    await expect(other.session().forceRefresh()).rejects.toMatchObject({ code: 'busy' });
    expect(sandbox.requests('POST /v1/oauth/token').length).toBeLessThan(20);
  });

  it('a newer epoch without a record of the share: the grant is used, not revoked, and stored later', async () => {
    const { sandbox, first, server, row } = await oneMachine(60);
    const before = row();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op !== 'commit') return run(operation);
      return { applied: false, nowMs: Date.now(), row: { ...before, epoch: before.epoch + 1, record: 'AAAA' } };
    });
    const token = await first.session().bearer();
    undo();
    expect(sandbox.requests('POST /v1/oauth/revoke')).toEqual([]);
    expect(first.deps.warnings).toHaveLength(1);
    expect((await first.session().bearer()).reveal()).toBe(token.reveal());
    expect(row()).toMatchObject({ gen: 2 });
  });

  it('an authentic record of an earlier login instead of the commit: the grant is used, not revoked, and stored later', async () => {
    const { sandbox, first, server, row, login } = await oneMachine(60);
    const before = row();
    await login(first, 60);
    const undo = interceptOperations(server, async (operation, run) =>
      operation.op === 'commit' ? { applied: false, nowMs: Date.now(), row: before } : run(operation),
    );
    const token = await first.session().bearer();
    undo();
    expect(sandbox.requests('POST /v1/oauth/revoke')).toEqual([]);
    expect(first.deps.warnings).toHaveLength(1);
    expect((await first.session().bearer()).reveal()).toBe(token.reveal());
    expect(row()).toMatchObject({ gen: 2 });
  });

  it('a record that does not open: auth logout revokes the session that the machine knows', async () => {
    const { sandbox, first, server, row } = await oneMachine();
    await first.store.synchronize?.();
    server.restore({ ...row(), record: 'AAAA' });
    const { binding, store, createSender, lock: takeLock } = first.deps;
    const outcome = await performLogout(
      {
        store,
        createSender,
        lock: takeLock,
        client: async () => ({ authOrigin: binding.authOrigin, clientId: binding.clientId, tokenParams: 'query' }),
        requireSafe: () => undefined,
        removeAccount: () => undefined,
        probe: async () => 'refused',
      },
      false,
    );
    expect(outcome).toEqual({ kind: 'revoked' });
    expect(sandbox.requests('POST /v1/oauth/revoke')).toHaveLength(1);
  });

  it('rows of other profiles, relabelled versions, and old records are not used by a machine that knows better', async () => {
    const { first, server, row, login } = await oneMachine();
    const before = row();
    await login(first);
    const current = row();
    for (const forged of [
      { ...before, epoch: current.epoch + 1 },
      { ...before, epoch: current.epoch, sid: current.sid, gen: 9 },
      { ...current, gen: 2 },
    ]) {
      server.restore(forged);
      const read = await first.store.withItems((items) => items.read('credential'), lock);
      expect(read).toMatchObject({ kind: 'found' });
      expect(read.kind === 'found' && read.value.reveal()).toBe('damaged');
    }
    server.restore(before);
    await first.store.synchronize?.();
    expect(row()).toMatchObject({ epoch: current.epoch, sid: current.sid });
  });
});

it('a machine that lost its lease before it sent anything is not named among those that may have a newer record', async () => {
  const { first, machine, server, row } = await oneMachine();
  const other = machine('ci-2#b');
  await other.store.synchronize?.();
  const old = row();
  await first.session().forceRefresh();
  server.restore(old);
  const { run } = server;
  let isFirstClaim = true;
  Object.assign(server, {
    run: async (operation: SharedSessionOperation) => {
      const snapshot = await run(operation);
      if (operation.op !== 'claim' || !isFirstClaim) return snapshot;
      isFirstClaim = false;
      await sleep(650);
      await run({ ...operation, by: 'ci-9#z', attempt: '0123456789abcdef', leaseMs: 100 });
      return snapshot;
    },
  });
  const failure = await other
    .session()
    .forceRefresh()
    .then(String, (error: CliError) => error);
  expect(failure).toMatchObject({ code: 'needs_login', detail: expect.stringContaining('ci-9#z') });
  expect(failure).not.toMatchObject({ detail: expect.stringContaining('ci-2#b') });
});

describe('two machines with the same name, because a state folder was copied', () => {
  /** A twin that waits before it sends its refresh and before it takes the response with the grant, in milliseconds. */
  const createTwins =
    ({ first, machine }: Awaited<ReturnType<typeof oneMachine>>) =>
    (beforeMs: number, afterMs: number) =>
      machine('ci-2#b', {
        createSender: async () => {
          const send = await first.deps.createSender();
          return async (url, init) => {
            await sleep(beforeMs);
            const response = await send(url, init);
            if (response.status === 200) await sleep(afterMs);
            return response;
          };
        },
      }).session();

  it('refresh at once: one request is refused, and its machine waits for the record of the other one', async () => {
    const all = await oneMachine(60);
    const twin = createTwins(all);
    const records = await Promise.all([twin(0, 150).forceRefresh(), twin(0, 150).forceRefresh()]);
    expect(records[0].accessToken.reveal()).toBe(records[1].accessToken.reveal());
    expect(all.row()).toMatchObject({ gen: 2, refusedGen: undefined });
    const statuses = all.sandbox.requests('POST /v1/oauth/token').filter((one) => one.grant_type === 'refresh_token');
    expect(statuses.map(({ status }) => status === 200).sort()).toEqual([false, true]);
  });

  it('of which the first to announce its refresh is the last to send it: that one waits too', async () => {
    const all = await oneMachine(60);
    const twin = createTwins(all);
    const slow = twin(150, 0).forceRefresh();
    await sleep(50);
    const records = await Promise.all([slow, twin(0, 250).forceRefresh()]);
    expect(records[0].accessToken.reveal()).toBe(records[1].accessToken.reveal());
    expect(all.row()).toMatchObject({ gen: 2, refusedGen: undefined });
  });

  it('wait although an earlier generation was refused long ago', async () => {
    const all = await oneMachine(60);
    all.server.restore({ ...all.row(), refusedMs: Date.now() - 60_000 });
    const twin = createTwins(all);
    const records = await Promise.all([twin(0, 150).forceRefresh(), twin(0, 150).forceRefresh()]);
    expect(records[0].accessToken.reveal()).toBe(records[1].accessToken.reveal());
  });
});
