import { expect, it } from 'vitest';
import { DatabaseConnectError, DatabaseError } from '../../src/platform/connect-error.ts';
import { createReconnectingCall } from '../../src/shared-store/create-reconnecting-call.ts';

function calls(connectErrors: readonly Error[] = []) {
  const counts = { connected: 0, ended: 0 };
  const left = [...connectErrors];
  const connection = createReconnectingCall({
    connect: async () => {
      counts.connected += 1;
      const error = left.shift();
      if (error !== undefined) throw error;
      return counts.connected;
    },
    end: () => {
      counts.ended += 1;
    },
  });
  return { counts, connection };
}

/** Fails once with the error, then returns the number of the session. */
function failingOnce(error: Error): (session: number) => Promise<number> {
  let isFirst = true;
  return async (session) => {
    if (isFirst) {
      isFirst = false;
      throw error;
    }
    return session;
  };
}

const lost = new DatabaseError('ECONNRESET', 'closed', true);

it('an open session that was lost is replaced, and the operation is repeated', async () => {
  const { counts, connection } = calls();
  await connection.run(async () => undefined);
  expect(await connection.run(failingOnce(lost))).toBe(2);
  await connection.close();
  expect(counts).toEqual({ connected: 2, ended: 2 });
});

it.each([
  ['a new session that was lost', lost, false],
  ['a statement that was refused', new DatabaseError('42501', 'denied', false), true],
])('%s is an error', async (_name, error, isOpen) => {
  const { connection } = calls();
  if (isOpen) await connection.run(async () => undefined);
  await expect(connection.run(failingOnce(error))).rejects.toBe(error);
});

it.each(['25006', '57P01', 'READONLY', 'LOADING'])(
  'after %s the operation is repeated on a new session',
  async (code) => {
    const { connection } = calls();
    await connection.run(async () => undefined);
    expect(await connection.run(failingOnce(new DatabaseError(code, 'failover', false)))).toBe(2);
  },
);

it('a connection that took too long is tried once more, a refused one is not', async () => {
  const late = new DatabaseConnectError('network', 'ETIMEDOUT', 'no answer');
  expect(await calls([late]).connection.run(async (session) => session)).toBe(2);
  const refused = new DatabaseConnectError('network', 'ECONNREFUSED', 'refused');
  await expect(calls([refused]).connection.run(async () => undefined)).rejects.toBe(refused);
});

it.each([
  ['a lost connection', lost, true],
  ['a server that stops', new DatabaseError('57P01', 'terminating connection', false), true],
  ['a server that is read-only', new DatabaseError('READONLY', 'replica', false), false],
])(
  'after %s the error of the repetition is a rejection only if the first attempt was one',
  async (_name, error, isLost) => {
    const { connection } = calls();
    await connection.run(async () => undefined);
    const errors = [error, new DatabaseError('LOADING', 'loading the dataset', false)];
    const failure = await connection.run(async () => Promise.reject(errors.shift())).then(String, (thrown) => thrown);
    expect(failure).toMatchObject({ code: 'LOADING', lost: isLost });
  },
);
