import { expect, test } from 'vitest';
import { readKeyContent } from '../../../../src/db/cutover/redis/keys.ts';
import type { RedisConnection } from '../../../../src/redis/connection.ts';

test('a type named like a property of every object is compared by its DUMP', async () => {
  const session: Pick<RedisConnection, 'send' | 'sendRaw'> = {
    send: async ([command]) => (command === 'TYPE' ? 'constructor' : -1),
    sendRaw: async () => Buffer.from('dumped'),
  };
  expect(await readKeyContent(session as RedisConnection, Buffer.from('k'), true)).toMatchObject({
    type: 'constructor',
    expiresAt: -1,
    isOpaque: true,
  });
});
