import { expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { sequencesQuery } from '../../../../src/db/cutover/postgresql/sequences.ts';
import {
  type EachDatabaseOptions,
  fingerprintsQuery,
  queryEachDatabase,
} from '../../../../src/db/preflight/postgresql/each-database.ts';
import { parsePostgresqlEndpoint } from '../../../../src/postgresql/endpoint.ts';
import { testClock } from '../../../fixtures/host.ts';
import { startPostgres } from '../../../fixtures/postgres.ts';

function options(url: string, ignoreDbs: readonly string[] = []): EachDatabaseOptions {
  const { source } = parsePostgresqlEndpoint({ source: `${url}?sslmode=disable` }, () => undefined);
  return {
    source: { ...source, password: new Secret('secret') },
    ignoreDbs,
    clock: testClock(),
    signal: AbortSignal.timeout(15_000),
    nearest: () => undefined,
  };
}

test('each database is queried, a refusal has its reason, and an ignored database is left out', async () => {
  const server = await startPostgres({
    setup: ['CREATE DATABASE shop', 'CREATE DATABASE closed ALLOW_CONNECTIONS false', 'CREATE DATABASE scratch'],
  });
  await server.query('CREATE SEQUENCE orders', 'shop');
  await server.query("SELECT setval('orders', 41)", 'shop');
  const told = await queryEachDatabase(options(server.url(), ['scratch']), sequencesQuery);
  expect(told.map(({ database }) => database)).toEqual(['closed', 'postgres', 'shop']);
  expect(told[0]).toEqual({
    database: 'closed',
    failure: expect.stringContaining('accepting connections'),
  });
  expect(told[2]).toMatchObject({ value: [{ name: 'public.orders', value: '41', called: true }] });
});

test('the shape of a schema changes with a column and not with a row', async () => {
  const server = await startPostgres({ setup: ['CREATE TABLE t (id int PRIMARY KEY)'] });
  const shape = async () => JSON.stringify(await queryEachDatabase(options(server.url()), fingerprintsQuery));
  const before = await shape();
  await server.query('INSERT INTO t VALUES (1)');
  expect(await shape()).toBe(before);
  await server.query('ALTER TABLE t ADD name text');
  expect(await shape()).not.toBe(before);
});

test('a failed connection is source_unreachable, with the reason', async () => {
  await expect(queryEachDatabase(options('postgres://nobody@127.0.0.1:9/x'), fingerprintsQuery)).rejects.toMatchObject({
    code: 'source_unreachable',
    exitCode: 3,
  });
});
