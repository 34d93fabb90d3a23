import { expect, test } from 'vitest';
import {
  beginMigration,
  makePostgresJob,
  objectsOn,
  postgresEndpointOf,
  startSource,
  startTarget,
  subscriptionsOn,
  waitForState,
  waitUntil,
} from './servers.ts';

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
