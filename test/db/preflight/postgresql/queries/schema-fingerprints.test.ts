import { expect, test } from 'vitest';
import { fingerprintsQuery } from '../../../../../src/db/preflight/postgresql/each-database.ts';
import { startPostgres } from '../../../../fixtures/postgres.ts';
import { queryRows } from '../query-rows.ts';

test('a fingerprint changes with the tables of the schema, and not with their rows', async () => {
  const server = await startPostgres({ version: 14 });
  const shapes = async () => {
    const sql = fingerprintsQuery.sql(140_000, { inRecovery: false, superuser: true }) ?? '';
    const found = fingerprintsQuery.decode(await queryRows(server, 'postgres', sql));
    return new Map(found.map((shape) => [shape.schema, shape]));
  };
  await server.query(
    'CREATE SCHEMA "S x"; CREATE TABLE "S x".t (a int, b text); CREATE TABLE u (a int); CREATE TABLE w ()',
  );
  const before = await shapes();
  expect(before.get('S x')).toMatchObject({ tables: 1, columns: 2 });
  const changes = [
    'ALTER TABLE u ADD c int',
    'ALTER TABLE u ALTER a TYPE bigint',
    'ALTER TABLE u ALTER a SET NOT NULL',
    'ALTER TABLE u REPLICA IDENTITY FULL',
    'ALTER TABLE u RENAME a TO z',
    'CREATE TABLE v (a int)',
    'DROP TABLE v',
  ];
  let last = before;
  for (const change of changes) {
    await server.query(change);
    const now = await shapes();
    expect(now.get('public')?.hash, change).not.toBe(last.get('public')?.hash);
    expect(now.get('S x')).toEqual(before.get('S x'));
    last = now;
  }
  await server.query('INSERT INTO u DEFAULT VALUES').catch(() => {});
  await server.query('CREATE TEMP TABLE mine (a int); CREATE VIEW seen AS SELECT 1 AS a; ANALYZE');
  expect(await shapes()).toEqual(last);
}, 30_000);
