import { describe, expect, test } from 'vitest';
import { renderFixScript } from '../../../../src/db/preflight/fix-script.ts';
import { freeHostMemory, freeMemory } from '../../../../src/db/preflight/redis/source.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { eventually, type RedisServer } from '../../../fixtures/redis.ts';
import { preflight, withRedis, write } from './real.ts';

const mib = 2 ** 20;

test.each([
  { what: 'full', info: { maxmemory: '100', used_memory: '100' }, room: 0 },
  { what: 'half full, with a reserve', info: { maxmemory: '1000', used_memory: '500' }, room: 400 },
  {
    what: 'with buffers that do not count',
    info: { maxmemory: '1000', used_memory: '1000', mem_not_counted_for_evict: '500' },
    room: 400,
  },
  { what: 'unlimited', info: { maxmemory: '0', used_memory: '500', total_system_memory: '1000' }, room: 300 },
  {
    what: 'a limit beyond the machine',
    info: { maxmemory: '9000', used_memory: '500', total_system_memory: '1000' },
    room: 300,
  },
  { what: 'more than the machine', info: { maxmemory: '0', used_memory: '900', total_system_memory: '1000' }, room: 0 },
  { what: 'not reported', info: { maxmemory: '0', used_memory: '500' }, room: undefined },
])('the room of a server: $what', ({ info, room }) => {
  const fields = Object.entries(info).map(([name, value]) => [name, value] as const);
  expect(freeMemory(new Map(fields) as Parameters<typeof freeMemory>[0])).toBe(room);
});

test('the machine has no room that is known when nothing is reported', () => {
  expect(freeHostMemory(new Map())).toBeUndefined();
});

/** Runs every line of a script, the optional ones too, as a person would who removes their comment marks. */
function runAll(server: RedisServer, script: string): void {
  const lines = script.split('\n').flatMap((line) => /^(?:# {3})?((?:CONFIG|ACL) .*)$/.exec(line)?.[1] ?? []);
  server.script(lines.join('\n'));
}

describe.skipIf(lacks('redis-server', 'redis-cli'))('a full cache of 100 MB', () => {
  test.each(['allkeys-lru', 'allkeys-random'])(
    'keeps its keys when the script runs (%s)',
    (policy) =>
      withRedis({ config: ['maxmemory 100mb', `maxmemory-policy ${policy}`, 'enable-debug-command yes'] }, (source) =>
        withRedis({}, async (target) => {
          source.cli('debug', 'populate', '40000', 'key', '2300');
          const full = () => Number(/used_memory:(\d+)/.exec(source.cli('info', 'memory'))?.[1]) > 0.97 * 100 * mib;
          for (let at = 0; !full() && at < 300; at += 1) source.cli('set', `fill${at}`, 'x'.repeat(100_000));
          expect(full()).toBe(true);
          const stop = write(source.port);
          try {
            const { report } = await preflight(source, {}, { isOverInternet: false });
            const script = renderFixScript(report) ?? '';
            stop();
            const keys = Number(source.cli('dbsize'));
            runAll(source, script);
            target.cli('replicaof', source.host, String(source.port));
            await eventually(() => target.cli('info', 'replication').includes('master_link_status:up'), 'the copy');
            // Enough writes to fill a backlog of a third of maxmemory: each overwrites the same key.
            const offset = () => Number(/master_repl_offset:(\d+)/.exec(source.cli('info', 'replication'))?.[1]);
            const goal = offset() + 35 * mib;
            const again = write(source.port, `SET same ${'y'.repeat(50_000)}\r\n`.repeat(800));
            await eventually(() => offset() > goal, 'the writes');
            again();
            const backlog = Number(/repl_backlog_size:(\d+)/.exec(source.cli('info', 'replication'))?.[1]);
            expect(backlog).toBeLessThan(10 * mib);
            expect(Number(source.cli('dbsize'))).toBeGreaterThan(keys * 0.98);
          } finally {
            stop();
          }
        }),
      ),
    60_000,
  );
});
