import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { startSource, startTarget, waitUntil } from '../../db/engine/servers.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { sandboxFor, tokenFor } from '../../sandbox/requests.ts';
import { runCloudctl, sandboxEnvironment } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

let source: Postgres;
let target: Postgres;
beforeAll(async () => {
  [source, target] = await Promise.all([startSource(), startTarget()]);
  // A transaction of autovacuum counts as a write.
  await source.query('ALTER SYSTEM SET autovacuum = off');
  await source.query('SELECT pg_reload_conf()');
});
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

interface Line {
  readonly id: string;
  readonly state: string;
  readonly observed: string;
}

/** A machine with a sandbox whose cluster is the target, and a source with one database. */
async function openFixture() {
  for (const server of [source, target]) await server.query('DROP DATABASE IF EXISTS shop WITH (FORCE)');
  await source.query('CREATE DATABASE shop');
  await source.query(
    'CREATE TABLE t (id serial PRIMARY KEY, note text); INSERT INTO t (note) SELECT i::text FROM generate_series(1, 100) i',
    'shop',
  );
  const url = `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres?sslmode=disable`;
  const sandbox = await sandboxFor({ clusters: [{ name: 'orders', url }] });
  const { access_token: token } = await tokenFor(sandbox);
  const host = dbTestHost({
    ...sandboxEnvironment(sandbox),
    CLOUDCTL_ACCESS_TOKEN: token,
    PGPASSWORD: source.password,
    CLOUDCTL_TARGET_PASSWORD: target.password,
  });
  const others = (await source.query("SELECT datname FROM pg_database WHERE datname <> 'shop'")).map((row) =>
    String(row.datname),
  );
  const from = ['--source', `postgres://postgres@127.0.0.1:${source.port}/shop?sslmode=disable`];
  const options = [...from, '--ignore-dbs', others.filter((name) => !/^template/.test(name)).join(',')];
  const to = ['--target', `postgres://postgres@127.0.0.1:${target.port}/postgres?sslmode=disable`];
  const db = (...words: readonly string[]) => runCloudctl(host, ['db', ...words]);
  const listed = await db('list', '-o', 'json');
  const cluster = listed.json<{ id: string; name: string }[]>().find(({ name }) => name === 'orders')?.id ?? '';
  const checklist = async () => {
    const ran = await db('cutover', cluster, ...options, ...to, '-o', 'json');
    const states = Object.fromEntries(ran.json<Line[]>().map(({ id, state }) => [id, state]));
    return { ...ran, states, lines: ran.json<Line[]>() };
  };
  return { sandbox, cluster, db, options, to, checklist, host };
}

const masked = (text: string) =>
  text
    // Progress is printed only while a step takes long.
    .replaceAll(/^(comparing|observing) .*\n/gm, '')
    .replaceAll(String(source.port), 'SOURCE')
    .replaceAll(String(target.port), 'TARGET')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/confirmed [0-9A-F]+\/[0-9A-F]+/g, 'confirmed LSN')
    .replaceAll(/\d+ s\b/g, 'N s');

it('names the next command until every line is done', { timeout: 240_000 }, async () => {
  const { cluster, db, options, to, checklist, host } = await openFixture();
  const started = await db('migrate', cluster, ...options, '--skip-preflight', '-o', 'json');
  expect([started.code, started.err]).toEqual([0, expect.stringContaining('db watch')]);
  await waitUntil(
    async () => (await db('status', cluster, '-o', 'json')).json<{ status: string }>().status === 'syncing',
    'syncing',
  );

  expect((await db('watch', ...options, '--until-idle', '--interval', '1s')).code).toBe(0);

  const written = await withWrites(() => checklist());
  expect(written).toMatchObject({
    code: 5,
    states: { writes: 'open', sequences: 'not_checked', contents: 'not_checked', stopped: 'open' },
  });
  expect(written.error()).toMatchObject({ code: 'cutover_incomplete', hint: expect.stringContaining('db cutover') });

  expect((await db('watch', ...options, '--until-idle', '--interval', '1s')).code).toBe(0);
  const next = await checklist();
  expect(next.states).toMatchObject({
    target: 'done',
    extensions: 'done',
    passwords: 'done',
    grants: 'not_checked',
    writes: 'done',
    lag: 'done',
    sequences: 'open',
    contents: 'not_checked',
    stopped: 'open',
  });
  expect(masked(next.error().hint ?? '')).toContain('db sequences --source postgres://postgres@127.0.0.1:SOURCE/shop');
  const script = await db('sequences', ...options);
  // The printed pipe, with the password of the source in PGPASSWORD, as a user runs it.
  const psql = /\| (PGPASSWORD=[^`]*)`/.exec(next.error().hint ?? '')?.[1] ?? '';
  expect(await runShell(psql.replace(`:${target.port}/`, `:${target.ownPort ?? target.port}/`), script.out)).toBe(0);

  const shown = await db('cutover', cluster, ...options, ...to);
  expect(shown.code).toBe(5);
  expect(shown.err).toContain(`db stop ${cluster}`);

  await target.query('UPDATE t SET note = note || note WHERE id = 1', 'shop');
  const different = await checklist();
  expect(different).toMatchObject({ code: 5, states: { contents: 'open' } });
  expect(different.lines.find(({ id }) => id === 'contents')?.observed).toContain('public.t');
  await target.query("UPDATE t SET note = '1' WHERE id = 1", 'shop');

  // The commands that follow have the options of this source and this target.
  const status = await db('status', cluster);
  const again = /`(cloudctl db cutover [^`]*)`/.exec(next.error().hint ?? '')?.[1] ?? '';
  expect(again).toContain('--disable-ssl');
  expect(status.err).toContain(again);

  expect((await db('stop', cluster, '--yes', '-o', 'json')).code).toBe(0);
  await waitUntil(
    async () => (await db('status', cluster, '-o', 'json')).json<{ status: string }>().status === 'canceled',
    'the end',
  );
  // The removal of slot and publication is a write.
  const left = 'SELECT 1 FROM pg_replication_slots UNION ALL SELECT 1 FROM pg_publication';
  await waitUntil(async () => (await source.query(left, 'shop')).length === 0, 'the removal');
  const lacking = await checklist();
  expect(lacking).toMatchObject({ code: 5, states: { stopped: 'done', grants: 'open', statistics: 'open' } });
  // Only the owner of a table may analyze it.
  expect(lacking.error().hint).toMatch(/^run ANALYZE in `/);
  // A login without SUPERUSER that may become a member of the owner is told how.
  await target.query(
    `CREATE ROLE "the owner"; ALTER TABLE t OWNER TO "the owner"; CREATE ROLE keeper LOGIN CREATEROLE PASSWORD 'secret';
     GRANT pg_read_all_data, pg_read_all_settings TO keeper; GRANT "the owner" TO keeper WITH ADMIN OPTION`,
    'shop',
  );
  await target.query('REVOKE INHERIT OPTION FOR "the owner" FROM keeper', 'shop').catch(() => {});
  const keeper = dbTestHost({ ...(host.env as Record<string, string>), CLOUDCTL_TARGET_PASSWORD: 'secret' });
  const byKeeper = ['cutover', cluster, ...options, '--target', (to[1] ?? '').replace('postgres@', 'keeper@')];
  const asKeeper = await runCloudctl(keeper, ['db', ...byKeeper, '--accept', 'passwords', '-o', 'json']);
  const join = /^run `(PGPASSWORD=[^`]*)`/.exec(asKeeper.error().hint ?? '')?.[1] ?? '';
  expect(join).toContain(`'GRANT "the owner" TO "keeper"' -c ANALYZE`);
  const leave = /then `(PGPASSWORD=[^`]*)` and `cloudctl db cutover/.exec(asKeeper.error().hint ?? '')?.[1] ?? '';
  expect(leave).toContain(`'REVOKE "the owner" FROM "keeper"'`);
  const memberships = () =>
    target.query(`SELECT * FROM pg_auth_members WHERE roleid = '"the owner"'::regrole ORDER BY grantor`, 'shop');
  const before = await memberships();
  for (const command of [join, leave]) {
    const own = command.replace(`:${target.port}/`, `:${target.ownPort ?? target.port}/`);
    expect(await runShell(own, '', { CLOUDCTL_TARGET_PASSWORD: 'secret' })).toBe(0);
  }
  expect(await memberships()).toEqual(before);
  await target.query('ALTER TABLE t OWNER TO postgres; DROP ROLE keeper; DROP ROLE "the owner"', 'shop');
  expect((await checklist()).error().hint).toMatch(/run `cloudctl db grants --source .* \| PGPASSWORD=/);
  const grants = await db('grants', ...options, ...to);
  expect(await runShell(psql.replace(`:${target.port}/`, `:${target.ownPort ?? target.port}/`), grants.out)).toBe(0);
  expect(await db('grants', ...options, ...to)).toMatchObject({ code: 0, out: '' });
  const done = await db('cutover', cluster, ...options, ...to);
  expectGolden('db-cutover', masked(`${shown.out}${shown.err}\n${done.out}${done.err}`));
  expect(done.code).toBe(0);
});

it('logs in to the target first, and says what the login lacks', async () => {
  const { cluster, options, to, host } = await openFixture();
  const attempt = async (address: string, env: Record<string, string>) => {
    const other = dbTestHost({ ...(host.env as Record<string, string>), ...env });
    const ran = await runCloudctl(other, ['db', 'cutover', cluster, ...options, '--target', address, '-o', 'json']);
    expect(ran.json<Line[]>().map(({ state }) => state)).toEqual([
      'unknown',
      ...Array(7).fill('not_checked'),
      'unknown',
      ...Array(7).fill('not_checked'),
      'done',
    ]);
    return ran.error().hint ?? '';
  };
  const address = to[1] ?? '';
  expect(await attempt(address, { CLOUDCTL_TARGET_PASSWORD: 'wrong-password' })).toMatch(
    /CLOUDCTL_TARGET_PASSWORD.*sslmode=disable/,
  );
  expect(await attempt(address.replace('?sslmode=disable', ''), {})).toMatch(/add `\?sslmode=disable`/);
});

it('of servers that cannot be reached says which, and a line of the service stays unknown', async () => {
  const { cluster, db, options, to } = await openFixture();
  const port = await closedPort();
  const gone = ['--source', `postgres://u@127.0.0.1:${port}/d?sslmode=disable`];
  const sourceGone = await db('cutover', cluster, ...gone, ...to, '-o', 'json');
  expect(sourceGone).toMatchObject({ code: 3, out: '' });
  expect(sourceGone.error().code).toBe('source_unreachable');
  const away = ['--target', `postgres://u@127.0.0.1:${port}/d?sslmode=disable`];
  const other = await db('cutover', crypto.randomUUID(), ...options, ...away, '-o', 'json');
  expect(other.code).toBe(5);
  expect(other.json<Line[]>().find(({ id }) => id === 'stopped')?.state).toBe('unknown');
  expect(other.json<Line[]>()[0]).toMatchObject({ id: 'target', state: 'unknown' });
  expect(`${other.out}${other.err}`).not.toContain(source.password);
});

it.each([
  [['not-a-uuid'], 'CLUSTER_UUID'],
  [['3b643ad7-65aa-4066-b45b-1c64b6db600a', '--source', 'postgres://u@h/d'], '--target'],
  [['3b643ad7-65aa-4066-b45b-1c64b6db600a', '--target', 'postgres://u@h/d'], '--source'],
])('%j is a usage error that names %s', async (words, named) => {
  const ran = await runCloudctl(dbTestHost(), ['db', 'cutover', ...words, '-o', 'json']);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(JSON.stringify(ran.error())).toContain(named);
});

/** Writes rows to the source until the work has ended. */
async function withWrites<T>(work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const writer = (async () => {
    while (!isOver) await source.query("INSERT INTO t (note) VALUES ('x')", 'shop');
  })();
  return work().finally(async () => {
    isOver = true;
    await writer;
  });
}

/** Not synchronous, because a proxy of this process is in front of the server. */
async function runShell(command: string, input: string, own: Record<string, string> = {}): Promise<number | null> {
  const passwords = { PGPASSWORD: source.password, CLOUDCTL_TARGET_PASSWORD: target.password };
  const env = { PATH: process.env.PATH, ...passwords, ...own };
  const child = spawn('sh', ['-c', command], { env, stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(input);
  const [code] = await once(child, 'exit');
  return code;
}
