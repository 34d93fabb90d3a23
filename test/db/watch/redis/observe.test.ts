import { expect, it, onTestFinished } from 'vitest';
import { watchLimits } from '../../../../src/db/watch/limits.ts';
import { createRedisObserver } from '../../../../src/db/watch/redis/observe.ts';
import { startRedis } from '../../../fixtures/redis.ts';

it('a setting that may not be read is requested once, and the others are still read', async () => {
  const server = await startRedis({ acl: ['user default on nopass ~* &* +@all -config|get'] });
  onTestFinished(() => server.stop());
  const { host, port } = server;
  const sent: string[] = [];
  const observer = createRedisObserver({
    source: { host, port, username: undefined, password: undefined, db: undefined, ssl: 'disable' },
    limits: watchLimits,
    now: () => 0,
    signal: new AbortController().signal,
    onSent: (_place, text) => void sent.push(text),
  });
  onTestFinished(() => observer.close());
  expect((await observer.poll()).kind).toBe('seen');
  expect(sent.filter((text) => text.startsWith('CONFIG GET')).length).toBeGreaterThan(0);
  sent.length = 0;
  expect((await observer.poll()).kind).toBe('seen');
  expect(sent).toEqual(['INFO everything']);
});
