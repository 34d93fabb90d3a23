import { describe, expect, it } from 'vitest';
import { encodeCredentialRecord } from '../../../src/auth/session/credential-record.ts';
import { refreshStoredSession } from '../../../src/auth/session/refresh-session.ts';
import { reply } from '../../fixtures/fake-server.ts';
import { machineWith, singleUseServer, token } from './session-fixture.ts';

const due = { kind: 'due' } as const;

describe.each(['file', 'keychain'] as const)('a refresh token that is rejected (%s)', (kind) => {
  it('ends the session where the store has nothing newer', async () => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    server.generation = 7;
    await expect(refreshStoredSession(machine.deps, due)).rejects.toMatchObject({ code: 'needs_login' });
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
        .withItems((items) => items.write('credential', encodeCredentialRecord(newer)))
        .then(() => reply(response, 400, { error: 'invalid_grant' }));
    });
    const { record } = await refreshStoredSession(machine.deps, due);
    expect([record.gen, record.accessToken.reveal()]).toEqual([2, 'at-2']);
    expect(machine.stored()?.refreshToken?.reveal()).toBe('rt-2');
    expect(machine.traces()).toEqual([]);
  });

  it('by six processes at once, without a lock, is one grant for all of them', async () => {
    const server = await singleUseServer();
    const machine = await machineWith(server, kind);
    const lock = async () => ({ descriptor: -1, release: () => undefined });
    const all = await Promise.all(
      Array.from({ length: 6 }, () => refreshStoredSession(machine.sibling({ lock }), due)),
    );
    expect(all.map(({ record }) => record.accessToken.reveal())).toEqual(all.map(() => 'at-2'));
    expect(machine.stored()?.refreshToken?.reveal()).toBe('rt-2');
    expect(machine.traces()).toEqual([]);
  });
});
