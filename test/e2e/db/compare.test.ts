import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { DatabaseComparisonReport } from '../../../src/db/cutover/comparison.ts';
import { startSource, startTarget } from '../../db/engine/servers.ts';
import { run } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { isPinnedTransaction } from '../../fixtures/pin-rules.ts';
import type { Postgres } from '../../fixtures/postgres.ts';

/** The log of each server has every message that it received, and from which program. */
const settings = { log_statement: 'all', log_line_prefix: '[%a] ' };
const secrets = { source: 'S3cret-of-source', target: 'S3cret-of-target' };
let folders: Folders;
let source: Postgres;
let target: Postgres;

beforeAll(async () => {
  [source, target] = await Promise.all([
    startSource({ version: 14, password: secrets.source, settings }),
    startTarget({ version: 18, password: secrets.target, settings }),
  ]);
  for (const server of [source, target]) {
    await server.query('CREATE DATABASE shop');
    await server.query('CREATE TABLE t (id serial PRIMARY KEY, name text)', 'shop');
  }
});

afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
});

beforeEach(() => {
  folders = makeFolders();
  return () => folders.remove();
});

const compare = (...more: readonly string[]) =>
  run(['db', 'compare', '--source', source.url('shop'), '--disable-ssl', '--ignore-dbs', 'postgres', ...more], {
    folders,
    env: {
      PGPASSWORD: secrets.source,
      CLOUDCTL_TARGET: `${target.url('postgres')}?sslmode=disable`,
      CLOUDCTL_TARGET_PASSWORD: secrets.target,
    },
    limit: 60_000,
  });

function withoutAddresses(text: string): string {
  return text
    .replace(/127\.0\.0\.1:\d+/g, 'SERVER')
    .replace(/\d+\.\d s/g, 'N s')
    .replace(/PostgreSQL [\d.]+/g, 'VERSION');
}

test('equal servers are exit 0, and the report is on standard output alone', async () => {
  for (const server of [source, target])
    await server.query("TRUNCATE t; SELECT setval('t_id_seq', 1); INSERT INTO t VALUES (1, 'one')", 'shop');
  const ran = await compare();
  expect(ran).toMatchObject({ code: 0 });
  expectGolden('db-compare', withoutAddresses(ran.stdout));
  expect(ran.stdout + ran.stderr).not.toMatch(/S3cret/);
});

test('another value is exit 1: JSON on standard output, one error on standard error', async () => {
  await target.query("UPDATE t SET name = 'two'", 'shop');
  const ran = await compare('-o', 'json');
  expect(ran).toMatchObject({ code: 1 });
  expect(ran.json<DatabaseComparisonReport>()).toMatchObject({
    state: 'differs',
    databases: [{ name: 'shop', tables: [{ name: 'public.t', rows_source: 1, rows_target: 1, state: 'differs' }] }],
  });
  expect(JSON.parse(ran.stderr)).toMatchObject({ error: { code: 'contents_differ', exit_code: 1 } });
});

test('what may not be read is exit 5, and csv has a row for it', async () => {
  await target.query("UPDATE t SET name = 'one'; ALTER TABLE t ENABLE ROW LEVEL SECURITY", 'shop');
  await target.query(`CREATE ROLE reader LOGIN PASSWORD '${secrets.target}'`);
  await target.query('GRANT SELECT ON t TO reader', 'shop');
  const ran = await compare(
    '-o',
    'csv',
    '--target',
    `${target.url('postgres').replace('postgres@', 'reader@')}?sslmode=disable`,
  );
  expect(ran).toMatchObject({ code: 5 });
  expect(ran.stdout).toMatch(/^shop,table,public\.t,1,,not_comparable,/m);
});

test('every message to both servers is a read-only transaction, and tables of users are read by COPY alone', () => {
  for (const server of [source, target]) {
    const messages = server
      .log()
      .split(/\n(?=\[)/)
      .flatMap((entry) => /^\[cloudctl-compare\] LOG: {2}statement: (.*)$/s.exec(entry.trimEnd())?.[1] ?? []);
    expect(messages.length).toBeGreaterThan(10);
    expect(messages.filter((message) => !isPinnedTransaction(message) && message !== 'ROLLBACK')).toEqual([]);
    const reading = messages.flatMap((message) => message.split('; ')).filter((one) => one.includes('"t"'));
    expect(new Set(reading)).toEqual(new Set(['COPY "public"."t" ("id", "name") TO STDOUT']));
    const copies = messages.filter((message) => message.includes('COPY'));
    for (const name of ['datestyle', 'timezone', 'intervalstyle', 'bytea_output', 'extra_float_digits'])
      expect(copies.every((message) => message.includes(`SET LOCAL ${name}=`))).toBe(true);
  }
});
