import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRedisRunId } from '../../../../src/db/cutover/rehearse/redis.ts';
import { unprovenOf } from '../../../../src/db/cutover/rehearse/report.ts';
import { openRehearsal, type RehearsalRun } from '../../../../src/db/cutover/rehearse/run.ts';
import { argsFrom, commandIo } from '../../../fixtures/command-io.ts';
import { type TestHost, testHost } from '../../../fixtures/host.ts';
import { lacks, which } from '../../../fixtures/needs.ts';
import { eventually, type RedisServer, startRedis } from '../../../fixtures/redis.ts';
import { redisEndpointOf } from '../../engine/servers.ts';

const isMissing = lacks('redis-server');
let server: RedisServer;

beforeAll(async () => {
  if (!isMissing) server = await startRedis();
});

afterAll(() => server?.stop());

function open(host: TestHost, sourcePort: number, targetHost: string): Promise<RehearsalRun> {
  const target = redisEndpointOf(server, { host: targetHost });
  return openRehearsal(commandIo(host), {
    source: { engine: 'redis', source: { ...target, port: sourcePort } } as Parameters<
      typeof openRehearsal
    >[1]['source'],
    target: { engine: 'redis', source: target },
    ...{ args: argsFrom({}), signal: new AbortController().signal, keep: false, stallTimeout: 1000, interval: 1000 },
  });
}

test.skipIf(isMissing)('a Redis server with two addresses is one target for the rehearsals of a machine', async () => {
  const host = testHost();
  const first = await open(host, 1, '127.0.0.1');
  const second = await open(host, 2, 'localhost');
  await first.inspectTarget();
  await expect(second.inspectTarget()).rejects.toMatchObject({
    code: 'busy',
    detail: expect.stringContaining(`127.0.0.1:1 into 127.0.0.1:${server.port}`),
  });
  await first.close();
  await second.inspectTarget();
  await second.close();
});

test.skipIf(isMissing)('a server that became a replica while the user confirmed is refused', async () => {
  const other = await startRedis();
  const run = await open(testHost(), other.port, '127.0.0.1');
  try {
    await run.inspectTarget();
    await run.plan('continuous');
    server.cli('REPLICAOF', '127.0.0.1', String(other.port));
    await expect(run.run('continuous')).rejects.toMatchObject({ code: 'preflight_blocked' });
    expect(server.cli('ROLE')).toMatch(/^slave/);
  } finally {
    server.cli('REPLICAOF', 'NO', 'ONE');
    await run.close();
    await other.stop();
  }
});

test.skipIf(isMissing)('the run id is the same for every address, and unknown without a server', async () => {
  const { signal } = new AbortController();
  const [id, same] = await Promise.all(
    ['127.0.0.1', 'localhost'].map((host) => readRedisRunId(redisEndpointOf(server, { host }), signal)),
  );
  expect(id).toMatch(/^[0-9a-f]{40}$/);
  expect(same).toBe(id);
  expect(await readRedisRunId(redisEndpointOf(server, { port: 1 }), signal)).toBeUndefined();
});

test.skipIf(isMissing)(
  'a rehearsal beside an application that writes proves the keys that it does not write',
  async () => {
    const [source, target] = await Promise.all([startRedis(), startRedis()]);
    source.cli('EVAL', "for n = 1, 2000 do redis.call('SET', 'k' .. n, n) end", '0');
    const endpoint = redisEndpointOf(target);
    const run = await openRehearsal(commandIo(testHost()), {
      source: { engine: 'redis', source: redisEndpointOf(source) } as Parameters<typeof openRehearsal>[1]['source'],
      target: { engine: 'redis', source: endpoint },
      ...{
        args: argsFrom({}),
        signal: new AbortController().signal,
        keep: false,
        stallTimeout: 20_000,
        interval: 1000,
      },
    });
    const words = ['-p', String(source.port), '-r', '-1', '-i', '0.001', 'INCR', 'k1'];
    const writer = spawn(which('redis-cli') ?? 'valkey-cli', words, { stdio: 'ignore' });
    await eventually(() => Number(source.cli('GET', 'k1')) > 10, 'the first writes');
    try {
      await run.inspectTarget();
      await run.plan('continuous');
      const { databases, errors } = await run.run('continuous');
      expect(errors).toEqual([]);
      expect(databases[0]?.tables[0]?.state).not.toBe('differs');
      expect(databases[0]?.tables[0]?.rows_equal).toBeGreaterThanOrEqual(1999);
      expect(unprovenOf(databases)).toEqual([]);
    } finally {
      writer.kill();
      await run.close();
      await Promise.all([source.stop(), target.stop()]);
    }
  },
);
