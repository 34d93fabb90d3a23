import { connect } from 'node:net';
import { Secret } from '../../../src/base/secret.ts';
import type { RedisServer } from '../../fixtures/redis.ts';
import type { Prepared, RedisCase } from './case.ts';

const admin = 'user default on nopass ~* &* +@all';

/** Sources that are migrated after the fix script of their report was run with redis-cli. */
export const fixedRedisCases: readonly RedisCase[] = [
  {
    name: 'fixed: the backlog of a full cache that evicts',
    verdict: 'continuous',
    quick: true,
    filled: [0],
    source: { config: ['enable-debug-command yes', 'client-output-buffer-limit replica 0 0 0'] },
    before: async (source) => fullCache(source),
    fixes: { verdict: 'continuous', optional: true, written: ['k'] },
  },
  {
    name: 'fixed: a user without PSYNC',
    verdict: 'continuous',
    quick: true,
    source: { acl: [admin, 'user mover on >pw ~* &* +@all -psync -sync -replconf'] },
    connection: { username: 'mover', password: new Secret('pw') },
    fixes: { verdict: 'scan' },
  },
  {
    name: 'fixed: a full server that refuses writes',
    verdict: 'continuous',
    filled: [0],
    source: { config: ['enable-debug-command yes'] },
    before: async (source) => nearlyFull(source),
    fixes: { verdict: 'scan', written: ['k'] },
  },
  {
    name: 'fixed: writes that wait for replicas, a small output buffer and a short timeout',
    verdict: 'continuous',
    source: {
      config: ['repl-timeout 12', 'client-output-buffer-limit replica 1mb 500kb 60', 'min-replicas-to-write 0'],
    },
    fixes: { verdict: 'continuous', optional: true },
  },
];

/** 40 MB of cache with 3 MB left, and 10 MB written each second: a larger backlog fills while the target follows. */
function fullCache(source: RedisServer): Prepared {
  source.cli('debug', 'populate', '4000', 'filler', '10000');
  source.cli('config', 'set', 'maxmemory', String(usedMemory(source) + 3_000_000));
  source.cli('config', 'set', 'maxmemory-policy', 'allkeys-lru');
  return writeRepeatedly(source, 20);
}

/** Less is left of maxmemory than the backlog of a first replica takes; further keys would take it at once. */
function nearlyFull(source: RedisServer): Prepared {
  source.cli('debug', 'populate', '2000', 'filler', '10000');
  source.cli('config', 'set', 'maxmemory', String(usedMemory(source) + 600_000));
  return { ...writeRepeatedly(source), primaries: [source] };
}

function usedMemory(source: RedisServer): number {
  return Number(/^used_memory:(\d+)/m.exec(source.cli('info', 'memory'))?.[1]);
}

function writeRepeatedly(source: RedisServer, times = 1): Prepared {
  const socket = connect(source.port, source.host);
  socket.on('error', () => {});
  socket.resume();
  const timer = setInterval(() => socket.write(`SET k ${'x'.repeat(10_000)}\r\n`.repeat(times)), 20);
  return {
    async end() {
      clearInterval(timer);
      socket.destroy();
    },
  };
}
