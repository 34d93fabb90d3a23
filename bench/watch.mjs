// `npm run bench:watch`: how long `db watch` takes to name each accident of scripts/accidents.mjs, with the usual limits: a watch
// that began before it and one that began after it, each with the status of the service and without. All must be named in 60 s.
// `-- --only TEXT` runs the accidents whose name contains TEXT, `-- --parallel N` several at once (default: 3), and
// `-- --writes MINUTES` writes to a healthy migration instead and counts false alarms.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { accidents, accidentTables, logSettings } from '../scripts/accidents.mjs';
import { startPostgres } from '../scripts/postgres.mjs';
import { root } from '../scripts/run-vitest.mjs';
import { startSandbox } from '../scripts/sandbox.mjs';
import { isShort, readOptions } from './options.mjs';

const bin = join(root, 'bin/cloudctl.cjs');
const limit = 60;
const options = readOptions({ only: '', parallel: '3', writes: undefined, version: '17' }, { only: 'dropped slot' });

async function measureAccidents() {
  const chosen = accidents.filter(({ id }) => id.includes(options.only));
  console.log(`PostgreSQL ${options.version}; seconds until the cause was named, ${limit} s allowed`);
  console.log(row('accident', ...columns.map(({ name }) => name)));
  let slowest = 0;
  const waiting = [...chosen];
  const lane = async () => {
    for (let accident = waiting.shift(); accident !== undefined; accident = waiting.shift()) {
      /** @type {number[]} */
      const seconds = await measure(accident).catch((error) => {
        console.error(`${accident.id}: ${error.message}`);
        return columns.map(() => Number.POSITIVE_INFINITY);
      });
      slowest = Math.max(slowest, ...seconds);
      console.log(row(accident.id, ...seconds.map((one) => (Number.isFinite(one) ? one.toFixed(0) : 'never'))));
    }
  };
  await Promise.all(Array.from({ length: Number(options.parallel) }, lane));
  console.log(`slowest: ${slowest.toFixed(0)} s`);
  const most = isShort ? Number.MAX_VALUE : limit;
  process.exitCode = chosen.length > 0 && slowest <= most ? 0 : 1;
}

/** When the watch began, and whether it knows the status of the service, which has the log of the target. */
const columns = [
  { name: 'before', isLater: false, isReported: true },
  { name: 'before, source only', isLater: false, isReported: false },
  { name: 'after', isLater: true, isReported: true },
  { name: 'after, source only', isLater: true, isReported: false },
].slice(0, isShort ? 1 : 4);

function row(first, ...rest) {
  return [first.padEnd(26), ...rest.map((text, at) => text.padStart(columns[at].name.length))].join('  ');
}

async function measure(accident) {
  const migration = await startMigration(accident);
  const watches = [];
  try {
    const expected = ({ isLater, isReported }) => {
      const ofSource = isLater ? (accident.later ?? accident.source) : accident.source;
      return isReported ? (accident.reported ?? ofSource) : ofSource;
    };
    const begin = (column) => {
      const watch = startWatch(migration, column);
      watches.push(watch);
      return watch;
    };
    const earlier = columns.filter(({ isLater }) => !isLater).map((column) => ({ column, watch: begin(column) }));
    for (const { watch } of earlier) await watch.until(({ phase }) => phase === 'streaming');
    await sleep(3000);
    const began = performance.now();
    await accident.begin(migration.place);
    const caused = performance.now();
    const later = columns.filter(({ isLater }) => isLater).map((column) => ({ column, watch: begin(column) }));
    const found = await Promise.all(
      [...earlier, ...later].map(async ({ column, watch }) => {
        const { rule, object } = expected(column);
        const named = object?.replace('NAME', migration.place.name);
        const isSo = ({ cause }) => cause?.rule === rule && (named === undefined || cause.object === named);
        const ended = await watch.until(isSo, 2 * limit);
        const seconds = (ended - (column.isLater ? caused : began)) / 1000;
        if (!Number.isFinite(seconds)) console.error(`${accident.id}, ${column.name}: ${watch.last()}`);
        return { column, seconds };
      }),
    );
    return columns.map((column) => found.find((one) => one.column === column).seconds);
  } finally {
    for (const watch of watches) watch.end();
    await migration.end();
  }
}

/** A migration that `db migrate` started in a sandbox of its own, and that streams. */
async function startMigration(accident) {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
  const [source, target] = await Promise.all([
    startPostgres({
      version: /** @type {import('../scripts/postgres.mjs').Major} */ (Number(options.version)),
      settings: { wal_level: 'logical', max_replication_slots: 20, max_wal_senders: 20 },
    }),
    startPostgres({ version: 18, settings: { ...logSettings, max_active_replication_origins: 20 } }),
  ]);
  const removeDisk = await accident?.prepare?.({ target });
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PGPASSWORD: source.password,
    CLOUDCTL_STATE_DIR: join(folder, 'state'),
    CLOUDCTL_CONFIG_DIR: join(folder, 'config'),
  };
  const sandbox = await startSandbox({
    ...env,
    CLOUDCTL_CLUSTER_PG: `postgres://postgres:${target.password}@127.0.0.1:${target.port}/postgres`,
  });
  children.add(sandbox.pid);
  const end = async () => {
    await sandbox.stop();
    children.delete(sandbox.pid);
    removeDisk?.();
    await Promise.all([source.stop(), target.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await source.query(`CREATE ROLE mover SUPERUSER LOGIN PASSWORD '${source.password}'`);
    await source.query('CREATE DATABASE shop');
    await source.query(accidentTables, 'shop');
    const { clusters, users, base_url: baseUrl } = sandbox.ready;
    const cluster = clusters.find(({ data_plane: plane }) => plane !== 'none');
    const person = users.find(({ uuid }) => uuid === cluster.owner) ?? users[0];
    const [token] = run(env, ['sandbox', 'token', '--user', person.email, '--scope', 'read write']);
    const service = { CLOUDCTL_BASE_URL: baseUrl, CLOUDCTL_ACCESS_TOKEN: token };
    const words = ['--source', `postgres://mover@127.0.0.1:${source.port}/shop`, '--disable-ssl'];
    const ignored = ['--ignore-dbs', 'postgres'];
    run({ ...env, ...service }, [
      'db',
      'migrate',
      cluster.uuid,
      ...words,
      ...ignored,
      '--skip-preflight',
      '-o',
      'json',
    ]);
    for (;;) {
      const [json] = run({ ...env, ...service }, ['db', 'status', cluster.uuid, '-o', 'ndjson']);
      if (JSON.parse(json).status === 'syncing') break;
      await sleep(500);
    }
    const [slot] = await source.query('SELECT slot_name FROM pg_replication_slots');
    // What the watches record must not help each other.
    cpSync(env.CLOUDCTL_STATE_DIR, join(folder, 'recorded'), { recursive: true });
    return { folder, env, service, words, place: { source, target, database: 'shop', name: slot.slot_name }, end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Lines of the output. */
function run(env, words) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [bin, ...words], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`cloudctl ${words.join(' ')} ended with ${status}: ${stderr}`);
  return stdout.trim().split('\n');
}

const children = new Set();
process.on('exit', () => {
  for (const pid of children) process.kill(pid, 'SIGKILL');
});

let watchCount = 0;

function startWatch({ folder, env, service, words }, { isReported }) {
  watchCount += 1;
  const state = join(folder, `state-${watchCount}`);
  cpSync(join(folder, 'recorded'), state, { recursive: true });
  const child = spawn(process.execPath, [bin, 'db', 'watch', ...words, '-o', 'ndjson'], {
    env: { ...env, ...(isReported ? service : {}), CLOUDCTL_STATE_DIR: state },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.add(child.pid);
  const samples = [];
  let hasEnded = false;
  child.once('close', () => {
    hasEnded = true;
    children.delete(child.pid);
  });
  createInterface({ input: child.stdout }).on('line', (line) =>
    samples.push({ at: performance.now(), line, sample: JSON.parse(line) }),
  );
  return {
    samples,
    last: () => samples.at(-1)?.line,
    /** When a sample is so; Infinity: not within so many seconds. */
    async until(test, most = limit) {
      for (let next = 0, over = performance.now() + most * 1000; ; await sleep(50)) {
        for (; next < samples.length; next += 1) if (test(samples[next].sample)) return samples[next].at;
        if (performance.now() > over || hasEnded) return Number.POSITIVE_INFINITY;
      }
    },
    end: () => child.kill('SIGKILL'),
  };
}

/** Writes of all kinds: small ones without a pause, large transactions, rest, a short lock on the target, a vacuum. */
async function countFalseAlarms(minutes) {
  const migration = await startMigration();
  const { source, target } = migration.place;
  const watches = [startWatch(migration, { isReported: true }), startWatch(migration, { isReported: false })];
  let written = 0;
  const write = async (sql) => {
    await source.query(sql, 'shop');
    written += 1;
  };
  try {
    for (let round = 1, over = Date.now() + minutes * 60_000; Date.now() < over; round += 1) {
      for (let second = 0; second < 20; second += 1) {
        for (let i = 0; i < 20; i += 1) {
          await write('INSERT INTO orders SELECT max(id) + 1 FROM orders');
          await write(`UPDATE items SET amount = amount + 1 WHERE id = ${1 + ((round * 400 + i) % 100)}`);
        }
        await sleep(500);
      }
      await write("UPDATE orders SET t = repeat('y', 500)");
      await write(
        `INSERT INTO items SELECT i, i FROM generate_series(${round * 100_000}, ${round * 100_000 + 99_999}) i`,
      );
      await write(`DELETE FROM items WHERE id >= ${round * 100_000}`);
      await target.query('BEGIN; LOCK TABLE orders; SELECT pg_sleep(4); COMMIT', 'shop');
      await source.query('VACUUM items', 'shop');
      await sleep(15_000);
    }
    const all = watches.flatMap(({ samples }) => samples.map(({ sample }) => sample));
    const alarms = all.filter(({ cause, violations }) => cause !== undefined || violations.length > 0);
    const found = [
      ...new Set(alarms.flatMap(({ violations }) => violations.map(({ rule, observed }) => `${rule}: ${observed}`))),
    ];
    console.log(
      `${minutes} minutes, ${written} statements, ${all.length} samples: ${alarms.length} with a false alarm`,
    );
    for (const one of found) console.log(one);
    process.exitCode = alarms.length === 0 && all.length > 0 ? 0 : 1;
  } finally {
    for (const watch of watches) watch.end();
    await migration.end();
  }
}

if (options.writes === undefined) await measureAccidents();
else await countFalseAlarms(Number(options.writes));
