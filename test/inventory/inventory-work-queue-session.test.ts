import { expect, test } from 'vitest';
import { closedPort } from '../../scripts/free-port.mjs';
import {
  openQueueDatabaseSession,
  readInventoryQueueServerFromEnvironment,
} from '../../src/inventory/inventory-work-queue-session.ts';
import { systemClock } from '../../src/platform/clock.ts';

const read = (url: string) =>
  readInventoryQueueServerFromEnvironment({ CLOUDCTL_QUEUE_URL: url, HOME: '/nonexistent' }, 'linux', () => undefined);

test.each([
  '',
  'mysql://u@h/d',
  'postgres://u@db.example.com/d',
  'postgres://u@db.example.com/d?sslmode=require',
  'postgres://u@db.example.com/d?sslmode=disable',
  'postgres://u:hunter2@h:x/d',
])('%s is refused', (url) => {
  let message = '';
  try {
    read(url);
  } catch (error) {
    expect(error).toMatchObject({ code: 'usage' });
    message = JSON.stringify(error) + String(error);
  }
  expect(message).not.toBe('');
  expect(message).not.toContain('hunter2');
});

test('a server of this machine, and one with a verified certificate, are accepted', () => {
  expect(read('postgres://u@127.0.0.1/d?sslmode=disable')).toMatchObject({ host: '127.0.0.1' });
  expect(read('postgres://u@db.example.com/d?sslmode=verify-full')).toMatchObject({ host: 'db.example.com' });
});

test('a server that stays away is an error after the limit', async () => {
  const source = read(`postgres://u:p@127.0.0.1:${await closedPort()}/d?sslmode=disable`);
  const session = openQueueDatabaseSession(source, {
    clock: systemClock,
    signal: new AbortController().signal,
    limit: 500,
  });
  await expect(session.send(['SELECT 1'])).rejects.toMatchObject({ code: 'unreachable' });
  await session.end();
});
