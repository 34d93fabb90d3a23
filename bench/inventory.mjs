// `npm run bench:inventory`: how long an inventory of 1,000 sources takes against a bare loop of single preflights, and how
// much memory it needs. 800 sources are 200 databases of one server under four names; 200 are those of 20 servers of five
// versions. `-- --databases 20 --servers 5` measures another size, `-- --loop 1000` runs the loop for all sources instead
// of a sample, `-- --report FILE` keeps the report.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../scripts/postgres.mjs';
import { buildProgram, judge, readOptions } from './options.mjs';
import { runDbProgram } from './program.mjs';

const values = readOptions(
  { databases: '200', servers: '20', loop: '50', report: undefined },
  { databases: '2', servers: '1', loop: '1' },
);
const databases = Number(values.databases);
const smallServers = Number(values.servers);
const names = ['127.0.0.1', '127.0.0.2', '127.0.0.3', 'localhost'];
const perSmallServer = 10;
const password = 'bench';
const options = ['--allow-private', '--target-version', '18'];
const unkeyed = 'CREATE TABLE visits (at int); INSERT INTO visits VALUES (1); UPDATE visits SET at = 2';
/** The inventory must take at most this part of the loop, and 1,000 sources at most this much more memory than 100. */
const bounds = { ratio: 0.5, growth: 1.5 };

await buildProgram();
const home = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
const servers = [];
try {
  const sources = await startAll();
  await measure(sources);
} finally {
  for (const server of servers) await server.stop();
  rmSync(home, { recursive: true, force: true });
}

async function startAll() {
  const settings = { listen_addresses: '*', shared_buffers: '16MB', max_wal_size: '64MB' };
  const ready = { wal_level: 'logical', max_replication_slots: databases + 4, max_wal_senders: databases + 4 };
  const large = await startPostgres({ version: 17, password, settings: { ...settings, ...ready } });
  servers.push(large);
  await large.query('CREATE DATABASE db1');
  for (let at = 1; at <= 20; at++) await large.query(`CREATE TABLE t${at} (id int PRIMARY KEY, name text)`, 'db1');
  for (let at = 2; at <= databases; at++) await large.query(`CREATE DATABASE db${at} TEMPLATE db1 STRATEGY file_copy`);
  // Every tenth database has a table that no replica can update.
  for (let at = 10; at <= databases; at += 10) await large.query(unkeyed, `db${at}`);
  const sources = names.flatMap((name) =>
    Array.from({ length: databases }, (_, at) => ({ server: large, name, database: `db${at + 1}` })),
  );
  const versions = /** @type {const} */ ([14, 15, 16, 17, 18]);
  for (let at = 0; at < smallServers; at++) {
    // Two of five servers are not ready: the default of wal_level is replica.
    const more = at % 5 < 3 ? { wal_level: 'logical', max_replication_slots: 20, max_wal_senders: 20 } : {};
    const server = await startPostgres({ version: versions[at % 5], password, settings: { ...settings, ...more } });
    servers.push(server);
    for (let n = 1; n <= perSmallServer; n++) {
      await server.query(`CREATE DATABASE app${n}`);
      sources.push({ server, name: '127.0.0.1', database: `app${n}` });
    }
    if (at % 4 === 0) await server.query(unkeyed, 'app1');
  }
  return sources;
}

async function measure(sources) {
  console.log(
    `${sources.length} sources on ${servers.length} servers, node ${process.versions.node}, ${cpus().length} cores`,
  );
  const tenth = await inventory(sources.filter((_, at) => at % 10 === 0));
  const whole = await inventory(sources, values.report === undefined ? [] : ['--report', values.report]);
  const sample = sources.filter((_, at) => at % Math.ceil(sources.length / Number(values.loop)) === 0);
  const looped = (await loop(sample)) * (sources.length / sample.length);
  const { summary } = whole.report;
  line('inventory', seconds(whole.elapsed));
  line(`bare loop, ${sample.length} of ${sources.length}, scaled`, seconds(looped));
  const ratio = whole.elapsed / looped;
  line('inventory / loop', ratio.toFixed(3), `<= ${bounds.ratio}`, ratio <= bounds.ratio);
  line('statements', String(summary.queries));
  line('memory, a tenth of the sources', `${tenth.memory.toFixed(0)} MB`);
  const growth = whole.memory / tenth.memory;
  line('memory, all sources', `${whole.memory.toFixed(0)} MB`, `<= ${bounds.growth}x`, growth <= bounds.growth);
  line('sources checked', String(summary.sources - summary.not_checked), 'all', summary.not_checked === 0);
  line('servers found', String(summary.servers), String(servers.length), summary.servers === servers.length);
}

function address({ server, name, database }) {
  return `postgres://postgres@${name}:${server.port}/${database}?sslmode=disable`;
}

async function inventory(sources, more = []) {
  const file = join(home, 'sources');
  writeFileSync(file, `${sources.map(address).join('\n')}\n`);
  return program('inventory', [file, '--scope', 'database', ...options, ...more]);
}

/** Milliseconds for one preflight after the other, as many at once as the machine has cores. */
async function loop(sources) {
  const waiting = [...sources];
  const begun = performance.now();
  const lane = async () => {
    for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
      const count = one.server === servers[0] ? databases : perSmallServer;
      const prefix = one.server === servers[0] ? 'db' : 'app';
      const all = ['postgres', ...Array.from({ length: count }, (_, at) => `${prefix}${at + 1}`)];
      const ignored = all.filter((name) => name !== one.database).join(',');
      await program('preflight', ['--source', address(one), '--ignore-dbs', ignored, ...options]);
    }
  };
  await Promise.all(cpus().map(lane));
  return performance.now() - begun;
}

/** The built program, as a person runs it. */
function program(command, words) {
  const env = { PATH: process.env.PATH, HOME: home, CLOUDCTL_CONFIG_DIR: home, PGPASSWORD: password };
  return runDbProgram(command, words, env);
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}

function line(name, value, bound = '', isKept = true) {
  const verdict = bound === '' ? '' : `${bound}  ${judge(isKept)}`;
  console.log(`${name.padEnd(38)}${value.padStart(10)}  ${verdict}`.trimEnd());
}
