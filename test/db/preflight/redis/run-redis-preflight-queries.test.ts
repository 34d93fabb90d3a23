import { expect, it } from 'vitest';
import { toResult } from '../../../../src/db/preflight/redis/collect.ts';
import { CommandError } from '../../../../src/redis/command-error.ts';

const ask = { id: 'memory', permission: '+info' };
const outcome = (error: unknown) => toResult(Promise.reject(error), ask, { user: 'mover' });

it('a reply that cannot be parsed fails its own query only', async () => {
  const result = await outcome(new TypeError('reply is no map'));
  expect(result).toMatchObject({ kind: 'failed', isMalformed: true });
});

it('a session that is lost breaks the rest, and our own end of it does not', async () => {
  expect(await outcome(new CommandError('ECONNRESET', 'closed', true))).toMatchObject({
    kind: 'failed',
    broke: true,
  });
  expect(await outcome(new CommandError('ERR', 'no', false))).toMatchObject({ kind: 'failed', broke: false });
});
