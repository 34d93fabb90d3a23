import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/platform/clock.ts';
import { type CompareDatabasesOptions, compareDatabases } from '../../src/rehearsal/compare-databases.ts';
import { postgresEndpointOf, startSource, startTarget } from '../engine/engine-servers.ts';
import type { Postgres } from '../fixtures/postgres.ts';

let source: Postgres;
let target: Postgres;

beforeAll(async () => {
  [source, target] = await Promise.all([startSource({ version: 14 }), startTarget({ version: 17 })]);
});

afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
});

beforeEach(async () => {
  for (const server of [source, target]) {
    await server.query('DROP DATABASE IF EXISTS shop WITH (FORCE)');
    await server.query('CREATE DATABASE shop');
  }
});

const endpoint = (server: Postgres) => ({ engine: 'postgresql', source: postgresEndpointOf(server) }) as const;

const compare = (more: Partial<CompareDatabasesOptions> = {}) =>
  compareDatabases({
    ...{ source: endpoint(source), target: endpoint(target), ignoreDbs: ['postgres'], clock: systemClock },
    ...{ signal: new AbortController().signal, catchUpTimeout: 500, maxRounds: 2 },
    ...more,
  });

async function onBoth(sql: string): Promise<void> {
  for (const server of [source, target]) await server.query(sql, 'shop');
}

const statesOf = ({ databases }: Awaited<ReturnType<typeof compare>>) =>
  Object.fromEntries(databases.flatMap(({ tables }) => tables.map(({ name, state }) => [name, state])));

test('equal rows in another order are equal, and one other value is not', async () => {
  await onBoth('CREATE TABLE t (id int PRIMARY KEY, at timestamptz, f float8, b bytea, i interval)');
  const row = "(%, '2026-01-02 03:04:05+00', 0.1, '\\x00ff', '1 day')";
  await source.query(`INSERT INTO t VALUES ${row.replace('%', '1')}, ${row.replace('%', '2')}`, 'shop');
  await target.query(`INSERT INTO t VALUES ${row.replace('%', '2')}, ${row.replace('%', '1')}`, 'shop');
  await target.query("ALTER DATABASE shop SET timezone = 'Asia/Tokyo'");
  await target.query("ALTER DATABASE shop SET datestyle = 'German'");
  await source.query("ALTER DATABASE shop SET bytea_output = 'escape'");
  await source.query("ALTER DATABASE shop SET intervalstyle = 'iso_8601'");
  await source.query('ALTER DATABASE shop SET extra_float_digits = -10');
  expect(await compare()).toMatchObject({ state: 'equal', databases: [{ name: 'shop', state: 'equal' }] });
  await target.query('UPDATE t SET f = 0.1 + 1e-17 WHERE id = 1', 'shop');
  expect((await compare()).state).toBe('equal');
  await target.query('UPDATE t SET f = 0.10000000000000002 WHERE id = 1', 'shop');
  expect(statesOf(await compare())).toEqual({ 'public.t': 'differs' });
});
