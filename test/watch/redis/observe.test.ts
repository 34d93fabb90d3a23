import { expect, it, onTestFinished } from 'vitest';
import { usual } from '../../../src/watch/limits.ts';
import { observeRedis } from '../../../src/watch/redis/observe.ts';
import { startRedis } from '../../fixtures/redis.ts';

it('a setting that may not be read is asked for once, and the rest is seen all the same', async () => {
  const server = await startRedis({ acl: ['user default on nopass ~* &* +@all -config|get'] });
  onTestFinished(() => server.stop());
  const { host, port } = server;
  const sent: string[] = [];
  const observer = observeRedis({
    source: { host, port, username: undefined, password: undefined, db: undefined, ssl: 'disable' },
    limits: usual,
    now: () => 0,
    signal: new AbortController().signal,
    onSent: (_place, text) => void sent.push(text),
  });
  onTestFinished(() => observer.close());
  expect((await observer.look()).kind).toBe('seen');
  expect(sent.filter((text) => text.startsWith('CONFIG GET')).length).toBeGreaterThan(0);
  sent.length = 0;
  expect((await observer.look()).kind).toBe('seen');
  expect(sent).toEqual(['INFO everything']);
});
