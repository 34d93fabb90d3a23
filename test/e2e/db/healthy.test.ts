import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Ran } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { problemFindings, reportOf, runPreflight } from './preflight-run.ts';

const versions = [14, 15, 16, 17, 18] as const;
type Version = (typeof versions)[number];

/** What people have: keys of all kinds, several schemas, a view, an identity by index, names that need quotes. */
const shop = [
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

let folders: Folders;
const servers: Postgres[] = [];
const runs = new Map<Version, Ran>();

// All at once: most of a run is waiting for the second reading of the WAL position.
beforeAll(async () => {
  folders = makeFolders();
  const words = ['--target-version', '18', '-o', 'json'];
  const one = async (version: Version) => {
    const server = await startPostgres({ version, tls: true, settings: ready, setup: ['CREATE DATABASE shop'] });
    servers.push(server);
    for (const statement of shop) await server.query(statement, 'shop');
    runs.set(version, await runPreflight(server, words, { folders, dbname: 'shop' }));
  };
  await Promise.all(versions.map(one));
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  folders.remove();
});

test.each(versions)('a healthy PostgreSQL %i will be replicated, and nothing is said against it', (version) => {
  const ran = runs.get(version)!;
  const report = reportOf(ran);
  expect(problemFindings(report)).toEqual([]);
  expect(report).toMatchObject({ verdict: 'continuous', ok: true, proven: true, data_loss: [] });
  expect(report.databases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['postgres', 'continuous'],
    ['shop', 'continuous'],
  ]);
  expect(report.source).toMatchObject({ ssl: true, role: { superuser: true } });
  expect(report.source.server_version).toMatch(new RegExp(`^${version}\\.`));
  expect(ran.stderr).not.toMatch(/^(warning|error|note)/m);
  expect(ran.code).toBe(0);
});
