import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { dbStatus } from '../../../src/commands/db/status.ts';
import { objectsOn, startSource, startTarget, waitUntil } from '../../db/engine/servers.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { runPsql } from '../../fixtures/psql.ts';
import { startRedis } from '../../fixtures/redis.ts';
import { sandboxFor, tokenFor } from '../../sandbox/requests.ts';
import { runCloudctl, sandboxEnvironment, startCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

let source: Postgres;
let target: Postgres;
beforeAll(async () => {
  [source, target] = await Promise.all([startSource(), startTarget()]);
});
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

interface Migration {
  readonly status: string;
  readonly databases: readonly { readonly name: string; readonly phase: string }[];
}

/** A machine whose sandbox has one cluster, which is `url`; `from` names the source. */
async function openFixture(url: string, from: readonly string[], env: Record<string, string> = {}) {
  const sandbox = await sandboxFor({ clusters: [{ name: 'mine', url }] });
  const { access_token: token } = await tokenFor(sandbox);
  const host = dbTestHost({ ...sandboxEnvironment(sandbox), CLOUDCTL_ACCESS_TOKEN: token, ...env });
  const db = (...words: readonly string[]) => runCloudctl(host, ['db', ...words]);
  const listed = (await db('list', '-o', 'json')).json<{ id: string; name: string }[]>();
  const cluster = listed.find(({ name }) => name === 'mine')?.id ?? '';
  const state = async () => (await db('status', cluster, '-o', 'json')).json<Migration>();
  const phases = async () => Object.fromEntries((await state()).databases.map(({ name, phase }) => [name, phase]));
  const start = () => db('migrate', cluster, ...from, '--skip-preflight', '-o', 'json');
  const deletions = () => sandbox.requests().filter(({ method }) => method === 'DELETE').length;
  const cutoverTo = (to: string) => db('cutover', cluster, ...from, '--target', to, '-o', 'json');
  return { host, sandbox, db, cluster, state, phases, start, deletions, cutoverTo };
}

/** The PostgreSQL pair with these databases, each with one row, on the source; the target has a table of its own in `taken`. */
async function openPostgres(names: readonly string[], taken: readonly string[], setup = '') {
  for (const name of names) {
    for (const server of [source, target]) await server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await source.query(`CREATE DATABASE ${name}`);
    await source.query(`CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1); ${setup}`, name);
  }
  for (const name of taken) {
    await target.query(`CREATE DATABASE ${name}`);
    await target.query('CREATE TABLE mine (id int)', name);
  }
  const rows = await source.query('SELECT datname FROM pg_database WHERE NOT datistemplate');
  const others = rows.map(({ datname }) => String(datname)).filter((name) => !names.includes(name));
  const address = `postgres://postgres@127.0.0.1:${source.port}/${names[0]}?sslmode=disable`;
  const from = ['--source', address, '--ignore-dbs', others.join(',')];
  const url = `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres?sslmode=disable`;
  const env = { PGPASSWORD: source.password, CLOUDCTL_TARGET_PASSWORD: target.password };
  const to = `postgres://postgres@127.0.0.1:${target.port}/postgres?sslmode=disable`;
  return { ...(await openFixture(url, from, env)), from, to };
}

const masked = (text: string) =>
  text
    .replaceAll(String(source.port), 'SOURCE')
    .replaceAll(String(target.port), 'TARGET')
    .replaceAll(/--ignore-dbs [^\s`]+/g, '--ignore-dbs LIST')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UUID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/cloudctl_[0-9a-f]{20}/g, 'cloudctl_ID');

it('one of three databases fails: every command says so, and the hints lead to a new migration', async () => {
  const { db, cluster, phases, start, from, to, deletions, cutoverTo } = await openPostgres(
    ['one', 'two', 'three'],
    ['two'],
  );
  expect((await start()).code).toBe(0);
  await waitUntil(
    async () => (await phases()).three === 'streaming' && (await phases()).one === 'streaming',
    'the copy',
  );
  // A status that was read is exit code 0; a script finds the database with the line of the help.
  const read = await db('status', cluster, '-o', 'json');
  const line = /\| (jq -e '[^']*')/.exec((dbStatus.examples ?? []).map(({ command }) => command).join('\n'))?.[1] ?? '';
  expect([read.code, spawnSync('sh', ['-c', line], { input: read.out }).status]).toEqual([0, 1]);
  const rest = JSON.stringify({ databases: read.json<Migration>().databases.filter(({ name }) => name !== 'two') });
  expect(spawnSync('sh', ['-c', line], { input: rest }).status).toBe(0);

  const watched = await db('watch', ...from, '--until-idle', '--interval', '1s', '-o', 'json');
  expect(watched.code).toBe(1);
  const { detail = '', hint = '' } = watched.error();
  expect(detail).toMatch(/^two: .*public\.mine/);
  expect(hint).toContain('DROP DATABASE');

  const cutover = await cutoverTo(to);
  expect([cutover.code, cutover.error().detail]).toEqual([5, expect.stringContaining('database two has failed')]);
  // Nothing is checked that would lead to an outage of the application for nothing.
  expect(stateOf(cutover, 'writes')).toBe('not_checked');
  expect(cutover.error().hint).toContain(`db stop ${cluster}`);

  // The others can go on: without the failed database nothing is wrong.
  const others = from.with(3, `${from[3]},two`);
  expect((await db('watch', ...others, '--until-idle', '--interval', '1s', '-o', 'json')).code).toBe(0);

  const shown = await db('status', cluster);
  expect(shown.out).toMatch(/^Status +syncing \(1 of 3 databases failed\)$/m);
  expect(shown.out).toMatch(/^Reason .*public\.mine/m);
  expectGolden('db-follow', masked(shown.err));

  const refused = await start();
  expect([refused.code, refused.error().detail]).toEqual([1, expect.stringContaining('public.mine')]);
  const stop = /`cloudctl db (stop [^`]*)`/.exec(refused.error().hint ?? '')?.[1]?.split(' ') ?? [];
  const stopped = await db(...stop, '--yes', ...from, '-o', 'json');
  expect([stopped.code, deletions()]).toEqual([0, 1]);
  expect(stopped.json<Migration>()).toMatchObject({ status: 'canceled' });
  expect(await objectsOn(source)).toEqual([]);
  // A failed database is not forgotten when the others were stopped.
  expect((await cutoverTo(to)).error().detail).toContain('database two has failed');

  // As docs/guides/migrate-postgresql.md says.
  for (const name of ['one', 'two']) await target.query(`DROP DATABASE ${name}`);
  await target.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public;', 'three');
  expect((await start()).code).toBe(0);
  await waitUntil(async () => Object.values(await phases()).every((phase) => phase === 'streaming'), 'the copy');
  expect((await cutoverTo(to)).json<{ id: string; state: string }[]>()).toContainEqual(
    expect.objectContaining({ id: 'contents', state: 'done' }),
  );
  expect((await db('stop', cluster, '--yes')).code).toBe(0);
}, 120_000);

it('a second start names the running migration, and the script of a preflight leaves it running', async () => {
  const { host, db, sandbox, cluster, phases, start, from } = await openPostgres(['again'], []);
  expect((await start()).code).toBe(0);
  await waitUntil(async () => (await phases()).again === 'streaming', 'the copy');
  const puts = () => sandbox.requests().filter(({ method }) => method === 'PUT').length;
  const second = await db('migrate', cluster, ...from, '--yes', '-o', 'json');
  expect([second.code, second.out, puts()]).toEqual([1, '', 1]);
  expect(second.error()).toMatchObject({ code: 'api_error', status: 409 });
  expect(second.error().detail).toContain('status syncing');
  expect(second.error().hint).toMatch(/^follow .*db watch /);

  // While the apply worker retries, the slot has no consumer.
  await target.query('ALTER TABLE t DROP COLUMN id', 'again');
  await source.query('INSERT INTO t VALUES (2)', 'again');
  const idle = async () => (await source.query('SELECT active FROM pg_replication_slots'))[0]?.active === false;
  await waitUntil(idle, 'the slot to be idle');
  const file = join(host.place.work, 'fix.sql');
  const checked = await db('preflight', ...from, '--fix-sql', file, '-o', 'json');
  expect([checked.code, checked.error().detail]).toEqual([3, expect.stringContaining('leftovers')]);
  expect(checked.error().hint).toContain(`cloudctl db status ${cluster}`);
  const script = readFileSync(file, 'utf8');
  expect(script).toContain(`cloudctl db status ${cluster}`);
  expect(script.split('\n').filter((line) => /drop/i.test(line) && !line.startsWith('--'))).toEqual([]);
  const objects = await objectsOn(source);
  expect(runPsql(source, script).code).toBe(0);
  expect(await objectsOn(source)).toEqual(objects);
  expect((await db('stop', cluster, '--yes', ...from)).code).toBe(0);
}, 120_000);

it('a target that holds tables is refused before anything is sent, when it is named', async () => {
  const { db, sandbox, cluster, from, to } = await openPostgres(['held', 'free'], ['held']);
  const puts = () => sandbox.requests().filter(({ method }) => method === 'PUT').length;
  const words = ['migrate', cluster, ...from, '--yes', '-o', 'json'];
  const refused = await db(...words, '--target', to);
  expect([refused.code, refused.out, puts()]).toEqual([3, '', 0]);
  expect(refused.error()).toMatchObject({ code: 'preflight_blocked' });
  expect(refused.error().detail).toMatch(/^held: .*public\.mine$/);
  expect(refused.error().hint).toContain(`cloudctl db migrate ${cluster}`);
  // A database that is not migrated may hold what it wants.
  const others = [...from.slice(0, 3), `${from[3]},held`];
  const ran = await db('migrate', cluster, ...others, '--yes', '-o', 'json', '--target', to);
  expect({ code: ran.code, err: ran.err }).toMatchObject({ code: 0 });
  expect(puts()).toBe(1);
  expect((await db('stop', cluster, '--yes')).code).toBe(0);
}, 120_000);

it('a column that was added on the target, too, is resolved, and a new watch does not name it again', async () => {
  const { host, db, cluster, phases, start, from } = await openPostgres(['grown'], []);
  expect((await start()).code).toBe(0);
  await waitUntil(async () => (await phases()).grown === 'streaming', 'the copy');
  const watching = startCloudctl(host, ['db', 'watch', ...from, '--interval', '1s']);
  await watching.waitForOutput(/streaming/);
  await source.query('ALTER TABLE t ADD COLUMN note text; INSERT INTO t VALUES (2, $$x$$)', 'grown');
  await watching.waitForOutput(/(?:cause|violation) column-added/);
  await target.query('ALTER TABLE t ADD COLUMN note text', 'grown');
  await watching.waitForOutput(/resolved: column-added/);
  expect(watching.host.out() + watching.host.err()).not.toContain('resolved: schema-changed');
  watching.host.signal('SIGTERM');
  expect((await watching.ended).code).toBe(143);
  const again = await db('watch', ...from, '--until-idle', '--interval', '1s', '-o', 'ndjson');
  expect(again.code).toBe(0);
  expect(again.out).not.toContain('column-added');
  expect((await db('stop', cluster, '--yes')).code).toBe(0);
}, 120_000);

it('a dropped slot: the command of the watch ends the migration, and then a new one starts', async () => {
  const { db, cluster, phases, start, from } = await openPostgres(['cut'], []);
  expect((await start()).code).toBe(0);
  await waitUntil(async () => (await phases()).cut === 'streaming', 'the copy');
  expect((await db('watch', ...from, '--until-idle', '--interval', '1s', '-o', 'json')).code).toBe(0);
  await waitUntil(async () => {
    await source.query('SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active');
    return source.query('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots').then(
      (rows) => rows.length > 0,
      () => false,
    );
  }, 'the slot to be dropped');
  const watched = await db('watch', ...from, '--until-idle', '--interval', '1s', '-o', 'json');
  expect([watched.code, watched.error().code]).toEqual([1, 'not_found']);
  const [, command = ''] = /; run: cloudctl db (.*)$/.exec(watched.error().hint ?? '') ?? [];
  expect(command).toMatch(/^stop .* --source /);
  const stopped = await db(...command.split(' ').map((word) => word.replaceAll("'", '')), '--yes', '-o', 'json');
  expect({ code: stopped.code, err: stopped.err }).toMatchObject({ code: 0 });
  expect(await objectsOn(source)).toEqual([]);
  await target.query('DROP DATABASE cut');
  const again = await db('migrate', cluster, ...from, '--yes', '-o', 'json');
  expect({ code: again.code, err: again.err }).toMatchObject({ code: 0 });
  await waitUntil(async () => (await phases()).cut === 'streaming', 'the second copy');
  expect((await db('stop', cluster, '--yes')).code).toBe(0);
}, 120_000);

it('the stop waits for a slow materialized view, and the printed query proves that nothing is left', async () => {
  const view = 'CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM t, pg_sleep(4)';
  const { sandbox, db, cluster, phases, start, from, cutoverTo, to } = await openPostgres(['slow'], [], view);
  expect((await start()).code).toBe(0);
  await waitUntil(async () => (await phases()).slow === 'streaming', 'the copy');
  const impatient = await db('stop', cluster, '--yes', '--wait-timeout', '1s', '-o', 'json');
  expect([impatient.code, impatient.error().code, impatient.out]).toEqual([6, 'timeout', '']);
  expect(impatient.error().detail).toContain('slow (finishing)');

  const [cutover, stopped] = await Promise.all([cutoverTo(to), db('stop', cluster, '--yes')]);
  const line = cutover.json<{ id: string; state: string; observed: string }[]>().find(({ id }) => id === 'stopped');
  expect(line).toMatchObject({ state: 'open', observed: expect.stringContaining('stopping: slow (finishing)') });

  expect(stopped.code).toBe(0);
  expect(stopped.out).toMatch(/^Status +canceled$/m);
  expect(stopped.err).toContain('stopping: slow (finishing)');
  expect(await target.query('SELECT n::int FROM v', 'slow')).toEqual([{ n: 1 }]);
  const sql = sqlOf(stopped.err) ?? '';
  expect(await source.query(sql, 'slow')).toEqual([]);

  const proven = await db('stop', cluster, '--yes', ...from);
  expect([proven.code, sandbox.requests().filter(({ method }) => method === 'DELETE').length]).toEqual([0, 2]);
  expectGolden('db-follow', masked(proven.err));

  // Objects with the names of this migration are found by both.
  const id = /^ID +([0-9a-f-]+)$/m.exec(stopped.out)?.[1]?.replaceAll('-', '');
  const name = `cloudctl_${id}_1`;
  await source.query(`SELECT pg_create_logical_replication_slot('${name}', 'pgoutput')`, 'slow');
  await source.query(`CREATE PUBLICATION ${name} FOR ALL TABLES`, 'slow');
  expect((await source.query(sql, 'slow')).map((row) => row.object)).toEqual(['replication slot', 'publication']);
  const left = await db('stop', cluster, '--yes', ...from, '-o', 'json');
  expect([left.code, left.error().detail]).toEqual([1, expect.stringContaining(`publication ${name}`)]);
  const [, ...lines] = left.error().hint?.split('\n') ?? [];
  expect(runPsql(source, lines.join('\n'))).toMatchObject({ code: 0, stderr: '' });
  expect(await objectsOn(source)).toEqual([]);

  // A slot that was not there before is not called clean, and not called one of the migration either.
  await source.query("SELECT pg_create_logical_replication_slot('other', 'pgoutput')", 'slow');
  const doubtful = await db('stop', cluster, '--yes', ...from);
  await source.query("SELECT pg_drop_replication_slot('other')", 'slow');
  expect([doubtful.code, doubtful.err]).toEqual([0, expect.stringContaining('Not proven')]);

  // A database that the role may not enter, and a source that is gone.
  await source.query('CREATE DATABASE closed');
  await source.query("CREATE ROLE reader LOGIN PASSWORD 'r'; REVOKE CONNECT ON DATABASE closed FROM PUBLIC");
  const asReader = from.map((word) => word.replace('postgres@', 'reader:r@').replace('closed', ''));
  const closed = await db('stop', cluster, '--yes', ...asReader);
  await source.query('DROP DATABASE closed');
  expect([closed.code, closed.err]).toEqual([0, expect.stringMatching(/Not proven.*\bclosed\b/)]);
  const away = from.map((word) => word.replace(String(source.port), '9'));
  const gone = await db('stop', cluster, '--yes', ...away, '-o', 'json');
  expect([gone.code, gone.error().code]).toEqual([3, 'source_unreachable']);
}, 120_000);

function stateOf(ran: { json<T>(): T }, line: string): string | undefined {
  return ran.json<{ id: string; state: string }[]>().find(({ id }) => id === line)?.state;
}

function sqlOf(text: string): string | undefined {
  return /SET search_path = .*;$/m.exec(text)?.[0];
}

it('a Redis target that holds keys is refused before anything is sent, when it is named', async () => {
  const [from, to] = await Promise.all([startRedis(), startRedis()]);
  onTestFinished(async () => void (await Promise.all([from.stop(), to.stop()])));
  to.cli('SET', 'mine', '1');
  const address = `redis://127.0.0.1:${to.port}`;
  const { db, sandbox, cluster } = await openFixture(address, []);
  const source = `redis://127.0.0.1:${from.port}`;
  const words = ['migrate', cluster, '--source', source, '--target', address, '--yes', '-o', 'json'];
  const refused = await db(...words);
  expect([refused.code, refused.error().code]).toEqual([3, 'preflight_blocked']);
  expect(refused.error().detail).toContain('1 key');
  expect(sandbox.requests().filter(({ method }) => method === 'PUT')).toEqual([]);
}, 60_000);

it('a Redis target that is not empty: the cut-over does not stop the application, and the hint leads to a copy', async () => {
  const [redis, full] = await Promise.all([startRedis(), startRedis()]);
  onTestFinished(async () => void (await Promise.all([redis.stop(), full.stop()])));
  redis.cli('SET', 'a', '1');
  full.cli('SET', 'mine', '1');
  const from = ['--source', `redis://${redis.host}:${redis.port}`];
  const to = `redis://${full.host}:${full.port}`;
  const { db, cluster, state, start, cutoverTo, deletions, phases } = await openFixture(to, from);
  expect((await start()).code).toBe(0);
  await waitUntil(async () => (await state()).status === 'error', 'the refusal');

  const cutover = await cutoverTo(to);
  expect([cutover.code, cutover.error().detail]).toEqual([5, expect.stringMatching(/\b1 key\b/)]);
  expect([stateOf(cutover, 'writes'), stateOf(cutover, 'stopped')]).toEqual(['not_checked', 'open']);
  expect(cutover.error().hint).toContain('FLUSHALL');
  const watched = await db('watch', ...from, '--until-idle', '--interval', '1s', '-o', 'json');
  expect([watched.code, watched.error().detail]).toEqual([1, expect.stringMatching(/\b1 key\b/)]);
  const status = await db('status', cluster);
  expect(status.err).toContain('FLUSHALL');
  expect((await db('stop', cluster, '--yes', ...from)).code).toBe(0);
  expect(deletions()).toBe(0);

  full.cli('FLUSHALL');
  expect((await start()).code).toBe(0);
  await waitUntil(async () => (await phases()).db0 === 'streaming', 'the copy');
  expect((await db('stop', cluster, '--yes')).err).not.toContain('pg_replication_slots');
  const proven = await db('stop', cluster, '--yes', ...from);
  expect(proven.code).toBe(0);
  expectGolden('db-follow', proven.err.split('\n').slice(0, 2).join('\n'));
  // Somebody else's replica that came after the start is not proven to be harmless.
  const [other] = await Promise.all([startRedis()]);
  onTestFinished(() => other.stop());
  other.cli('REPLICAOF', redis.host, String(redis.port));
  await waitUntil(async () => redis.cli('INFO', 'replication').includes('state=online'), 'the replica');
  expect((await db('stop', cluster, '--yes', ...from)).err).toContain('Not proven');
}, 120_000);
