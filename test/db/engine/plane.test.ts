import { expect, onTestFinished, test } from 'vitest';
import { probePlane } from '../../../src/db/engine/plane.ts';
import { lacks } from '../../fixtures/needs.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { testEngineDependencies } from './servers.ts';

test.skipIf(lacks('redis-server'))(
  'a Redis server tells its version, and one that refuses us is named without the password',
  async () => {
    const server = await startRedis({ config: ['requirepass right'] });
    onTestFinished(() => server.stop());
    const plane = await probePlane(`redis://:right@127.0.0.1:${server.port}`, testEngineDependencies());
    expect(plane).toMatchObject({
      engine: 'redis',
      host: '127.0.0.1',
      port: server.port,
      version: expect.stringMatching(/^\d+\./),
    });
    const refused = probePlane(`redis://:Wr0ngWord@127.0.0.1:${server.port}`, testEngineDependencies());
    await expect(refused).rejects.toThrow(`127.0.0.1:${server.port}: `);
    await expect(refused).rejects.not.toThrow('Wr0ngWord');
  },
);
