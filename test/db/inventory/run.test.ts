import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import type { InventoryReport } from '../../../src/db/inventory/report.ts';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { dbTestHost } from '../../commands/db/test-source.ts';
import { type RunResult, runCloudctl } from '../../commands/run-cloudctl.ts';
import type { TestHost, TestHostOptions } from '../../fixtures/host.ts';
import { dribble, flood, startHostileServer } from '../../fixtures/hostile-postgres.ts';
import { parseInventoryLines, parseInventoryReport } from '../../fixtures/inventory-schema.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';

let server: Postgres;
let old: Postgres;

beforeAll(async () => {
  [server, old] = await Promise.all([
    startPostgres({ version: 17, settings: { ...ready, max_slot_wal_keep_size: '1GB' } }),
    startPostgres({ version: 15 }),
  ]);
  for (const one of [server, old]) {
    await one.query('CREATE DATABASE shop');
    await one.query('CREATE DATABASE billing');
    await one.query('CREATE TABLE visits (at int)', 'billing');
    await one.query('INSERT INTO visits VALUES (1); UPDATE visits SET at = 2', 'billing');
  }
  return async () => {
    await server.stop();
    await old.stop();
  };
}, 60_000);

const host = (options: TestHostOptions = {}) => dbTestHost({ PGPASSWORD: server.password }, options);
const url = (one: Postgres, name: string, at = '127.0.0.1') =>
  `postgres://postgres@${at}:${one.port}/${name}?sslmode=disable`;

/** Runs an inventory of these lines. What it prints as JSON must be as the published schemas say. */
async function check(
  lines: readonly string[],
  words: readonly string[] = [],
  on: TestHost = host(),
): Promise<RunResult> {
  const file = join(on.place.work, 'sources');
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  const all = [file, '--allow-private', '--target-version', '18', ...words];
  const ran = await runCloudctl(on, ['db', 'inventory', ...all]);
  if (words.includes('json')) parseInventoryReport(ran.out);
  if (words.includes('ndjson')) parseInventoryLines(ran.out);
  return ran;
}

const databases = ['shop', 'billing', 'postgres'];

describe('the verdict of a source is that of its own preflight', () => {
  it.each(['server', 'database'])(
    'with the scope %s, under two names of each server',
    { timeout: 60_000 },
    async (scope) => {
      const sources = [server, old].flatMap((one) =>
        ['127.0.0.1', 'localhost'].flatMap((at) => databases.map((name) => ({ one, at, name }))),
      );
      const lines = sources.map(({ one, at, name }) => url(one, name, at));
      const ran = await check(lines, ['--scope', scope, '-o', 'ndjson']);
      const rows = parseInventoryLines(ran.out);
      expect(rows).toHaveLength(sources.length);
      for (const { one, at, name } of sources.filter(({ at }) => at === 'localhost')) {
        const others = databases.filter((other) => scope === 'database' && other !== name);
        const ignored = others.length === 0 ? [] : ['--ignore-dbs', others.join()];
        const words = ['--source', url(one, name, at), '--allow-private', '--target-version', '18', '-o', 'json'];
        const alone = await runCloudctl(host(), ['db', 'preflight', ...words, ...ignored]);
        const report = alone.json<PreflightReport>();
        const row = rows.find((each) => each.url === `postgres://postgres@${at}:${one.port}/${name}`);
        expect(row).toMatchObject({ verdict: report.verdict, ok: report.ok, proven: report.proven });
        const own = report.findings.filter(({ status }) => ['fail', 'warn', 'unknown'].includes(status));
        const idsOf = (all: readonly { readonly id: string; readonly status: string }[]) =>
          [...new Set(all.map(({ id, status }) => `${id} ${status}`))].sort();
        expect(idsOf(row?.findings ?? [])).toEqual(idsOf(own));
      }
    },
  );
});

it('findings and databases of a server are queried and reported once, however many names lead to it', async () => {
  const lines = ['127.0.0.1', 'localhost'].flatMap((at) => databases.map((name) => url(server, name, at)));
  const ran = await check(lines, ['-o', 'json', '--show-queries', '--parallel', '6']);
  const report = ran.json<InventoryReport>();
  expect(report.servers).toEqual([
    { server: `127.0.0.1:${server.port}`, version: expect.any(String), sources: 6, also: [`localhost:${server.port}`] },
  ]);
  expect(report.findings.find(({ id }) => id === 'replica-identity')).toMatchObject({ sources: 6, place_count: 1 });
  const samples = ran.err.split('pg_current_wal').length - 1;
  // The two readings of the write rate.
  expect(samples).toBeLessThanOrEqual(4);
  expect(ran.err.split('pg_available_extensions').length - 1).toBeLessThan(6);
});

it('the write rate of a server is measured once, also for several roles', async () => {
  await server.query(`CREATE ROLE dba SUPERUSER LOGIN REPLICATION PASSWORD '${server.password}'`);
  const lines = [url(server, 'shop'), url(server, 'shop', 'localhost').replace('postgres@', 'dba@')];
  const ran = await check(lines, ['--show-queries', '-o', 'json']);
  expect(ran.json<InventoryReport>().summary).toMatchObject({ sources: 2, servers: 1, not_checked: 0 });
  // Each role reads the position once; one of them reads it again.
  expect(ran.err.split("'0/0'::pg_lsn AS bytes").length - 1).toBe(3);
});

it('a source that is blocked decides the exit code before one that could not be reached', async () => {
  const gone = `postgres://u@127.0.0.1:${await closedPort()}/d?sslmode=disable`;
  expect((await check([url(server, 'shop')], ['--scope', 'database'])).code).toBe(0);
  const partly = await check([url(server, 'shop'), gone], ['--scope', 'database', '-o', 'json']);
  expect(partly.code).toBe(5);
  expect(partly.error()).toMatchObject({ code: 'inventory_incomplete' });
  expect(partly.json<InventoryReport>().summary).toMatchObject({ possible: 1, not_checked: 1 });
  expect((await check([url(server, 'billing'), gone], ['--scope', 'database'])).code).toBe(3);
});

it('a baseline folder has a file for each source, and names what changed', async () => {
  const on = host();
  const folder = join(on.place.work, 'baselines');
  const words = ['--scope', 'database', '--baseline', folder, '-o', 'json'];
  const lines = [url(server, 'shop'), url(server, 'postgres')];
  expect((await check(lines, words, on)).code).toBe(0);
  expect(readdirSync(folder)).toHaveLength(2);
  await server.query('CREATE TABLE added (id int PRIMARY KEY)', 'shop');
  const { sources } = (await check(lines, words, on)).json<InventoryReport>();
  expect(sources.map(({ changes = [] }) => changes.some((one) => one.includes('shop.public')))).toEqual([true, false]);
  await server.query('DROP TABLE added', 'shop');
});

it('the files of the options are written, one report for each source', async () => {
  const on = host();
  const at = (name: string) => join(on.place.work, name);
  const reports = ['--report', at('all.html'), '--report', at('all.md'), '--report', at('all.json')];
  await check([url(server, 'shop'), url(old, 'shop')], [...reports, '--report-dir', at('each')], on);
  expect(readFileSync(at('all.html'), 'utf8')).toContain('</html>');
  expect(readFileSync(at('all.md'), 'utf8')).toContain('replica-identity');
  expect(JSON.parse(readFileSync(at('all.json'), 'utf8'))).toMatchObject({ kind: 'inventory' });
  const each = readdirSync(at('each')).map(
    (name): PreflightReport => JSON.parse(readFileSync(join(at('each'), name), 'utf8')),
  );
  expect(each.map(({ source }) => source.port).sort()).toEqual([server.port, old.port].sort());
});

it('bad lines are all listed, and nothing is connected to', async () => {
  const asked: Buffer[] = [];
  const hostile = await startHostileServer((bytes) => asked.push(bytes));
  const bad = Array.from({ length: 300 }, (_, at) => `postgres://u:hunter2-${at}@h:x/d`);
  const ran = await check([`postgres://u@127.0.0.1:${hostile.port}/d`, ...bad]);
  hostile.stop();
  expect(ran.code).toBe(2);
  expect(ran.err.match(/sources:\d+:/g)).toHaveLength(300);
  expect(ran.err).not.toContain('hunter2');
  expect(asked).toEqual([]);
});

it('a password of a URL is in no output', async () => {
  const on = host({ env: { PGPASSWORD: '' } });
  const lines = ['hunter2secret', server.password].map(
    (password) => `postgres://postgres:${password}@127.0.0.1:${server.port}/shop?sslmode=disable`,
  );
  const named = ['url,name', ...lines.map((line, at) => `${line},n${at}`)];
  const at = join(on.place.work, 'r.json');
  const ran = await check(named, ['-o', 'json', '--report', at, '--report-dir', join(on.place.work, 'each')], on);
  const files = [at, ...readdirSync(join(on.place.work, 'each')).map((name) => join(on.place.work, 'each', name))];
  const all = [ran.out, ran.err, ...files.map((file) => readFileSync(file, 'utf8'))].join('\n');
  expect(all).not.toContain('hunter2secret');
  expect(ran.json<InventoryReport>().sources.map(({ verdict }) => verdict)).toEqual(['blocked', 'dump']);
});

it('a command gives the password of each source', async () => {
  const on = host({ env: { PGPASSWORD: '' } });
  const script = join(on.place.work, 'password.sh');
  writeFileSync(script, `#!/bin/sh\n[ "$CLOUDCTL_SOURCE_DBNAME" = shop ] && echo ${server.password}\n`);
  chmodSync(script, 0o700);
  const words = ['--scope', 'database', '--password-command', JSON.stringify([script]), '-o', 'json'];
  const ran = await check([url(server, 'shop'), url(server, 'billing')], words, on);
  const { sources } = ran.json<InventoryReport>();
  expect(sources.map(({ state }) => state)).toEqual(['checked', 'not_checked']);
  expect(ran.code).toBe(5);
  expect(existsSync(script)).toBe(true);
});

it('a source with options that do not fit its server is not checked, and the others are', async () => {
  const lines = [
    'url,name,ignore_dbs',
    `${url(server, 'shop')},a,billing`,
    `${url(server, 'shop')},b,no-such-database`,
  ];
  const ran = await check([...lines, `${url(server, 'postgres')},c,no-such-database`], ['-o', 'json']);
  const { sources } = ran.json<InventoryReport>();
  expect(sources.map(({ state }) => state)).toEqual(['checked', 'not_checked', 'not_checked']);
  const open = await server.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'cloudctl-preflight'");
  expect(open).toEqual([]);
});

describe('hostile servers', () => {
  it('that hang, drip and send without end do not hide the others', { timeout: 60_000 }, async () => {
    const behaviors = [
      await startHostileServer(() => {}),
      await startHostileServer((_bytes, socket) => flood(socket, Buffer.from('R'.repeat(1000)))),
      await startHostileServer((_bytes, socket) => dribble(socket, Buffer.alloc(1000, 0x52))),
    ];
    const lines = behaviors.map(({ port }) => `postgres://u@127.0.0.1:${port}/d?sslmode=disable`);
    const begun = performance.now();
    const ran = await check([...lines, url(server, 'shop')], ['--scope', 'database', '-o', 'json', '--deadline', '5s']);
    for (const one of behaviors) one.stop();
    const { sources } = ran.json<InventoryReport>();
    expect(sources.at(-1)).toMatchObject({ ok: true });
    expect(sources.slice(0, 3).every(({ ok }) => !ok)).toBe(true);
    expect(performance.now() - begun).toBeLessThan(40_000);
  });

  it('1,000 sources of a port where nobody listens end soon, and have one reason', { timeout: 60_000 }, async () => {
    const port = await closedPort();
    const lines = Array.from({ length: 1000 }, (_, at) => `postgres://u@127.0.0.1:${port}/d${at}?sslmode=disable`);
    const begun = performance.now();
    const ran = await check(lines, ['-o', 'json']);
    expect(ran.code).toBe(5);
    expect(ran.json<InventoryReport>().summary).toMatchObject({ sources: 1000, not_checked: 1000 });
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
