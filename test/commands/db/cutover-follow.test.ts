import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startSource, startTarget, waitUntil } from '../../db/engine/servers.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { runPsql } from '../../fixtures/psql.ts';
import { eventually, type RedisServer, startRedis } from '../../fixtures/redis.ts';
import { admin, sandboxFor, tokenFor } from '../../sandbox/requests.ts';
import { recordedRequests, runCloudctl, sandboxEnvironment, startCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

let source: Postgres;
let target: Postgres;
const writers = new Set<() => Promise<void>>();
beforeAll(async () => {
  [source, target] = await Promise.all([startSource({ version: 17 }), startTarget({ version: 18 })]);
  // A transaction of autovacuum counts as a write.
  await source.query('ALTER SYSTEM SET autovacuum = off');
  await source.query('SELECT pg_reload_conf()');
});
afterEach(async () => {
  for (const stop of writers) await stop();
  writers.clear();
});
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

const masked = (text: string) =>
  text
    .replaceAll(String(source.port), 'SOURCE')
    .replaceAll(String(target.port), 'TARGET')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\d\d:\d\d:\d\d /g, 'TIME ')
    .replaceAll(/confirmed [0-9A-F]+\/[0-9A-F]+/g, 'confirmed LSN')
    // Whether a transaction is open when it is looked at is chance.
    .replaceAll(/; not ended: [^;"\n]*/g, '')
    .replaceAll(/\/\S*\/window\.html/g, 'FOLDER/window.html')
    .replaceAll(/pid \d+/g, 'pid N')
    .replaceAll(/\d+ (writing transaction)s?/g, 'N $1s')
    .replaceAll(/\d+ s\b/g, 'N s');

interface Line {
  readonly id: string;
  readonly state: string;
  readonly observed: string;
}

const words = ['--follow', '--wait-timeout', '30s'];

/** A machine with a migration of one database that is in sync, and an application that writes 20 times a second. */
async function openPostgresql({
  user = 'postgres',
  more = 'SELECT 1',
}: {
  readonly user?: string;
  readonly more?: string;
} = {}) {
  for (const server of [source, target]) await server.query('DROP DATABASE IF EXISTS shop WITH (FORCE)');
  await source.query('CREATE DATABASE shop');
  await source.query('CREATE TABLE t (id serial PRIMARY KEY, note text)', 'shop');
  await source.query("INSERT INTO t (note) SELECT 'x' FROM generate_series(1, 1000)", 'shop');
  await source.query("SELECT lo_from_bytea(0, 'large')", 'shop');
  await source.query(more, 'shop');
  const url = `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres?sslmode=disable`;
  const opened = await openMachine(url, {
    source: `postgres://postgres@127.0.0.1:${source.port}/shop?sslmode=disable`,
    target: `postgres://${user}@127.0.0.1:${target.port}/postgres?sslmode=disable`,
    more: ['--ignore-dbs', 'postgres'],
  });
  return { ...opened, startWriter: () => startWriter(), left: () => leftOn(source) };
}

async function openMachine(url: string, at: { source: string; target: string; more: readonly string[] }) {
  const sandbox = await sandboxFor({ clusters: [{ name: url.startsWith('redis') ? 'cache' : 'orders', url }] });
  const { access_token: token } = await tokenFor(sandbox);
  const host = dbTestHost({
    ...sandboxEnvironment(sandbox),
    CLOUDCTL_ACCESS_TOKEN: token,
    PGPASSWORD: source.password,
    CLOUDCTL_TARGET_PASSWORD: at.target.startsWith('redis') ? '' : target.password,
  });
  const db = (...more: readonly string[]) => runCloudctl(host, ['db', ...more]);
  const cluster =
    (await db('list', '-o', 'json'))
      .json<{ id: string; engine: string }[]>()
      .find(({ engine }) => (engine === 'redis') === url.startsWith('redis'))?.id ?? '';
  const from = ['--source', at.source, ...at.more];
  const started = await db('migrate', cluster, ...from, '--skip-preflight', '-o', 'json');
  expect(started.err).not.toContain('error:');
  const status = async () => (await db('status', cluster, '-o', 'json')).json<{ status: string }>().status;
  await waitUntil(async () => (await status()) === 'syncing', 'syncing');
  const cutover = [cluster, ...from, '--target', at.target];
  return { sandbox, host, cluster, db, status, cutover };
}

function startWriter(): () => Promise<void> {
  const client = new pg.Client({
    host: source.host,
    port: source.ownPort,
    user: 'postgres',
    password: 'secret',
    database: 'shop',
    application_name: 'the shop',
  });
  client.on('error', () => {});
  let isOver = false;
  const writing = (async () => {
    await client.connect();
    while (!isOver) {
      await client.query("INSERT INTO t (note) VALUES ('y')");
      await sleep(50);
    }
    await client.end();
  })().catch(() => {});
  const stop = async () => {
    isOver = true;
    await writing;
  };
  writers.add(stop);
  return stop;
}

async function leftOn(server: Postgres): Promise<number> {
  const rows = await server.query('SELECT 1 FROM pg_replication_slots UNION ALL SELECT 1 FROM pg_publication', 'shop');
  return rows.length;
}

it('follows an application that writes and then stops, to the switch, with a page of the window', async () => {
  const { host, cutover, startWriter, left, status, db } = await openPostgresql();
  const stopWriting = startWriter();
  const page = join(host.place.home, 'window.html');
  const running = startCloudctl(host, [
    'db',
    'cutover',
    ...cutover,
    ...words,
    '--apply',
    '--yes',
    '--report',
    page,
    '-o',
    'ndjson',
  ]);
  await running.waitForOutput(/"id":"writes","state":"open"/);
  await running.waitForOutput(/CLOUDCTL|ALTER DATABASE/);
  const before = await source.query('SELECT count(*)::int AS n FROM t', 'shop');
  expect(Number(before[0]?.n)).toBeGreaterThan(1000);
  await stopWriting();
  const stoppedAt = performance.now();
  const ran = await running.ended;
  const seconds = (performance.now() - stoppedAt) / 1000;
  expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining('error:')]);
  expect(seconds).toBeLessThan(12);
  const lines = ran.out
    .trim()
    .split('\n')
    .map((line): Line & { at: string } => JSON.parse(line));
  const last = new Map(lines.map(({ id, state }) => [id, state]));
  expect(Object.fromEntries(last)).toEqual({
    target: 'done',
    writes: 'done',
    lag: 'done',
    sequences: 'done',
    contents: 'done',
    stopped: 'done',
    extensions: 'done',
    definitions: 'done',
    passwords: 'done',
    large_objects: 'done',
    materialized_views: 'done',
    grants: 'done',
    defaults: 'done',
    settings: 'done',
    statistics: 'done',
    clean: 'done',
    left_out: 'done',
  });
  expect([await status(), await left()]).toEqual(['canceled', 0]);
  const counts = await Promise.all(
    [source, target].map((server) =>
      server.query(
        'SELECT count(*)::int AS n, (SELECT count(*)::int FROM pg_largeobject_metadata) AS objects FROM t',
        'shop',
      ),
    ),
  );
  expect(counts[0]).toEqual(counts[1]);
  expect(await target.query('SELECT last_value FROM t_id_seq', 'shop')).toEqual(
    await source.query('SELECT last_value FROM t_id_seq', 'shop'),
  );
  const html = readFileSync(page, 'utf8');
  expect(html).toMatch(/<td>SELECT pg_catalog\.setval/);
  expect(html).not.toContain(source.password);
  // A second run finds everything done, as after a kill between the last step and its message.
  const again = await db('cutover', ...cutover, ...words, '--apply', '--yes');
  expect(again.code).toBe(0);
  expectGolden('db-cutover-follow', masked(`${again.out}${again.err}`));
  // After the switch, the application uses the sequences of the target; to set them back would give it the same keys again.
  await target.query("SELECT nextval('t_id_seq')", 'shop');
  const used = await target.query('SELECT last_value FROM t_id_seq', 'shop');
  const values = used.map(({ last_value }) => String(last_value)).join();
  const shown = (text: string) =>
    masked(text)
      .replaceAll(values, 'N')
      .replaceAll(/source \d+/g, 'source N');
  for (const [name, more] of [
    ['--apply', [...words, '--apply', '--yes']],
    ['the checklist', []],
  ] as const) {
    const late = await db('cutover', ...cutover, ...more);
    expect(late.code).toBe(5);
    const said = late.err.split('\n').filter((line) => /ahead|hint:/.test(line));
    expectGolden('db-cutover-follow', shown(said.join('\n')), name);
  }
  expect(await target.query('SELECT last_value FROM t_id_seq', 'shop')).toEqual(used);
});

it('lists an application that never stops, prints a fence that works, and ends with exit code 5', async () => {
  const { host, cutover, startWriter, status } = await openPostgresql();
  startWriter();
  const ran = await runCloudctl(host, [
    'db',
    'cutover',
    ...cutover,
    '--follow',
    '--wait-timeout',
    '4s',
    '--apply',
    '--yes',
    '-o',
    'json',
  ]);
  expect(ran.code).toBe(5);
  const fence = /psql -X -v ON_ERROR_STOP=1 \S+ -c .*default_transaction_read_only = on.*/.exec(ran.err)?.[0] ?? '';
  expect(fence).toContain('pg_terminate_backend');
  expect(ran.error()).toMatchObject({ code: 'cutover_incomplete', hint: expect.stringContaining('--follow --apply') });
  expectGolden('db-cutover-follow', masked(ran.err));
  expect(await status()).toBe('syncing');
});

it('a fence ends the writes while the command waits, and the migration is stopped behind it', async () => {
  const { host, cutover, startWriter, left } = await openPostgresql();
  startWriter();
  const running = startCloudctl(host, ['db', 'cutover', ...cutover, ...words, '--apply', '--yes']);
  await running.waitForOutput(/default_transaction_read_only/);
  await source.query('ALTER DATABASE shop SET default_transaction_read_only = on');
  await source.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'the shop'");
  const ran = await running.ended;
  expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining('error:')]);
  // The lock that is still there after the switch is told, too.
  expect(ran.err.match(/ RESET default_transaction_read_only/g)).toHaveLength(2);
  expect(await left()).toBe(0);
  // The application can write after the switch.
  await target.query("INSERT INTO t (note) VALUES ('switched')", 'shop');
});

it('a run that ends without success names the command that ends the lock of the source', async () => {
  const { host, cutover, db } = await openPostgresql();
  await source.query('ALTER DATABASE shop SET default_transaction_read_only = on');
  const running = startCloudctl(host, ['db', 'cutover', ...cutover, ...words]);
  await running.waitForOutput(/db sequences/);
  running.host.signal('SIGINT');
  const ran = await running.ended;
  expectGolden('db-cutover-follow', masked(ran.err));
  const checked = await db('cutover', ...cutover, '-o', 'json');
  const stopped = await db('stop', ...cutover.slice(0, -2), '--yes');
  for (const hint of [ran.err, checked.error().hint, stopped.err])
    expect(hint).toContain('ALTER DATABASE "shop" RESET default_transaction_read_only');
  // The hint is followed as it was printed.
  const undo = /is read-only .*, run `([^`]*)`/.exec(checked.error().hint ?? '')?.[1] ?? '';
  await expect(source.query('INSERT INTO t DEFAULT VALUES', 'shop')).rejects.toThrow('read-only');
  const own = undo.replace(`:${source.port}/`, `:${source.ownPort}/`);
  const env = { ...process.env, PGPASSWORD: source.password, PGSSLMODE: 'disable' };
  execFileSync('sh', ['-c', own], { env, stdio: 'ignore' });
  await source.query('INSERT INTO t DEFAULT VALUES', 'shop');
});

it('what the service does not copy is printed by the command that the checklist names', async () => {
  const { cutover, db } = await openPostgresql({ more: 'GRANT SELECT ON t TO PUBLIC' });
  const checked = await db('cutover', ...cutover);
  const [, count = '', command = ''] =
    /the service has (\d+) warnings? about what it does not copy: `cloudctl ([^`]*)`/.exec(checked.err) ?? [];
  const shown = await db(...command.split(' ').slice(1));
  expect([shown.code, Number(count)]).toEqual([0, shown.err.match(/^warning: /gm)?.length]);
});

it('Ctrl-C says that nothing was changed, and the command that continues', async () => {
  const { host, cutover, startWriter, status } = await openPostgresql();
  startWriter();
  const running = startCloudctl(host, ['db', 'cutover', ...cutover, ...words, '-o', 'ndjson']);
  await running.waitForOutput(/"id":"writes","state":"open"/);
  running.host.signal('SIGINT');
  const ran = await running.ended;
  expect(ran.code).toBe(130);
  expect(ran.error().hint).toMatch(/`cloudctl db cutover .*--follow/);
  expectGolden('db-cutover-follow', masked(JSON.stringify(ran.error(), undefined, 2)));
  expect(await status()).toBe('syncing');
});

it('Ctrl-C after the stop says that it was sent, and the same command waits for the end', async () => {
  const { host, cutover, sandbox, left } = await openPostgresql({
    more: 'CREATE MATERIALIZED VIEW slow AS SELECT pg_sleep(3)::text',
  });
  const page = join(host.place.home, 'window.html');
  const followed = ['db', 'cutover', ...cutover, ...words, '--apply', '--yes', '--report', page];
  const running = startCloudctl(host, [...followed, '-o', 'json']);
  await waitUntil(async () => (await recordedRequests(sandbox)).some((one) => one.startsWith('DELETE')), 'the stop');
  await sleep(300);
  running.host.signal('SIGINT');
  const ran = await running.ended;
  expect(ran.code).toBe(130);
  expectGolden('db-cutover-follow', masked(JSON.stringify(ran.error(), undefined, 2)));
  const again = await runCloudctl(host, followed);
  expect([again.code, await left()]).toEqual([0, 0]);
  // The continued run has set no sequence, so the statement is that of the first run, in the page of the last.
  const html = readFileSync(page, 'utf8');
  expect(html).toMatch(/<td>SELECT pg_catalog\.setval/);
  expect(existsSync(page.replace('.html', '-2.html'))).toBe(false);
  expect(await target.query("SELECT relispopulated AS full FROM pg_class WHERE relname = 'slow'", 'shop')).toEqual([
    { full: true },
  ]);
});

it('a slot with the id of the migration must go, and a sequence that is used meanwhile is set again', async () => {
  const { host, cutover } = await openPostgresql();
  const [own] = await source.query('SELECT slot_name FROM pg_replication_slots');
  const left = String(own?.slot_name).replace(/\d+$/, '999999');
  await source.query(`SELECT pg_create_logical_replication_slot('${left}', 'pgoutput')`, 'shop');
  const running = startCloudctl(host, ['db', 'cutover', ...cutover, ...words, '--apply', '--yes', '-o', 'ndjson']);
  await running.waitForOutput(new RegExp(`"id":"clean","state":"open".*${left}`));
  // The server has logged values in advance, so this one is no transaction that writes.
  const [last] = await source.query("SELECT nextval('t_id_seq')::int AS n", 'shop');
  await source.query(`SELECT pg_drop_replication_slot('${left}')`, 'shop');
  const ran = await running.ended;
  expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining('error:')]);
  const [first] = await target.query("SELECT nextval('t_id_seq')::int AS n", 'shop');
  expect(Number(first?.n)).toBeGreaterThan(Number(last?.n));
});

it('a database that fails ends it with exit code 1 before anybody stops the application', async () => {
  const { host, cutover, status } = await openPostgresql();
  await source.query('SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active');
  for (const { slot_name: slot } of await source.query('SELECT slot_name FROM pg_replication_slots'))
    await eventually(async () => {
      await source.query('SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active');
      return source.query(`SELECT pg_drop_replication_slot('${slot}')`).then(
        () => true,
        () => false,
      );
    }, 'the dropped slot');
  await waitUntil(async () => (await status()) === 'error', 'the failure');
  const ran = await runCloudctl(host, ['db', 'cutover', ...cutover, ...words, '--apply', '--yes', '-o', 'json']);
  expect([ran.code, ran.error().code]).toEqual([1, 'api_error']);
  expect(ran.error().hint).toContain('cloudctl db migrate');
});

/** Runs what the command prints for the end: `db grants` with psql, and ANALYZE. */
async function restore(
  running: { waitForOutput: (pattern: RegExp) => Promise<unknown> },
  db: (...more: readonly string[]) => ReturnType<typeof runCloudctl>,
  [, ...rest]: readonly string[],
): Promise<void> {
  await running.waitForOutput(/cloudctl db grants .* \| .*psql/);
  const { out } = await db('grants', ...rest);
  expect(runPsql(target, out)).toMatchObject({ code: 0 });
  await target.query('ANALYZE', 'shop');
}

it('without --apply it prints the commands, and goes on when their effect is seen', async () => {
  const { host, cutover, cluster, db } = await openPostgresql();
  const running = startCloudctl(host, ['db', 'cutover', ...cutover, ...words]);
  await running.waitForOutput(/cloudctl db sequences .* \| .*psql/);
  await target.query("SELECT setval('t_id_seq', 1000)", 'shop');
  await running.waitForOutput(/cloudctl db stop/);
  expect((await db('stop', cluster, '--yes')).code).toBe(0);
  await restore(running, db, cutover);
  const ran = await running.ended;
  expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining('error:')]);
});

it('rows that are written after the end of the migration are no switch', async () => {
  const { host, cutover, cluster, db } = await openPostgresql();
  const running = startCloudctl(host, ['db', 'cutover', ...cutover, ...words, '-o', 'ndjson']);
  await running.waitForOutput(/cloudctl db sequences .* \| .*psql/);
  await target.query("SELECT setval('t_id_seq', 1000)", 'shop');
  await running.waitForOutput(/cloudctl db stop/);
  expect((await db('stop', cluster, '--yes')).code).toBe(0);
  await running.waitForOutput(/cloudctl db grants .* \| .*psql/);
  await source.query("INSERT INTO t (note) VALUES ('too late')", 'shop');
  await restore(running, db, cutover);
  const ran = await running.ended;
  expect([ran.code, ran.error().hint]).toEqual([5, expect.stringContaining('db compare')]);
});

it('the checklist is not done while the migration has left a slot, of which it names the removal', async () => {
  const { cutover, db } = await openPostgresql();
  const [own] = await source.query('SELECT slot_name FROM pg_replication_slots');
  const left = String(own?.slot_name).replace(/\d+$/, '999999');
  expect((await db('cutover', ...cutover, ...words, '--apply', '--yes')).code).toBe(0);
  await source.query(`SELECT pg_create_logical_replication_slot('${left}', 'pgoutput')`, 'shop');
  const ran = await db('cutover', ...cutover, '-o', 'json');
  expect([ran.code, ran.json<Line[]>().find(({ id }) => id === 'clean')]).toMatchObject([
    5,
    { state: 'open', observed: expect.stringContaining(left) },
  ]);
  expectGolden('db-cutover-follow', masked(`${ran.error().hint}\n`));
  await source.query(`SELECT pg_drop_replication_slot('${left}')`, 'shop');
  expect((await db('cutover', ...cutover)).code).toBe(0);
});

it('a write during the window sends it back to waiting, and is on the target at the end', async () => {
  const { host, cutover, db, cluster } = await openPostgresql();
  const running = startCloudctl(host, ['db', 'cutover', ...cutover, ...words]);
  await running.waitForOutput(/cloudctl db sequences/);
  await source.query("INSERT INTO t (note) VALUES ('late')", 'shop');
  await sleep(2500);
  await target.query("SELECT setval('t_id_seq', 1001)", 'shop');
  await running.waitForOutput(/cloudctl db stop/);
  await db('stop', cluster, '--yes');
  await restore(running, db, cutover);
  expect((await running.ended).code).toBe(0);
  expect(await target.query("SELECT count(*)::int AS n FROM t WHERE note = 'late'", 'shop')).toEqual([{ n: 1 }]);
});

it('names a database that is left out, in every output, and what the target has of it', async () => {
  for (const server of [source, target]) await server.query('DROP DATABASE IF EXISTS crm WITH (FORCE)');
  await source.query('CREATE DATABASE crm');
  await source.query('CREATE TABLE c (id int PRIMARY KEY)', 'crm');
  // The migration of crm cannot begin, because the target has the table.
  await target.query('CREATE DATABASE crm');
  await target.query('CREATE TABLE c (id int PRIMARY KEY); INSERT INTO c VALUES (7)', 'crm');
  const { host, cutover } = await openPostgresql();
  const left = ['--ignore-dbs', 'crm'];
  const page = join(host.place.home, 'window.html');
  const followed = [...cutover, ...left, ...words, '--apply', '--yes', '--report', page];
  const ran = await runCloudctl(host, ['db', 'cutover', ...followed]);
  expect(ran.code).toBe(0);
  expect(readFileSync(page, 'utf8')).toMatch(/(postgres, crm|crm, postgres)\./);
  expectGolden('db-cutover-follow', masked(ran.err));
  const rows = await runCloudctl(host, ['db', 'cutover', ...cutover, ...left, '-o', 'json']);
  expect(rows.json<Line[]>().find(({ id }) => id === 'left_out')).toMatchObject({
    state: 'done',
    observed: expect.stringMatching(/crm.*postgres/s),
  });
  for (const server of [source, target]) await server.query('DROP DATABASE IF EXISTS crm WITH (FORCE)');
});

it('names the role of the migration that keeps objects of a superuser, and the statements that remove it', async () => {
  const { cutover, db } = await openPostgresql({ more: 'CREATE VIEW v AS SELECT 1 AS one' });
  const ran = await db('cutover', ...cutover, ...words, '--apply', '--yes');
  expect(ran.code).toBe(0);
  expectGolden('db-cutover-follow', masked(ran.err).replaceAll(/cloudctl_[0-9a-z_]+/g, 'cloudctl_ROLE'));
  const again = await db('cutover', ...cutover);
  expect(again.code).toBe(0);
  for (const { err } of [ran, again]) expect(err).toMatch(/DROP ROLE "cloudctl_\w+"/);
  const [, reassign = '', drop = ''] = /in shop run (REASSIGN .*); then run (DROP ROLE [^;]*);/.exec(again.err) ?? [];
  await target.query('CREATE ROLE keeper');
  await target.query(reassign.replace('NEW_OWNER', 'keeper'), 'shop');
  await target.query(drop, 'shop');
  const last = await db('cutover', ...cutover);
  expect(last.err).not.toContain('DROP ROLE');
  await target.query('DROP DATABASE shop WITH (FORCE)');
  await target.query('DROP ROLE keeper');
});

it('is refused before any request without a confirmation', async () => {
  const { host, cutover, sandbox } = await openPostgresql();
  const before = (await recordedRequests(sandbox)).length;
  const ran = await runCloudctl(host, ['db', 'cutover', ...cutover, '--follow', '--apply', '-o', 'json']);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.error().hint).toContain('--yes');
  expect((await recordedRequests(sandbox)).length).toBe(before);
  const alone = await runCloudctl(host, ['db', 'cutover', ...cutover, '--apply', '-o', 'json']);
  expect([alone.code, alone.error().hint]).toEqual([2, 'add `--follow`']);
});

it('a stop that fails leaves the migration as it is, says so, and the next run continues', async () => {
  const { host, cutover, sandbox, status } = await openPostgresql();
  await admin(sandbox, 'POST', '/_sandbox/faults', {
    match: { method: 'DELETE' },
    action: 'status',
    status: 500,
    times: 9,
  });
  const ran = await runCloudctl(host, ['db', 'cutover', ...cutover, ...words, '--apply', '--yes', '-o', 'json']);
  expect(ran.code).not.toBe(0);
  expect(ran.error().hint).toContain('`cloudctl db cutover');
  expect(await status()).toBe('syncing');
  await admin(sandbox, 'DELETE', '/_sandbox/faults');
  const again = await runCloudctl(host, ['db', 'cutover', ...cutover, ...words, '--apply', '--yes']);
  expect(again.code).toBe(0);
});

it('rows of an unlogged table are settled before the application is stopped', async () => {
  const { host, cutover, startWriter, db } = await openPostgresql({
    more: 'CREATE UNLOGGED TABLE carts (id int PRIMARY KEY); INSERT INTO carts VALUES (1), (2)',
  });
  startWriter();
  for (const more of [[], [...words, '--apply', '--yes']]) {
    const ran = await db('cutover', ...cutover, ...more, '-o', 'json');
    expect([ran.code, ran.error().hint]).toEqual([5, expect.stringContaining('--accept shop:public.carts')]);
    expect(ran.json<Line[]>().find(({ id }) => id === 'unlogged')?.state).toBe('open');
    if (more.length > 0) expectGolden('db-cutover-follow', masked(ran.error().hint ?? ''));
  }
  const accepted = ['--accept', 'shop:public.carts'];
  const running = startCloudctl(host, ['db', 'cutover', ...cutover, ...words, ...accepted, '--apply', '--yes']);
  await running.waitForOutput(/default_transaction_read_only/);
  await Promise.all([...writers].map((stop) => stop()));
  expect((await running.ended).code).toBe(0);
});

it('a statement that the target refuses is named, and the migration is not stopped', async () => {
  const { host, cutover, status } = await openPostgresql({ user: 'plain' });
  await target.query(
    "DO $$ BEGIN CREATE ROLE plain LOGIN PASSWORD 'secret' IN ROLE pg_read_all_data; EXCEPTION WHEN duplicate_object THEN END $$",
  );
  const ran = await runCloudctl(host, ['db', 'cutover', ...cutover, ...words, '--apply', '--yes', '-o', 'json']);
  expect([ran.code, ran.error()]).toMatchObject([
    5,
    { code: 'cutover_incomplete', detail: expect.stringMatching(/permission denied.*setval/s) },
  ]);
  expect(await status()).toBe('syncing');
});

it('compares what has changed since the start, or nothing, and says what that leaves unproven', async () => {
  const { host, cutover } = await openPostgresql();
  const changed = startCloudctl(host, [
    'db',
    'cutover',
    ...cutover,
    ...words,
    '--apply',
    '--yes',
    '--compare',
    'changed',
  ]);
  const ran = await changed.ended;
  expect(ran.code).toBe(0);
  expectGolden('db-cutover-follow', masked(ran.err));
});

it('follows a Redis migration with an application that writes and then stops', async () => {
  const servers: RedisServer[] = await Promise.all([startRedis(), startRedis()]);
  const [from, to] = servers as [RedisServer, RedisServer];
  try {
    from.script(Array.from({ length: 500 }, (_, i) => `SET key:${i} ${i}`).join('\n'));
    const opened = await openMachine(`redis://127.0.0.1:${to.port}`, {
      source: `redis://127.0.0.1:${from.port}`,
      target: `redis://127.0.0.1:${to.port}`,
      more: [],
    });
    let isOver = false;
    const writing = (async () => {
      for (let i = 0; !isOver; i++) {
        from.cli('SET', 'counter', String(i));
        await sleep(50);
      }
    })();
    const running = startCloudctl(opened.host, [
      'db',
      'cutover',
      ...opened.cutover,
      ...words,
      '--apply',
      '--yes',
      '-o',
      'ndjson',
    ]);
    await running.waitForOutput(/CLIENT PAUSE \d+ WRITE/);
    isOver = true;
    await writing;
    const ran = await running.ended;
    expect([ran.code, ran.err]).toEqual([0, expect.not.stringContaining('error:')]);
    expect(to.cli('GET', 'counter')).toBe(from.cli('GET', 'counter'));
    await eventually(() => to.cli('INFO', 'replication').includes('role:master'), 'the end');
    const refused = await runCloudctl(opened.host, [
      'db',
      'cutover',
      ...opened.cutover,
      '--follow',
      '--compare',
      'changed',
      '-o',
      'json',
    ]);
    expect([refused.code, refused.error().hint]).toEqual([2, 'compare everything: leave out `--compare`']);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
});

/** A client that stays connected, and writes 20 times a second. */
async function startRedisWriter({ port }: RedisServer) {
  const socket = connect(port, '127.0.0.1');
  let answers = 0;
  socket.on('data', () => {
    answers += 1;
  });
  await once(socket, 'connect');
  socket.write('CLIENT SETNAME the-worker\r\n');
  const timer = setInterval(() => socket.write('INCR counter\r\n'), 50);
  const close = async (): Promise<void> => {
    clearInterval(timer);
    socket.destroy();
  };
  writers.add(close);
  return { socket, answers: () => answers, rest: () => clearInterval(timer) };
}

it('names a Redis client that goes on writing, how to hold it back, and how to let it write again', async () => {
  const [from, to] = await Promise.all([startRedis(), startRedis()]);
  const at = (text: string) =>
    masked(text)
      .replaceAll(String(from.port), 'SOURCE')
      .replaceAll(String(to.port), 'TARGET')
      .replaceAll(/client \d+/g, 'client N')
      .replaceAll(/(of user default from 127\.0\.0\.1):\d+/g, '$1:PORT')
      .replaceAll(/\d+ changes/g, 'N changes')
      .replaceAll(/offset \d+/g, 'offset N')
      .replaceAll(/idle for \d+ m?s/g, 'idle for N s');
  try {
    const opened = await openMachine(`redis://127.0.0.1:${to.port}`, {
      source: `redis://127.0.0.1:${from.port}`,
      target: `redis://127.0.0.1:${to.port}`,
      more: [],
    });
    const writer = await startRedisWriter(from);
    const checked = await opened.db('cutover', ...opened.cutover);
    expect(checked.code).toBe(5);
    const ran = await opened.db('cutover', ...opened.cutover, '--follow', '--wait-timeout', '4s');
    expect(ran.code).toBe(5);
    const pause = /^ {2}(redis-cli .*PAUSE \d+ WRITE)$/m.exec(ran.err)?.[1] ?? '';
    const undo = /pauses writes, end that with `([^`]*)`/.exec(ran.err)?.[1] ?? '';
    const end = /each with (redis-cli .*KILL ID) NUMBER/.exec(ran.err)?.[1] ?? '';
    execFileSync('sh', ['-c', pause]);
    await sleep(300);
    const before = writer.answers();
    await sleep(300);
    expect(writer.answers()).toBe(before);
    execFileSync('sh', ['-c', undo]);
    await eventually(() => writer.answers() > before, 'the next write');

    // A client that only stays is named when everything is done.
    writer.rest();
    const done = await opened.db('cutover', ...opened.cutover, ...words, '--apply', '--yes');
    expect(done.code).toBe(0);
    expectGolden('db-cutover-follow', at([checked.err, ran.err, done.err].join('\n')));
    const [, id = ''] = /client (\d+) the-worker/.exec(done.err) ?? [];
    execFileSync('sh', ['-c', `${end} ${id}`]);
    await once(writer.socket, 'close');
  } finally {
    await Promise.all([from.stop(), to.stop()]);
  }
});

it('a Redis target that refuses the writes of the application is not done', async () => {
  const [from, to] = await Promise.all([startRedis(), startRedis()]);
  try {
    from.script(Array.from({ length: 2000 }, (_, i) => `SET key:${i} ${'x'.repeat(2000)}`).join('\n'));
    const at = { source: `redis://127.0.0.1:${from.port}`, target: `redis://127.0.0.1:${to.port}`, more: [] };
    const opened = await openMachine(`redis://127.0.0.1:${to.port}`, at);
    const running = startCloudctl(opened.host, ['db', 'cutover', ...opened.cutover, ...words, '-o', 'ndjson']);
    await running.waitForOutput(/cloudctl db stop/);
    await opened.db('stop', opened.cluster, '--yes');
    // The last look at the target is after the end of the migration.
    to.cli('CONFIG', 'SET', 'maxmemory', '4mb');
    expect(to.cli('SET', 'one', 'more')).toMatch(/OOM/);
    const ran = await running.ended;
    expect([ran.code, ran.err]).toEqual([5, expect.stringContaining('maxmemory')]);
    for (const [words, why] of [
      [['maxmemory', '4mb'], /maxmemory is 4/],
      [['maxmemory', '0', 'min-replicas-to-write', '1'], /min-replicas-to-write/],
    ] as const) {
      to.cli('CONFIG', 'SET', ...words);
      const checked = await opened.db('cutover', ...opened.cutover, '-o', 'json');
      expect([checked.code, checked.error().detail]).toEqual([5, expect.stringMatching(why)]);
    }
    to.cli('CONFIG', 'SET', 'min-replicas-to-write', '0');
    expect(await opened.db('cutover', ...opened.cutover)).toMatchObject({ code: 0 });
  } finally {
    await Promise.all([from.stop(), to.stop()]);
  }
});

it('a Redis source that has lost its keys in a restart stops the cut-over until that is accepted', async () => {
  const [from, to] = await Promise.all([startRedis({ config: ['save ""'] }), startRedis()]);
  try {
    from.cli('MSET', ...[1, 2, 3, 4, 5].flatMap((n) => [`k${n}`, 'v']));
    const at = { source: `redis://127.0.0.1:${from.port}`, target: `redis://127.0.0.1:${to.port}`, more: [] };
    const opened = await openMachine(`redis://127.0.0.1:${to.port}`, at);
    await from.restart();
    await eventually(() => to.cli('DBSIZE') === '0', 'the loss on the target');
    await waitUntil(async () => (await opened.status()) === 'syncing', 'syncing again');
    const checked = await opened.db('cutover', ...opened.cutover, '-o', 'json');
    expect(checked.json<Line[]>().find(({ id }) => id === 'lost_keys')).toMatchObject({ state: 'open' });
    const ran = await opened.db('cutover', ...opened.cutover, ...words, '--apply', '--yes');
    expect([checked.code, ran.code, await opened.status()]).toEqual([5, 5, 'syncing']);
    const shown = masked(ran.err).replaceAll(String(from.port), 'FROM').replaceAll(String(to.port), 'TO');
    expectGolden(
      'db-cutover-follow',
      shown
        .replaceAll(/\(\w{8}\)/g, '(RUN)')
        .split('\n')
        .filter((line) => /^(error|detail|hint):/.test(line))
        .join('\n'),
    );
    const accepted = [...words, '--apply', '--yes', '--accept', 'lost_keys'];
    const done = await opened.db('cutover', ...opened.cutover, ...accepted);
    expect([done.code, done.err]).toEqual([0, expect.stringMatching(/Not proven: .*had 5 keys/)]);
  } finally {
    await Promise.all([from.stop(), to.stop()]);
  }
});

it('a Redis target that would evict keys when it is no replica any more stops no application', async () => {
  const [from, to] = await Promise.all([startRedis(), startRedis()]);
  try {
    from.script(Array.from({ length: 2000 }, (_, i) => `SET key:${i} ${'x'.repeat(2000)}`).join('\n'));
    const opened = await openMachine(`redis://127.0.0.1:${to.port}`, {
      source: `redis://127.0.0.1:${from.port}`,
      target: `redis://127.0.0.1:${to.port}`,
      more: [],
    });
    to.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    to.cli('CONFIG', 'SET', 'maxmemory', '4mb');
    for (const more of [[], [...words, '--apply', '--yes']]) {
      const ran = await runCloudctl(opened.host, ['db', 'cutover', ...opened.cutover, ...more, '-o', 'json']);
      expect([ran.code, ran.error().hint]).toEqual([5, expect.stringContaining('maxmemory')]);
    }
    expect(await opened.status()).toBe('syncing');
  } finally {
    await Promise.all([from.stop(), to.stop()]);
  }
});
