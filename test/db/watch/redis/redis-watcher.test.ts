import { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { encodeRedisCommand } from '../../../../src/redis/resp.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { type RedisOptions, type RedisServer, startRedis } from '../../../fixtures/redis.ts';
import { startWatchRun, watchedRedis } from '../run-watch.ts';

vi.setConfig({ testTimeout: 60_000 });

const populated = { config: ['enable-debug-command yes'] };

async function server(options: RedisOptions = {}): Promise<RedisServer> {
  const started = await startRedis(options);
  onTestFinished(() => started.stop());
  return started;
}

it('a replica that is made is followed until it streams, and one that is stopped is missed', async () => {
  const [source, target] = await Promise.all([server(populated), server()]);
  source.cli('DEBUG', 'POPULATE', '20000', 'key', '500');
  const watch = startWatchRun(watchedRedis(source), { limits: { unreachable: 400 } });
  await watch.untilPhase('waiting');
  target.cli('REPLICAOF', source.host, String(source.port));
  const streaming = await watch.untilPhase('streaming');
  expect(streaming.databases[0]).toMatchObject({ slot: `127.0.0.1:${target.port}` });
  await watch.until('nothing left', (_seen, { idlePolls }) => idlePolls >= 3);
  expect(watch.looks.flatMap(({ sample }) => sample.violations)).toEqual([]);
  source.cli('CONFIG', 'SET', 'maxmemory', '100mb');
  await watch.untilBroken('maxmemory-changed');
  target.cli('REPLICAOF', 'NO', 'ONE');
  await watch.untilBroken('replica-gone');
  await watch.until('the end', (_seen, { ending }) => ending !== undefined);
});

it('full copies that never come to an end are a loop', async () => {
  // The copy takes ten seconds, and the changes meanwhile are more than is kept for a replica.
  const config = ['client-output-buffer-limit replica 1kb 1kb 1', 'repl-backlog-size 16kb', 'rdb-key-save-delay 200'];
  const [source, target] = await Promise.all([server({ config: [...populated.config, ...config] }), server()]);
  source.cli('DEBUG', 'POPULATE', '50000', 'key', '100');
  const watch = startWatchRun(watchedRedis(source));
  await watch.untilPhase('waiting');
  target.cli('REPLICAOF', source.host, String(source.port));
  // Not by redis-cli, for which everything else here would have to wait.
  const application = connect(source.port, source.host).on('data', () => {});
  const writing = setInterval(() => application.write(encodeRedisCommand(['SET', 'k', 'x'.repeat(100_000)])), 200);
  onTestFinished(() => {
    clearInterval(writing);
    application.destroy();
  });
  const found = await watch.untilBroken('full-sync-loop', 40_000);
  const loop = found.violations.find(({ rule }) => rule === 'full-sync-loop');
  expect(loop?.hint).toMatch(/client-output-buffer-limit/);
  expectGolden('db-watch', loop?.hint.replace(/now: [^)]+/, 'now: LIMITS') ?? '');
});

it('a password that is changed ends the connection, and a source that ends is waited for', async () => {
  const source = await server({ config: ['requirepass old'] });
  const watch = startWatchRun(watchedRedis(source, 'old'));
  await watch.untilPhase('waiting');
  source.cli('-a', 'old', 'CONFIG', 'SET', 'requirepass', 'new');
  await watch.untilBroken('login-refused');
  process.kill(source.pid, 'SIGKILL');
  await watch.untilBroken('source-unreachable');
  expect((await watch.untilPhase('gone')).violations).toMatchObject([{ rule: 'source-unreachable' }]);
});
