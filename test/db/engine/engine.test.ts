import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../../../src/db/engine/engine.ts';
import { probePlane } from '../../../src/db/engine/plane.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { lacks } from '../../fixtures/needs.ts';
import { startRedis } from '../../fixtures/redis.ts';
import {
  beginMigration,
  copySimpleSchema,
  makePostgresJob,
  objectsOn,
  postgresEndpointOf,
  shortEngineLimits,
  startSource,
  startTarget,
  subscriptionsOn,
  testEngineDependencies,
  waitForState,
  waitUntil,
} from './servers.ts';

test('an engine that closes ends its migrations; the next one removes what a killed one has left, by its journal', async () => {
  const [source, target] = await Promise.all([startSource({ tls: true }), startTarget()]);
  await source.query('CREATE TABLE t (id int PRIMARY KEY)');
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-engine-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const journal = join(folder, 'engine');
  const make = (path: string) =>
    createEngine({
      journal: path,
      now: Date.now,
      ports: { schemaCopy: copySimpleSchema, limits: shortEngineLimits },
    });
  const first = make(journal);
  // It says nothing of TLS, and the server has none.
  const plane = await first.openDataPlane(`postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres`);
  expect(plane).toMatchObject({ engine: 'postgresql', port: target.port, version: expect.stringMatching(/^17\./) });
  const asked = { host: '127.0.0.1', port: source.port, dbname: 'postgres', username: 'postgres' };
  const migration = first.start({
    id: randomUUID(),
    dataPlane: plane,
    source: { ...asked, password: source.password, disableSsl: false },
    ignoreDbs: [],
    deadline: Number.POSITIVE_INFINITY,
    finishWhenIdle: false,
  });
  if (typeof migration === 'string') throw new Error(migration);
  await waitForState(migration, ({ status }) => status === 'syncing');
  const copy = join(folder, 'copy');
  // What a process would find that comes after a kill at this moment.
  writeFileSync(copy, readFileSync(journal));
  const next = make(copy);
  expect(await next.cleanUp()).toEqual([]);
  expect(await objectsOn(source)).toEqual([]);
  expect(await subscriptionsOn(target)).toEqual([]);
  expect(await next.cleanUp()).toEqual([]);
  await next.close();
  const { status, reason } = await migration.ended;
  expect(status).toBe('error');
  expectGolden('db-migrate', reason ?? '');
  await first.close();
  expect(existsSync(journal)).toBe(true);
});

test('an address that cannot be read is refused in words that quote nothing of it', async () => {
  const engine = createEngine({ now: Date.now });
  const refusals: string[] = [];
  for (const url of [
    'mysql://u:S3cretWord@h/d',
    'postgres://u:S3cret Word%@h/d',
    'postgres://:S3cretWord@h/d',
    'redis://u:S3cretWord@:x',
    'redis://u:S3cretWord@h:99999',
    'S3cretWord',
  ]) {
    const refusal = await engine.openDataPlane(url).catch((error: unknown) => String(error));
    expect(refusal).toMatch(/^MigrationError: /);
    expect(refusal).not.toContain('S3cret');
    refusals.push(String(refusal));
  }
  expectGolden('db-migrate', refusals.join('\n'));
});

test('rows arrive, and so does what is written during and after the copy; stopping keeps them and leaves nothing on the source', async () => {
  const [source, target] = await Promise.all([startSource(), startTarget()]);
  await source.query('CREATE DATABASE shop');
  await source.query(
    'CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t SELECT i, md5(i::text) FROM generate_series(1, 20000) i',
    'shop',
  );
  const migration = beginMigration(makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target)));
  await source.query("INSERT INTO t VALUES (0, 'during')", 'shop');
  await waitForState(migration, ({ status }) => status === 'syncing');
  await source.query(
    "INSERT INTO t VALUES (-1, 'after'); UPDATE t SET name = 'changed' WHERE id = 7; DELETE FROM t WHERE id = 8",
    'shop',
  );
  await waitUntil(async () => {
    const [row] = await target.query(
      'SELECT count(*)::int AS n, count(*) FILTER (WHERE id = -1)::int AS a, max(name) FILTER (WHERE id = 7) AS c FROM t',
      'shop',
    );
    return row?.n === 20_001 && row.a === 1 && row.c === 'changed';
  }, 'the changes');
  const state = await waitForState(migration, ({ databases }) => databases.every(({ phase }) => phase === 'streaming'));
  expect(state).toMatchObject({ status: 'syncing', method: 'continuous' });
  expect(state.databases).toMatchObject([
    { name: 'postgres', phase: 'streaming', tables: [] },
    { name: 'shop', phase: 'streaming', method: 'continuous', tables: [{ name: 'public.t', stage: 'r' }] },
  ]);
  expect(await migration.stop()).toEqual([]);
  expect(await migration.ended).toMatchObject({ status: 'canceled', reason: 'stopped_by_user' });
  expect(await objectsOn(source)).toEqual([]);
  expect(await subscriptionsOn(target)).toEqual([]);
  expect(await target.query('SELECT count(*)::int AS n FROM t', 'shop')).toEqual([{ n: 20_001 }]);
});

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
