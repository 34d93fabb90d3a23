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
  return { sandbox, ...all, first, second, s0, newKid, oldKid, reseal, activate };
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
