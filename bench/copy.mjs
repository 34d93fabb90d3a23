// `npm run bench:copy`: how long an online migration takes until everything is replicated, as a multiple of `pg_dump | psql` of
// the same data in the same run, beside pgcopydb (Debian's reads sources up to PostgreSQL 15) where it is installed. `-- --rows 100000` fills each of the four tables with another number of rows.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../scripts/postgres.mjs';
import { startSandbox } from '../scripts/sandbox.mjs';
import { buildProgram, isShort, judge, readOptions, record } from './options.mjs';

const tables = ['a', 'b', 'c', 'd'];
const rounds = isShort ? 1 : 3;
/** Times as long as `pg_dump | psql`. */
const limit = 3;
const settings = { wal_level: 'logical', max_replication_slots: 20, max_wal_senders: 20, max_worker_processes: 20 };

const values = readOptions({ rows: '500000' }, { rows: '100' });
await buildProgram();
const home = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
// pg_dump of Debian 12 reads servers up to PostgreSQL 15.
const [source, target] = await Promise.all([
  startPostgres({ version: 15, settings: { ...settings, shared_buffers: '256MB' } }),
  startPostgres({ version: 17, settings: { ...settings, shared_buffers: '256MB' } }),
]);
const sandbox = await startSandbox({
  ...process.env,
  CLOUDCTL_CONFIG_DIR: join(home, 'config'),
  CLOUDCTL_STATE_DIR: join(home, 'state'),
  CLOUDCTL_CLUSTER_ORDERS: `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres?sslmode=disable`,
});
try {
  await fill(Number(values.rows));
  const token = await issueToken();
  const missing = spawnSync('pgcopydb', ['version']).status === 0 ? [] : ['pgcopydb'];
  const ways = {
    'cloudctl db migrate': () => migrate(token),
    'pg_dump | psql': dumpAndRestore,
    ...(missing.length === 0 ? { pgcopydb: copyDatabase } : {}),
  };
  const taken = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, way] of Object.entries(ways)) taken[name].push(await restart(way));
  const seconds = Object.fromEntries(Object.entries(taken).map(([name, all]) => [name, Math.min(...all)]));
  const ratio = seconds['cloudctl db migrate'] / seconds['pg_dump | psql'];
  record({ rounds, tables: tables.length, rows: Number(values.rows), from: 15, to: 17, seconds, missing });
  console.log(`${tables.length} tables of ${values.rows} rows, the best of ${rounds} rounds:`);
  for (const [name, best] of Object.entries(seconds)) console.log(`  ${name.padEnd(22)}${best.toFixed(2)} s`);
  console.log(
    `  an online migration takes ${ratio.toFixed(2)} times as long as pg_dump | psql (${limit} allowed): ${judge(ratio <= limit)}`,
  );
} finally {
  await sandbox.stop();
  await Promise.all([source.stop(), target.stop()]);
  rmSync(home, { recursive: true, force: true });
}

async function issueToken() {
  const issued = await fetch(`${sandbox.ready.admin_url}/_sandbox/tokens`, {
    method: 'POST',
    headers: { 'x-admin-token': sandbox.ready.admin_token },
    body: JSON.stringify({ user: sandbox.ready.users[0].email, scope: 'read write' }),
  });
  return JSON.parse(await issued.text()).access_token;
}

async function fill(rows) {
  await source.query('CREATE DATABASE shop');
  for (const name of tables) {
    await source.query(
      `CREATE TABLE ${name} (id int PRIMARY KEY, name text, at timestamptz, amount numeric);
       INSERT INTO ${name} SELECT n, md5(n::text) || md5((-n)::text), '2026-01-01'::timestamptz + n * interval '1 s', n * 1.25
       FROM generate_series(1, ${rows}) n`,
      'shop',
    );
  }
  await source.query('VACUUM ANALYZE', 'shop');
}

/** Runs a copy into a target without the database, and compares the contents. Seconds of the copy alone. */
async function restart(copy) {
  await target.query('DROP DATABASE IF EXISTS shop WITH (FORCE)');
  await target.query('CHECKPOINT');
  const { seconds, end } = await copy();
  const [wanted, found] = [await contents(source), await contents(target)];
  await end();
  if (wanted !== found) throw new Error(`the contents differ: ${wanted} and ${found}`);
  return seconds;
}

async function contents(server) {
  const each = tables.map(
    (name) => `SELECT '${name}', count(*), sum(hashtextextended(t::text, 0)) AS hash FROM ${name} t`,
  );
  return JSON.stringify(await server.query(`SET timezone = 'UTC'; ${each.join(' UNION ALL ')} ORDER BY 1`, 'shop'));
}

async function dumpAndRestore() {
  await target.query('CREATE DATABASE shop');
  const began = performance.now();
  const login = ({ port, password }) => ({
    ...process.env,
    PGHOST: '127.0.0.1',
    PGPORT: String(port),
    PGUSER: 'postgres',
    PGPASSWORD: password,
  });
  const dump = spawn('pg_dump', ['--dbname=shop'], { env: login(source), stdio: ['ignore', 'pipe', 'inherit'] });
  const restored = spawn('psql', ['--dbname=shop', '--quiet', '--no-psqlrc', '--set=ON_ERROR_STOP=1'], {
    env: login(target),
    stdio: [dump.stdout, 'ignore', 'inherit'],
  });
  const codes = await Promise.all([once(dump, 'exit'), once(restored, 'exit')]);
  if (codes.some(([code]) => code !== 0)) throw new Error('pg_dump | psql failed');
  return { seconds: (performance.now() - began) / 1000, end: async () => {} };
}

/** One copy, with four tables at a time. */
async function copyDatabase() {
  await target.query('CREATE DATABASE shop');
  const url = ({ port, password }) => `postgres://postgres:${password}@127.0.0.1:${port}/shop?sslmode=disable`;
  const env = { ...process.env, PGCOPYDB_SOURCE_PGURI: url(source), PGCOPYDB_TARGET_PGURI: url(target) };
  const words = ['clone', '--table-jobs', '4', '--index-jobs', '4', '--restart', '--dir', join(home, 'pgcopydb')];
  const began = performance.now();
  const child = spawn('pgcopydb', words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`pgcopydb ended with ${code}: ${printed}`);
  return { seconds: (performance.now() - began) / 1000, end: async () => {} };
}

async function migrate(token) {
  const cluster = sandbox.ready.clusters.find(({ name }) => name === 'orders');
  const ask = (method, body) =>
    fetch(`${sandbox.ready.base_url}/v2/databases/${cluster.uuid}/online-migration`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const began = performance.now();
  const started = await ask('PUT', {
    source: { host: '127.0.0.1', port: source.port, dbname: 'shop', username: 'postgres', password: source.password },
    disable_ssl: true,
    ignore_dbs: ['postgres'],
  });
  if (!started.ok) throw new Error(`the migration did not start: ${await started.text()}`);
  for (;;) {
    const state = JSON.parse(await (await ask('GET')).text());
    if (state.status === 'syncing') break;
    if (state.status !== 'running') throw new Error(`the migration ended: ${JSON.stringify(state)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const end = async () => {
    await ask('DELETE');
    while ((await source.query('SELECT 1 FROM pg_replication_slots')).length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  return { seconds: (performance.now() - began) / 1000, end };
}
