import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { run } from '../../fixtures/cli.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { terminal } from '../../fixtures/terminal.ts';
import { findingOf, localSourceOptions, reportOf, runPreflight } from './preflight-run.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';

let folders: Folders;
let server: Postgres;
beforeAll(async () => {
  folders = makeFolders();
  server = await startPostgres({
    version: 17,
    settings: ready,
    setup: ['CREATE DATABASE shop', 'CREATE DATABASE bad'],
  });
  await server.query('CREATE TABLE t (id int PRIMARY KEY, x text)', 'shop');
  await server.query("INSERT INTO t SELECT g, repeat('x', 1000) FROM generate_series(1, 1000) g", 'shop');
  await server.query(
    'CREATE TABLE t (id int PRIMARY KEY, x text); CREATE CAST (bytea AS text) WITHOUT FUNCTION',
    'bad',
  );
  await server.query("INSERT INTO t VALUES (1, '\\xff'::bytea::text)", 'bad');
  await server.query('DROP CAST (bytea AS text)', 'bad');
});
afterAll(async () => {
  await server?.stop();
  folders.remove();
});

test('db preflight reads rows only with --deep, and reports how much', async () => {
  const words = ['--target-version', '17', '-o', 'json'];
  const without = reportOf(await runPreflight(server, words, { folders }));
  expect(without.rows).toEqual({ state: 'not_read' });
  expect(without.verdict).toBe('continuous');
  const ran = await runPreflight(server, [...words, '--deep', '--deep-rate', '1000', '--show-queries'], { folders });
  expect(ran.code).toBe(3);
  const report = reportOf(ran);
  expect(report.rows).toMatchObject({ state: 'read', tables: 2, rows: 1001, not_read: [], keys_not_compared: [] });
  expect(findingOf(report, 'invalid-bytes', 'bad')).toMatchObject({
    status: 'fail',
    objects: ['x of public.t (1 row)'],
  });
  expect(findingOf(report, 'invalid-bytes', 'shop').status).toBe('pass');
  expect(report.databases.map(({ name, verdict }) => [name, verdict])).toEqual(
    expect.arrayContaining([
      ['shop', 'continuous'],
      ['bad', 'blocked'],
    ]),
  );
  expect(ran.stderr).toContain('COPY "public"."t" ("id", "x") TO STDOUT');
});

test('reading rows may take longer than the deadline', async () => {
  const rate = ['--deep', '--deep-rate', '0.1', '--deadline', '9s'];
  const words = ['--target-version', '17', '-o', 'json', '--ignore-dbs', 'bad', ...rate];
  const report = reportOf(await runPreflight(server, words, { folders }));
  expect(report.rows).toMatchObject({ state: 'read', rows: 1000 });
  expect(report.verdict).toBe('continuous');
});

test('db migrate --deep starts the migration only when the rows can be copied', async () => {
  const answer = { id: 'f1', status: 'running', created_at: '2026-11-20T12:00:00Z' };
  const service = await serverFor(({ method }, response) => reply(response, method === 'GET' ? 404 : 200, answer));
  const env = {
    ...{ CLOUDCTL_BASE_URL: service.origin, CLOUDCTL_ACCESS_TOKEN: 'a-token' },
    PGPASSWORD: server.password,
  };
  const migrate = (...words: readonly string[]) =>
    run(
      ['db', 'migrate', cluster, '--source', server.url('shop'), ...localSourceOptions(server)].concat(
        ['--target-version', '17', '--deep', '--deep-rate', '100', '-o', 'json'],
        words,
      ),
      { folders, env },
    );
  const refused = await migrate();
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toContain('invalid-bytes');
  expect(service.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  const started = await migrate('--ignore-dbs', 'bad');
  expect(started.code).toBe(0);
  const { preflight } = started.json<{ readonly preflight: PreflightReport }>();
  expect(preflight.rows).toMatchObject({ state: 'read', tables: 1, rows: 1000 });
  expect(service.seen.map(({ method }) => method).filter((one) => one !== 'GET')).toEqual(['PUT']);
});

test.skipIf(lacks('tmux'))('a terminal shows how much was read', async () => {
  const words = [
    'db',
    'preflight',
    '--source',
    server.url('shop'),
    ...localSourceOptions(server),
    '--ignore-dbs',
    'bad',
  ];
  const env = { PGPASSWORD: server.password };
  const shown = await terminal([...words, '--deep', '--deep-rate', '0.2'], { folders, env, columns: 120 });
  try {
    await shown.waitFor(/\d+ kB read; shop: table 1 of 1, public\.t/, 60_000);
    await shown.waitFor(/1,000 rows of 1 table, (?:\d+ kB|1 MB)/, 60_000);
    expect(await shown.ended()).toBe(0);
  } finally {
    await shown.close();
  }
});
