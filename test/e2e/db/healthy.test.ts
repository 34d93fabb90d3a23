import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { complaints, preflight, reportOf } from './ground.ts';

let folders: Folders;
beforeAll(() => {
  folders = makeFolders();
});
afterAll(() => folders.remove());

/** What people have: several schemas, keys of all kinds, views, sequences, partitions, names that need quotes. */
export const shop = [
  'CREATE SCHEMA sales',
  'CREATE TABLE customers (id bigint PRIMARY KEY, name text NOT NULL UNIQUE, born date)',
  `INSERT INTO customers SELECT n, 'name ' || n, '2000-01-01' FROM generate_series(1, 500) n`,
  'CREATE TABLE sales.orders (customer bigint REFERENCES customers, at timestamptz, PRIMARY KEY (customer, at))',
  'CREATE TABLE sales."Odd Name" ("Key" int PRIMARY KEY, "select" jsonb)',
  'CREATE TABLE notes (id uuid NOT NULL UNIQUE, text text)',
  'ALTER TABLE notes REPLICA IDENTITY USING INDEX notes_id_key',
  'UPDATE customers SET born = born + 1 WHERE id < 100',
  'CREATE VIEW adults AS SELECT * FROM customers',
];

describe.each([14, 15, 16, 17, 18] as const)('a healthy PostgreSQL %i', (version) => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres({ version, tls: true, settings: ready, setup: ['CREATE DATABASE shop'] });
    for (const statement of shop) await server.query(statement, 'shop');
  });
  afterAll(() => server?.stop());

  test('will be replicated, and nothing is said against it', async () => {
    const ran = await preflight(server, ['--target-version', '18', '-o', 'json'], { folders, dbname: 'shop' });
    const report = reportOf(ran);
    expect(complaints(report)).toEqual([]);
    expect(report).toMatchObject({ schema_version: 1, verdict: 'continuous', ok: true, proven: true, data_loss: [] });
    expect(report.databases.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['postgres', 'continuous'],
      ['shop', 'continuous'],
    ]);
    expect(report.source).toMatchObject({ ssl: true, role: { superuser: true } });
    expect(report.source.server_version).toMatch(new RegExp(`^${version}\\.`));
    expect(ran).toMatchObject({ code: 0, stderr: '' });
  });
});
