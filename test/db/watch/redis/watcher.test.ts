import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { addServiceStatus } from '../../../../src/db/watch/service.ts';
import { encodeCommand } from '../../../../src/redis/resp.ts';
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
  const writing = setInterval(() => application.write(encodeCommand(['SET', 'k', 'x'.repeat(100_000)])), 200);
  onTestFinished(() => {
    clearInterval(writing);
    application.destroy();
  });
  // Redis counts a connection that it has cut a moment later.
  const loopOf = ({ violations }: { readonly violations: readonly { rule: string; hint: string }[] }) =>
    violations.find(({ rule, hint }) => rule === 'full-sync-loop' && hint.includes('CONFIG SET'));
  const loop = loopOf(await watch.until('the cause of the loop', (seen) => loopOf(seen) !== undefined, 40_000));
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

/** Every violation that was seen, with its hint. */
const saidBy = (watch: ReturnType<typeof startWatchRun>) =>
  watch.looks.flatMap(({ sample }) => [
    ...sample.violations.map(({ rule, observed, hint }) => `${rule}: ${observed}; ${hint}`),
    ...(sample.notes ?? []),
  ]);

it('a source that restarts and loads its data is loading, and loses neither keys nor a failover', async () => {
  const slow = ['save 3600 1', 'key-load-delay 400', 'loading-process-events-interval-bytes 1024'];
  const source = await server({ config: [...populated.config, ...slow] });
  const target = await server();
  source.cli('DEBUG', 'POPULATE', '10000', 'key', '100');
  target.cli('REPLICAOF', source.host, String(source.port));
  const watch = startWatchRun(watchedRedis(source));
  await watch.untilPhase('streaming');
  source.cli('SAVE');
  await source.restart();
  const loading = await watch.untilPhase('loading');
  expect(loading.violations).toEqual([]);
  expect(loading.notes?.[0]).toMatch(/\bloads\b/);
  await watch.untilPhase('streaming');
  await watch.until('everything resolved', ({ violations }) => violations.length === 0);
  const said = saidBy(watch).join('\n');
  expect(said).not.toMatch(/keys-dropped|\bstop\b|failover|promoted/);
  source.cli('FLUSHALL');
  await watch.untilBroken('keys-dropped');
});

it('a source that restarts without its keys has lost them, also for the next watch', async () => {
  const [source, target] = await Promise.all([server({ config: ['save ""'] }), server()]);
  source.cli('MSET', ...[1, 2, 3, 4, 5].flatMap((n) => [`k${n}`, 'v']));
  target.cli('REPLICAOF', source.host, String(source.port));
  const watch = startWatchRun(watchedRedis(source));
  await watch.untilPhase('streaming');
  const { runKeys } = watch.looks.at(-1) ?? {};
  expect(runKeys).toMatchObject({ keys: 5 });
  process.kill(source.pid, 'SIGKILL');
  await source.restart();
  await watch.untilBroken('keys-lost');
  await watch.until('the copy of nothing', ({ phase }) => phase === 'streaming');
  expect(target.cli('DBSIZE')).toBe('0');
  expect(watch.last().violations.map(({ rule }) => rule)).toEqual(['keys-lost']);
  expect(watch.looks.at(-1)?.runKeys).toEqual(runKeys);
  expect(saidBy(watch).join('\n')).not.toMatch(/restarted; wait/);
  await watch.stop();
  const record = { engine: 'redis', source: 's', ...(runKeys === undefined ? {} : { runKeys }) } as const;
  const again = startWatchRun(watchedRedis(source), { record });
  const found = (await again.untilBroken('keys-lost')).violations.find(({ rule }) => rule === 'keys-lost');
  expectGolden(
    'db-watch',
    `${found?.observed}; ${found?.hint}`.replace(/at 20\S+Z/, 'at TIME').replace(/\([0-9a-f]{8}\)/, '(RUN)'),
  );
  source.cli('MSET', ...[1, 2, 3, 4, 5].flatMap((n) => [`k${n}`, 'v']));
  await again.until('the keys are back', ({ violations }) => violations.length === 0);
});

it('a target that cannot write the copy is no fault of the source', async () => {
  const [source, target] = await Promise.all([server(populated), server()]);
  source.cli('DEBUG', 'POPULATE', '1000', 'key', '100');
  const watch = startWatchRun(watchedRedis(source));
  await watch.untilPhase('waiting');
  // As with a full disk, the copy of every attempt is lost.
  rmSync(join(target.folder, 'data'), { recursive: true });
  target.cli('REPLICAOF', source.host, String(source.port));
  const found = await watch.untilBroken('full-sync-loop', 60_000);
  const loop = found.violations.find(({ rule }) => rule === 'full-sync-loop');
  expect(loop?.hint).toMatch(/full disk.*repl-timeout/);
  expect(loop?.hint).not.toContain('CONFIG SET');
  const told = { status: 'syncing', raw: { databases: [{ name: 'all', reason: 'No space left on device' }] } };
  const joined = addServiceStatus(found, { kind: 'known', migration: told }, 'cloudctl db status uuid');
  expect(joined.violations[0]).toMatchObject({ rule: 'target-disk-full' });
});

it('a target that acknowledges nothing is noted at once, and one that is gone has no percentage', async () => {
  const [source, target] = await Promise.all([server({ config: ['repl-timeout 600'] }), server()]);
  target.cli('REPLICAOF', source.host, String(source.port));
  const watch = startWatchRun(watchedRedis(source), { interval: 500 });
  await watch.untilPhase('streaming');
  process.kill(target.pid, 'SIGSTOP');
  onTestFinished(() => void process.kill(target.pid, 'SIGCONT'));
  source.cli('SET', 'k', 'x'.repeat(1000));
  const from = watch.looks.length;
  const noted = await watch.until(
    'a note',
    ({ notes }) => notes?.some((note) => /acknowledged nothing/.test(note)) === true,
  );
  expect(watch.looks.length - from).toBeLessThan(10);
  expect(noted.phase).not.toBe('streaming');
  expect(noted.violations).toEqual([]);
  source.cli('CLIENT', 'KILL', 'TYPE', 'replica');
  const gone = await watch.untilPhase('gone');
  expect(gone).not.toHaveProperty('percent');
  expect(gone).not.toHaveProperty('lag_bytes');
  expect(gone.databases[0]).not.toHaveProperty('percent');
});

it('a script, a missing permission and a demoted source have their own words', async () => {
  const acl = ['user default on nopass ~* &* +@all', 'user mover on >secret ~* &* +@all'];
  const [source, other] = await Promise.all([server({ acl, config: ['busy-reply-threshold 100'] }), server()]);
  const watch = startWatchRun(watchedRedis(source, 'secret', 'mover'));
  await watch.untilPhase('waiting');
  const script = connect(source.port, source.host).on('data', () => {});
  onTestFinished(() => void script.destroy());
  script.write(encodeCommand(['EVAL', 'while true do end', '0']));
  const busy = await watch.untilBroken('source-busy');
  expect(busy.violations[0]?.hint).toContain('SCRIPT KILL');
  source.cli('SCRIPT', 'KILL');
  await watch.untilPhase('waiting');
  source.cli('ACL', 'SETUSER', 'mover', '-info');
  const denied = await watch.untilBroken('command-denied');
  expect(denied.violations[0]?.hint).toContain('ACL SETUSER mover +info');
  source.cli('ACL', 'SETUSER', 'mover', '+info');
  await watch.untilPhase('waiting');
  source.cli('REPLICAOF', other.host, String(other.port));
  const demoted = await watch.untilBroken('source-is-replica');
  expect(demoted.violations[0]?.observed).toMatch(new RegExp(`127.0.0.1:${other.port} .*demoted`));
  const texts = saidBy(watch).join('\n');
  expect(texts).not.toMatch(/pg_hba|\brows?\b|\btables?\b/);
});
