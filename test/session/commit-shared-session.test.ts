import { describe, expect, it } from 'vitest';
import { DatabaseConnectError, DatabaseError } from '../../src/platform/connect-error.ts';
import { readSharedSessionCopy } from '../../src/session/shared-copy.ts';
import type { SharedSessionOperation } from '../../src/shared-store/shared-session.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { sharedMachines } from './shared-machines.ts';

const away = new DatabaseConnectError('network', 'ECONNREFUSED', 'connection refused');

async function oneMachine() {
  const sandbox = await sandboxFor();
  const all = sharedMachines(sandbox);
  const first = all.machine('ci-1#a');
  await all.login(first);
  return { sandbox, ...all, first };
}

describe('a shared store that does not confirm a commit', () => {
  it('a login that the store applied without confirming it is kept, and its tokens are not revoked', async () => {
    const { sandbox, first, login, server } = await oneMachine();
    const { run } = server;
    Object.assign(server, {
      run: async (operation: SharedSessionOperation) => {
        const snapshot = await run(operation);
        if (operation.op === 'commit') throw away;
        return snapshot;
      },
    });
    const record = await login(first);
    expect(first.deps.warnings).toHaveLength(1);
    Object.assign(server, { run });
    expect((await first.session().record()).sid).toBe(record.sid);
    expect(server.row()).toMatchObject({ sid: record.sid, gen: 1 });
    expect(sandbox.requests('POST /v1/oauth/revoke')).toEqual([]);
  });

  it('a login that the store did not receive is kept on its machine, whose next command stores it', async () => {
    const { first, login, server } = await oneMachine();
    const { run } = server;
    Object.assign(server, {
      run: async (operation: SharedSessionOperation) => {
        if (operation.op === 'commit') throw away;
        return run(operation);
      },
    });
    const record = await login(first);
    expect(server.row()?.sid).not.toBe(record.sid);
    Object.assign(server, { run });
    await first.store.synchronize?.();
    expect(server.row()?.sid).toBe(record.sid);
  });

  it('a login that the store rejects fails at once', async () => {
    const { first, login, server, keys } = await oneMachine();
    const { run, operations } = server;
    const before = server.row();
    operations.length = 0;
    Object.assign(server, {
      run: async (operation: SharedSessionOperation) => {
        if (operation.op !== 'commit') return run(operation);
        operations.push(operation);
        throw new DatabaseError('42501', 'permission denied', false);
      },
    });
    await expect(login(first)).rejects.toThrow('unavailable');
    expect(operations.map(({ op }) => op)).toEqual(['read', 'commit']);
    expect(server.row()).toEqual(before);
    expect(readSharedSessionCopy(first.place, keys.share)).toMatchObject({ sid: before?.sid });
  });
});
