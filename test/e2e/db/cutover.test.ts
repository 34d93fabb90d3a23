import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSource, startTarget, waitUntil } from '../../db/engine/servers.ts';
import { type RunOptions, run, start } from '../../fixtures/cli.ts';
import { type Folders, makeFolders } from '../../fixtures/folders.ts';
import { lacks } from '../../fixtures/needs.ts';
import { expectSchema } from '../../fixtures/output-schemas.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { terminal } from '../../fixtures/terminal.ts';
import { sandboxFor, tokenFor } from '../../sandbox/requests.ts';

let source: Postgres;
let target: Postgres;
let folders: Folders;
beforeAll(async () => {
  folders = makeFolders();
  [source, target] = await Promise.all([startSource({ version: 17 }), startTarget({ version: 18 })]);
  await source.query('ALTER SYSTEM SET autovacuum = off');
  await source.query('SELECT pg_reload_conf()');
});
afterAll(async () => {
  await Promise.all([source?.stop(), target?.stop()]);
  folders.remove();
});

/** A migration in sync, and the words and the environment of its cut-over; `login` is that of the target. */
async function openMigration(login = 'postgres', setup: readonly string[] = []) {
  for (const server of [source, target]) await server.query('DROP DATABASE IF EXISTS shop WITH (FORCE)');
  await source.query('CREATE DATABASE shop');
  await source.query('CREATE TABLE t (id serial PRIMARY KEY, note text)', 'shop');
  await source.query("INSERT INTO t (note) SELECT repeat('x', 100) FROM generate_series(1, 20000)", 'shop');
  await source.query('CREATE MATERIALIZED VIEW slow AS SELECT count(*) AS n, pg_sleep(2)::text FROM t', 'shop');
  for (const statement of setup) await source.query(statement, 'shop');
  const url = `postgres://${login}:${target.password}@127.0.0.1:${target.port}/postgres?sslmode=disable`;
  const sandbox = await sandboxFor({ clusters: [{ name: 'orders', url }] });
  const { access_token: token } = await tokenFor(sandbox);
  const env = {
    CLOUDCTL_BASE_URL: sandbox.ready.base_url,
    CLOUDCTL_ACCESS_TOKEN: token,
    PGPASSWORD: source.password,
    CLOUDCTL_TARGET_PASSWORD: target.password,
  };
  const options: RunOptions = { folders, env, limit: 90_000 };
  const cluster = sandbox.ready.clusters.find(({ name }) => name === 'orders')?.uuid ?? '';
  const from = [
    '--source',
    `postgres://postgres@127.0.0.1:${source.port}/shop?sslmode=disable`,
    '--ignore-dbs',
    'postgres',
  ];
  const started = await run(['db', 'migrate', cluster, ...from, '--skip-preflight', '-o', 'json'], options);
  expect(started.code).toBe(0);
  const status = async () => {
    const shown = (await run(['db', 'status', cluster, '-o', 'json'], options)).json<{ status: string }>();
    expectSchema('db-status-1.json', shown);
    return shown.status;
  };
  await waitUntil(async () => (await status()) === 'syncing', 'syncing');
  const to = ['--target', `postgres://${login}@127.0.0.1:${target.port}/postgres?sslmode=disable`];
  return { options, words: ['db', 'cutover', cluster, ...from, ...to, '--follow'], status };
}

test.each(['writes', 'sequences', 'contents', 'stopped'])(
  'killed after the step %s and run again, it continues to the end',
  async (id) => {
    const { options, words, status } = await openMigration();
    const apply = [...words, '--apply', '--yes', '-o', 'ndjson'];
    const killed = start(apply, options);
    await killed.waitFor('stdout', new RegExp(`"id":"${id}","state":"${id === 'stopped' ? 'open|done' : 'done'}"`));
    killed.kill('SIGKILL');
    await killed.ended;
    const ran = await run(apply, options);
    expect(ran).toMatchObject({ code: 0 });
    expect(await status()).toBe('canceled');
    const left = await source.query(
      'SELECT 1 FROM pg_replication_slots UNION ALL SELECT 1 FROM pg_publication',
      'shop',
    );
    const [view] = await target.query('SELECT n::int AS n FROM slow', 'shop');
    expect([left, view]).toEqual([[], { n: 20_000 }]);
  },
);

test('a login of the target without SUPERUSER analyzes the tables before it gives them to their owner', async () => {
  await source.query('CREATE ROLE shop_owner');
  await target.query(`CREATE ROLE admin LOGIN CREATEDB CREATEROLE PASSWORD '${target.password}'`);
  await target.query('GRANT pg_create_subscription TO admin');
  const { options, words } = await openMigration('admin', [
    'ALTER TABLE t OWNER TO shop_owner',
    'ALTER DATABASE shop OWNER TO shop_owner',
  ]);
  const ran = await run([...words, '--apply', '--yes', '-o', 'ndjson'], options);
  expect(ran).toMatchObject({ code: 0 });
  const [table] = await target.query(
    "SELECT tableowner, last_analyze IS NOT NULL AS analyzed FROM pg_tables JOIN pg_stat_user_tables USING (schemaname) WHERE tablename = 't' AND relname = 't'",
    'shop',
  );
  expect(table).toEqual({ tableowner: 'shop_owner', analyzed: true });
});

test.skipIf(lacks('tmux'))(
  'on a terminal of 80 columns each step stands once, and a command stays readable',
  async () => {
    const { options, words } = await openMigration();
    const shown = await terminal(words, { ...options, columns: 80, rows: 24 });
    const screen = await shown.waitFor(/Set the sequences of the target with:[\s\S]*waiting for the sequences/);
    const marks = screen.split('\n').flatMap((line) => /^([✓…?·]) /.exec(line)?.[1] ?? []);
    // What is done stands above the command, once; the open step below it.
    expect(marks.join('')).toBe('✓✓✓✓✓✓✓…');
    await target.query("SELECT setval('t_id_seq', 20000)", 'shop');
    await shown.waitFor(/✓ source and target have the same contents[\s\S]*waiting for the stop/);
    await shown.press('C-c');
    expect(await shown.ended()).toBe(130);
    expect(await shown.screen()).toMatch(/cloudctl db cutover [\s\S]*--follow/);
    await shown.close();
  },
);

test.skipIf(lacks('tmux'))(
  'on a terminal it asks when both servers are read, and changes nothing without a yes',
  async () => {
    const { options, words, status } = await openMigration();
    const wrong = { ...options, env: { ...options.env, CLOUDCTL_TARGET_PASSWORD: 'wrong' }, columns: 80, rows: 24 };
    const failed = await terminal([...words, '--apply'], wrong);
    expect(await failed.ended()).toBe(5);
    expect(await failed.screen()).not.toContain('y/N');
    await failed.close();
    const shown = await terminal([...words, '--apply'], { ...options, columns: 80, rows: 24 });
    const screen = await shown.waitFor(/\(y\/N\)/);
    expect(screen).toMatch(/^✓ /m);
    await shown.press('n', 'Enter');
    expect(await shown.ended()).not.toBe(0);
    expect(await status()).toBe('syncing');
    await shown.close();
  },
);
