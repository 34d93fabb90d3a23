import pg from 'pg';
import { expect, test } from 'vitest';
import { countWrites, decodeRedisActivity, readActivity } from '../../../src/db/cutover/activity.ts';
import { parseInfo } from '../../../src/redis/info.ts';
import { type Postgres, ready } from '../../fixtures/postgres.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { startStandby } from '../../fixtures/standby.ts';
import { postgresEndpointOf, redisEndpointOf, startSource } from '../engine/servers.ts';

const signal = new AbortController().signal;

test('a source counts transactions that write, and names those that have not ended', async () => {
  const server = await startSource();
  try {
    await server.query('CREATE TABLE t (id int)');
    const source = { engine: 'postgresql', source: postgresEndpointOf(server) } as const;
    const first = await readActivity(source, signal);
    await server.query('SELECT count(*) FROM t');
    const second = await readActivity(source, signal);
    expect([countWrites(first, second), second.open]).toEqual([0, []]);
    await server.query('INSERT INTO t VALUES (1)');
    expect(countWrites(second, await readActivity(source, signal))).toBe(1);
  } finally {
    await server.stop();
  }
});

test('a standby never proves that nothing is open, because it does not show the transactions of its primary', async () => {
  const primary = await startSource({ version: 17 });
  const writer = new pg.Client({ host: primary.host, port: primary.ownPort, user: 'postgres', password: 'secret' });
  let standby: Postgres | undefined;
  try {
    await primary.query('CREATE TABLE t (id int)');
    standby = await startStandby(primary, { version: 17, settings: ready });
    await writer.connect();
    await writer.query('BEGIN; INSERT INTO t VALUES (1)');
    const { open } = await readActivity({ engine: 'postgresql', source: postgresEndpointOf(standby) }, signal);
    expect(open).toHaveLength(1);
  } finally {
    await writer.end();
    await standby?.stop();
    await primary.stop();
  }
}, 60_000);

test('a Redis source counts changes of keys, and not reads', async () => {
  const server = await startRedis();
  try {
    const source = { engine: 'redis', source: redisEndpointOf(server) } as const;
    const first = await readActivity(source, signal);
    server.cli('GET', 'a');
    const second = await readActivity(source, signal);
    expect(countWrites(first, second)).toBe(0);
    server.cli('SET', 'a', '1');
    expect(countWrites(second, await readActivity(source, signal))).toBeGreaterThan(0);
  } finally {
    await server.stop();
  }
});

test('a Redis replica never proves that nothing is written, because its primary may be', async () => {
  const [primary, server] = await Promise.all([startRedis(), startRedis()]);
  try {
    const source = { engine: 'redis', source: redisEndpointOf(server) } as const;
    expect((await readActivity(source, signal)).open).toEqual([]);
    server.cli('REPLICAOF', primary.host, String(primary.port));
    const { open } = await readActivity(source, signal);
    expect(open).toEqual([expect.stringContaining(`${primary.host}:${primary.port}`)]);
  } finally {
    await Promise.all([primary.stop(), server.stop()]);
  }
});

test('a counter that began again counts as a write', () => {
  const open: readonly string[] = [];
  expect(countWrites({ counter: 7, since: 'a', open }, { counter: 0, since: 'b', open })).toBe(1);
});

test.each([
  ['loading:1\r\nrole:master', 1],
  ['loading:0\r\nrole:master', 0],
  ['loading:1\r\nrole:slave', 2],
])('a Redis source with %j has %i reasons why something may still write', (info, count) => {
  expect(decodeRedisActivity(parseInfo(info)).open).toHaveLength(count);
});
