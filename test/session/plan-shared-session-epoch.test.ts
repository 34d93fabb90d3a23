import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DatabaseConnectError } from '../../src/platform/connect-error.ts';
import { createSharedSessionEncryptor } from '../../src/session/sealed-session.ts';
import { addShareEncryptionKey } from '../../src/shared-store/share-encryption-keys.ts';
import { errorText } from '../fixtures/error-text.ts';
import { expectGolden } from '../fixtures/golden.ts';
import { callApi, sandboxFor } from '../sandbox/requests.ts';
import { interceptOperations, logoutOn, sharedMachines } from './shared-machines.ts';

const away = new DatabaseConnectError('network', 'ECONNREFUSED', 'connection refused');

/** A machine that does not have the newest key of the share, and one that has it. */
async function twoMachines() {
  const sandbox = await sandboxFor();
  const all = sharedMachines(sandbox);
  const keys = addShareEncryptionKey(all.keys, randomBytes);
  const [newKid, oldKid] = keys.keys.map(({ kid }) => kid);
  const [first, second] = [all.machine('ci-1#a'), all.machine('ci-2#b', {}, keys)];
  const s0 = await all.login(first);
  await second.store.synchronize?.();
  const { row, restore, run } = all.server;
  const present = () => {
    const found = row();
    if (found === undefined || newKid === undefined) throw new Error('there is no row');
    return { found, newKid };
  };
  const reseal = async () => {
    const { found } = present();
    const encryptor = createSharedSessionEncryptor(keys, 'default', randomBytes);
    const opened = encryptor.open(found);
    if (opened.kind !== 'record') throw new Error(opened.kind);
    const sealed = encryptor.seal(found, opened.record, newKid);
    expect(await run({ op: 'reseal', by: 'ci-2#b', oldKid: found.kid, ...sealed })).toMatchObject({ applied: true });
  };
  const activate = () => {
    const { found, newKid: activeKid } = present();
    restore({ ...found, activeKid });
  };
  return { sandbox, ...all, first, second, s0, newKid, oldKid, present, reseal, activate };
}

describe('a machine without the new key of the share', () => {
  it('does not log in over a session that it cannot decrypt', async () => {
    const { first, second, activate, server, newKid, tryLogin } = await twoMachines();
    activate();
    await second.session().forceRefresh();
    expect(server.row()).toMatchObject({ kid: newKid, gen: 2 });
    const before = server.row();
    const { written } = await tryLogin(first);
    expect(written).toMatchObject({ kind: 'unavailable', isRejected: true });
    expect(server.row()).toEqual(before);
  });

  it('does not log in with a replaced key', async () => {
    const { first, activate, server, s0, tryLogin } = await twoMachines();
    activate();
    const { written } = await tryLogin(first);
    expect(written).toMatchObject({ kind: 'unavailable', isRejected: true });
    expect(server.row()?.sid).toBe(s0.sid);
    // The login is refused before the browser is opened.
    await first.store.synchronize?.();
    expect(first.store.checkWritable?.()).toMatchObject({ kind: 'unavailable' });
  });

  it('does not log out a session that it cannot decrypt: exit 6', async () => {
    const { sandbox, first, second, activate, login, server, newKid } = await twoMachines();
    activate();
    const record = await login(second);
    expect(server.row()?.kid).toBe(newKid);
    const failure = await logoutOn(first).then(String, (error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unreachable', exitCode: 6 });
    expectGolden('auth-share', errorText(failure).replaceAll(String(newKid), 'KID'));
    expect(server.row()?.sid).toBe(record.sid);
    expect((await callApi(sandbox, record.accessToken.reveal(), 'GET', '/v2/actions')).status).toBe(200);
  });

  it('does not publish a login that the store has not confirmed over a session that it cannot decrypt', async () => {
    const { first, second, activate, server, newKid, tryLogin } = await twoMachines();
    const undo = interceptOperations(server, async (operation, run) => {
      if (operation.op === 'commit') throw away;
      return run(operation);
    });
    await tryLogin(first);
    undo();
    activate();
    await second.session().forceRefresh();
    const before = server.row();
    expect(before).toMatchObject({ kid: newKid, gen: 2 });
    expect(await first.store.synchronize?.()).toMatchObject({ kind: 'unavailable' });
    expect(server.row()).toEqual(before);
  });

  it('goes on with a generation that was only encrypted again', async () => {
    const { first, reseal, server, oldKid, second } = await twoMachines();
    await reseal();
    expect((await first.session().forceRefresh()).gen).toBe(2);
    expect(server.row()).toMatchObject({ kid: oldKid, gen: 2 });
    await second.store.synchronize?.();
    expect((await second.session().record()).gen).toBe(2);
  });

  it('does not undo the encryption with the new key when it publishes the same generation', async () => {
    const { first, reseal, server, newKid } = await twoMachines();
    const undo = interceptOperations(server, async (operation, run) => {
      const snapshot = await run(operation);
      if (operation.op === 'commit') throw away;
      return snapshot;
    });
    await first.session().forceRefresh();
    undo();
    await reseal();
    await first.session().bearer();
    expect(server.row()).toMatchObject({ kid: newKid, gen: 2 });
  });
});

describe('a row that cannot be decrypted', () => {
  const year = 366 * 86_400;
  const damage = async (epochExcess: number) => {
    const all = await twoMachines();
    const { found } = all.present();
    all.server.restore({ ...found, epoch: Math.floor(Date.now() / 1000) + epochExcess, record: 'AAAA' });
    return all;
  };

  it('and has an epoch in the next ten years is replaced by a login, and by a logout', async () => {
    const { first, server, login } = await damage(9 * year);
    const { sid } = await login(first);
    const row = server.row();
    if (row?.sid !== sid) throw new Error('the login was not stored');
    server.restore({ ...row, epoch: row.epoch + 1, record: 'AAAA' });
    expect(await logoutOn(first)).toMatchObject({ kind: 'revoked' });
    expect(server.row()).toMatchObject({ epoch: row.epoch + 2 });
    await login(first);
    expect(server.row()).toMatchObject({ epoch: row.epoch + 3 });
  });

  it('and has a later epoch is not replaced: the error names the row, and a machine publishes the session afterwards', async () => {
    const { first, server, s0, login, tryLogin } = await damage(900_000_000_000_000);
    const before = server.row();
    expect((await tryLogin(first)).written).toMatchObject({ kind: 'unavailable', isRejected: true });
    // The login is refused before the browser is opened.
    await first.store.synchronize?.();
    expect(first.store.checkWritable?.()).toMatchObject({ kind: 'unavailable' });
    const failure = await logoutOn(first).then(String, (error: unknown) => error);
    expect(failure).toMatchObject({ code: 'unreachable' });
    expectGolden('auth-share', errorText(failure).replaceAll(String(before?.epoch), 'EPOCH'));
    expect(server.row()).toEqual(before);
    server.restore(undefined);
    await first.store.synchronize?.();
    expect(server.row()?.sid).toBe(s0.sid);
    await login(first);
    expect(server.row()?.epoch).toBeLessThan(Date.now() / 1000 + year);
  });
});
