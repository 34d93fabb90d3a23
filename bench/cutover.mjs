// `npm run bench:cutover`: the time from the end of an application that writes 20 times a second to a clean source, with
// `db cutover --follow --apply`, for both engines. The fixed part is what is left without the comparison (median of the rounds; 3 s
// allowed). The comparison of PostgreSQL is also a multiple of COPY of the slower side in the same run.
// `-- --rows N --tables N --keys N --rounds N` for other sizes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { freePort } from '../scripts/free-port.mjs';
import { startPostgres } from '../scripts/postgres.mjs';
import { root } from '../scripts/run-vitest.mjs';
import { startSandbox } from '../scripts/sandbox.mjs';
import { buildProgram, judge, readOptions, record } from './options.mjs';

const bin = join(root, 'bin/cloudctl.cjs');
const fixedLimit = 3;
const copyLimit = 1.2;
const values = readOptions(
  { tables: '200', rows: '1000000', keys: '100000', rounds: '10' },
  { tables: '5', rows: '1000', keys: '100', rounds: '1' },
);
const [tables, rows, keys, rounds] = [values.tables, values.rows, values.keys, values.rounds].map(Number);
await buildProgram();
const home = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
try {
  const pairs = [await measure('PostgreSQL', await startPostgresqlPair())];
  pairs.push(await measure('Redis', await startRedisPair()));
  record({ rounds, pairs });
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function measure(name, pair) {
  const env = {
    ...process.env,
    ...pair.env,
    CLOUDCTL_CONFIG_DIR: join(home, `config-${name}`),
    CLOUDCTL_STATE_DIR: join(home, `state-${name}`),
    CLOUDCTL_CREDENTIAL_STORE: 'file',
  };
  const sandbox = await startSandbox(env);
  try {
    const service = await logIn(sandbox, pair.cluster);
    const results = [];
    for (let round = 0; round < rounds; round++) {
      await pair.clear();
      results.push(await cutOver({ ...env, ...service.env }, service.cluster, pair));
    }
    const fixed = median(results.map((one) => one.total - one.comparison));
    const comparison = median(results.map((one) => one.comparison));
    console.log(`${name}, ${pair.size}, ${rounds === 1 ? '1 round' : `${rounds} rounds`}, the median:`);
    console.log(`  fixed part ${fixed.toFixed(1)} s (${fixedLimit} allowed): ${judge(fixed <= fixedLimit)}`);
    const copy = pair.copy === undefined ? undefined : await pair.copy();
    const ratio = copy === undefined ? undefined : comparison / copy;
    const compared =
      ratio === undefined
        ? ''
        : `, ${ratio.toFixed(2)} times COPY (${copyLimit} allowed): ${judge(ratio <= copyLimit)}`;
    console.log(`  comparison ${comparison.toFixed(1)} s${compared}`);
    return { name, size: pair.size, fixed, comparison, copy };
  } finally {
    await sandbox.stop();
    await pair.stop();
  }
}

async function logIn({ ready }, name) {
  const issued = await fetch(`${ready.admin_url}/_sandbox/tokens`, {
    method: 'POST',
    headers: { 'x-admin-token': ready.admin_token },
    body: JSON.stringify({ user: ready.users[0].email, scope: 'read write' }),
  });
  const { access_token: token } = JSON.parse(await issued.text());
  const cluster = ready.clusters.find((one) => one.name === name);
  return { cluster: cluster.uuid, env: { CLOUDCTL_BASE_URL: ready.base_url, CLOUDCTL_ACCESS_TOKEN: token } };
}

/** Seconds from the end of the application, in all and of the comparison alone. */
async function cutOver(env, cluster, { source, target, write }) {
  await run(env, ['db', 'migrate', cluster, ...source, '--skip-preflight', '-o', 'json']);
  for (;;) {
    if (JSON.parse(await run(env, ['db', 'status', cluster, '-o', 'json'])).status === 'syncing') break;
    await sleep(200);
  }
  const stopWriting = write();
  const words = [
    'db',
    'cutover',
    cluster,
    ...source,
    '--target',
    target,
    '--follow',
    '--apply',
    '--yes',
    '-o',
    'ndjson',
  ];
  const child = spawn(process.execPath, [bin, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data) => {
    said += data;
  });
  /** @type {Map<string, number>} */
  const done = new Map();
  let isSeen = () => {};
  const seen = new Promise((resolve) => {
    isSeen = () => resolve(undefined);
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, state } = JSON.parse(line);
    if (id === 'writes' && state === 'open') isSeen();
    if (state === 'done') done.set(id, performance.now());
  });
  const ended = once(child, 'close');
  await Promise.race([seen, ended]);
  await sleep(1000);
  await stopWriting();
  const stoppedAt = performance.now();
  const [code] = await ended;
  if (code !== 0) throw new Error(`the cut-over ended with ${code}: ${said}`);
  const before = done.get('sequences') ?? done.get('lag') ?? 0;
  return {
    total: (performance.now() - stoppedAt) / 1000,
    comparison: ((done.get('contents') ?? 0) - before) / 1000,
  };
}

async function startPostgresqlPair() {
  const settings = {
    wal_level: 'logical',
    max_replication_slots: 20,
    max_wal_senders: 20,
    max_worker_processes: 20,
    autovacuum: 'off',
  };
  const [from, to] = await Promise.all([
    startPostgres({ version: 17, settings }),
    startPostgres({ version: 18, settings: { ...settings, wal_retrieve_retry_interval: '500ms' } }),
  ]);
  await from.query('CREATE DATABASE shop');
  const names = Array.from({ length: tables }, (_, at) => `t${at}`);
  for (const name of names)
    await from.query(
      `CREATE TABLE ${name} (id serial PRIMARY KEY, note text, at timestamptz DEFAULT now());
       INSERT INTO ${name} (note) SELECT md5(n::text) FROM generate_series(1, ${Math.ceil(rows / tables)}) n`,
      'shop',
    );
  await from.query('VACUUM ANALYZE', 'shop');
  const copyOf = async (server) => {
    const began = performance.now();
    const statements = names.flatMap((name) => ['-c', `COPY ${name} TO STDOUT`]);
    const env = { ...process.env, PGPASSWORD: server.password };
    const url = `postgres://postgres@127.0.0.1:${server.port}/shop`;
    const child = spawn('psql', ['-X', '-q', url, ...statements], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    await once(child, 'close');
    return (performance.now() - began) / 1000;
  };
  return {
    cluster: 'orders',
    size: `${tables} tables of ${rows} rows together`,
    env: {
      PGPASSWORD: from.password,
      CLOUDCTL_TARGET_PASSWORD: to.password,
      CLOUDCTL_CLUSTER_ORDERS: `postgres://postgres:${to.password}@127.0.0.1:${to.port}/postgres?sslmode=disable`,
    },
    source: ['--source', `postgres://postgres@127.0.0.1:${from.port}/shop?sslmode=disable`, '--ignore-dbs', 'postgres'],
    target: `postgres://postgres@127.0.0.1:${to.port}/postgres?sslmode=disable`,
    clear: () => to.query('DROP DATABASE IF EXISTS shop WITH (FORCE)'),
    write: () => startPostgresqlWriter(from),
    copy: async () => Math.max(...(await Promise.all([from, to].map(copyOf)))),
    stop: () => Promise.all([from.stop(), to.stop()]),
  };
}

/** Returns the function that ends the writes, and resolves when the last one is done. */
function startPostgresqlWriter({ port, password }) {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database: 'shop' });
  const connected = client.connect();
  const stop = every50Ms(async () => {
    await connected;
    await client.query("INSERT INTO t0 (note) VALUES ('x')");
  });
  return async () => {
    await stop();
    await client.end();
  };
}

async function startRedisPair() {
  const [from, to] = await Promise.all([startRedisServer(), startRedisServer()]);
  for (let at = 0; at < keys; at += 1000) {
    const pipeline = from.client.pipeline();
    for (let key = at; key < Math.min(keys, at + 1000); key++) pipeline.set(`key:${key}`, `value ${key}`);
    await pipeline.exec();
  }
  return {
    cluster: 'cache',
    size: `${keys} keys`,
    env: { CLOUDCTL_CLUSTER_CACHE: `redis://127.0.0.1:${to.port}`, REDISCLI_AUTH: '' },
    source: ['--source', `redis://127.0.0.1:${from.port}`],
    target: `redis://127.0.0.1:${to.port}`,
    clear: () => to.client.flushall(),
    write: () => every50Ms(() => from.client.incr('counter')),
    copy: undefined,
    stop: () => Promise.all([from, to].map((server) => server.stop())),
  };
}

async function startRedisServer() {
  const port = await freePort();
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', home, '--repl-diskless-sync-delay', '0'],
    { stdio: 'ignore' },
  );
  const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 100 });
  client.on('error', () => {});
  await client.ping();
  const stop = async () => {
    client.disconnect();
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { port, client, stop };
}

function every50Ms(write) {
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      await write();
      await sleep(50);
    }
  })();
  return async () => {
    isOver = true;
    await writing;
  };
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2;
}

async function run(env, words) {
  const child = spawn(process.execPath, [bin, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = ['', ''].map(() => []);
  child.stdout.on('data', (data) => out.push(data));
  child.stderr.on('data', (data) => err.push(data));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`cloudctl ${words.join(' ')} ended with ${code}: ${Buffer.concat(err)}`);
  return Buffer.concat(out).toString();
}
