// `npm run bench:preflight`: how long a preflight of 200 databases of 50 tables takes, as a multiple of a bare loop that
// sends the same statements, and of one that only connects. `-- --databases 20 --tables 50` measures another size,
// `-- --tables 100000` one database of so many tables, `-- --tables 50` how soon the verdict of a small one is printed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from '../scripts/postgres.mjs';
import { buildProgram, isShort, judge, readOptions, record } from './options.mjs';
import { runDbProgram } from './program.mjs';

/** @type {{ databases: string | undefined, tables: string | undefined }} */
const values = readOptions({ databases: undefined, tables: undefined }, { databases: '2', tables: '2' });
const tables = Number(values.tables ?? 50);
const databases = Number(values.databases ?? (values.tables === undefined ? 200 : 1));
/** What disturbs a run only ever makes it longer, so the best of a few is compared. */
const rounds = isShort ? 1 : 5;
/** As the preflight has; with 100 connections a tenth of the free ones is more. */
const lanes = 8;
/** Ratios, and MB. With few databases the way in weighs too much, and one of very many tables has the deadline alone. */
const bounds = databases >= 100 ? { 'the same statements, bare': 1.25, 'SELECT 1': 3, memory: 150 } : {};
/** Milliseconds from the start of the program to its end, for a database of ordinary size. */
const verdictBound = databases === 1 && tables <= 50 ? 1000 : undefined;
/** Facts about the target, which the bench does not provide. */
const factsOfTarget = new Set(['version-not-newer', 'extensions']);

await buildProgram();
const home = mkdtempSync(join(tmpdir(), 'cloudctl-bench-'));
const server = await startPostgres({
  version: 17,
  settings: {
    wal_level: 'logical',
    max_replication_slots: databases + 4,
    max_wal_senders: databases + 4,
    max_locks_per_transaction: 4096,
    shared_buffers: '128MB',
    max_wal_size: '256MB',
  },
});
try {
  const version = await versionOf(server);
  console.log(`${databases} databases of ${tables} tables on ${version}, node ${process.versions.node} …`);
  await fill();
  report(await measure(), version);
} finally {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}

/** One is made, and the others are its copies. */
async function fill() {
  await server.query('CREATE DATABASE db1');
  for (let from = 1; from <= tables; from += 1000) {
    const to = Math.min(tables, from + 999);
    const create = `CREATE TABLE t%1$s (id int PRIMARY KEY, at timestamptz, name text); CREATE INDEX ON t%1$s (at)`;
    // Key and index make a table of a hundred thousand three relations, which takes minutes: there they are left out.
    const statement = tables > 5000 ? 'CREATE TABLE t%1$s (id int)' : create;
    await server.query(
      `DO $$ BEGIN FOR n IN ${from}..${to} LOOP EXECUTE format('${statement}', n); END LOOP; END $$`,
      'db1',
    );
  }
  await server.query('VACUUM ANALYZE', 'db1');
  for (let n = 2; n <= databases; n++) await server.query(`CREATE DATABASE db${n} TEMPLATE db1 STRATEGY file_copy`);
}

/** The ways take turns, so that a slow moment of the machine meets all of them alike. */
async function measure() {
  const first = await preflight(['--show-queries']);
  const messages = sentTo(first.stderr);
  const times = { 'cloudctl db preflight': [], 'the same statements, bare': [], 'SELECT 1': [] };
  let memory = 0;
  let program = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const ran = await preflight([]);
    memory = Math.max(memory, ran.memory);
    program = Math.min(program, ran.elapsed);
    times['cloudctl db preflight'].push(ran.report.duration_ms);
    times['the same statements, bare'].push(await loop((name) => messages.get(name).join('; ')));
    times['SELECT 1'].push(await loop(() => 'SELECT 1'));
  }
  return { times, memory, program, report: first.report };
}

/** The built program, as a person runs it. */
function preflight(more) {
  const source = `postgres://postgres@127.0.0.1:${server.port}/db1`;
  const env = { PATH: process.env.PATH, HOME: home, CLOUDCTL_CONFIG_DIR: home, PGPASSWORD: server.password };
  return runDbProgram('preflight', ['--source', source, '--disable-ssl', '--allow-private', ...more], env);
}

/** By database, what --show-queries printed; questions of the replication protocol are none for a bare loop. */
function sentTo(text) {
  const messages = new Map();
  for (const [, name, message] of text.matchAll(
    /^query sent to (\w+): (.*(?:\n(?!query sent to |\d+ of |querying|\{).*)*)/gm,
  )) {
    if (message.trim() === 'IDENTIFY_SYSTEM') continue;
    messages.set(name, [...(messages.get(name) ?? []), message.trim()]);
  }
  return messages;
}

/** Milliseconds to connect once to each database and send one message. */
async function loop(messageOf) {
  const names = ['postgres', ...Array.from({ length: databases }, (_, at) => `db${at + 1}`)];
  const begun = performance.now();
  const lane = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const client = new pg.Client({
        host: '127.0.0.1',
        port: server.port,
        user: 'postgres',
        password: server.password,
        database: name,
      });
      // When the loop fails, the server is stopped before the other clients have ended.
      client.on('error', () => {});
      await client.connect();
      await client.query(messageOf(name));
      await client.end();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return performance.now() - begun;
}

async function versionOf({ query }) {
  const [{ server_version: version }] = await query('SHOW server_version');
  return `PostgreSQL ${version}`;
}

function report({ times, memory, program, report: first }, version) {
  const best = new Map(Object.entries(times).map(([name, all]) => [name, Math.min(...all)]));
  const own = best.get('cloudctl db preflight');
  console.log(`best of ${rounds}\n`);
  for (const [name, ms] of best) {
    const bound = bounds[name];
    const ratio = own / ms;
    const verdict = bound === undefined ? '' : `<= ${bound.toFixed(2)}  ${judge(ratio <= bound)}`;
    const shown = name === 'cloudctl db preflight' ? '' : `${ratio.toFixed(2)}x of it`;
    console.log(`${name.padEnd(28)}${ms.toFixed(0).padStart(7)} ms  ${shown.padEnd(14)}${verdict}`.trimEnd());
  }
  const milliseconds = Object.fromEntries(best);
  record({ rounds, databases, tables, version, milliseconds, memory, program });
  const unanswered = first.findings.filter(({ status, id }) => status === 'unknown' && !factsOfTarget.has(id)).length;
  const limit = verdictBound === undefined ? '' : `<= ${verdictBound}  ${judge(program <= verdictBound)}`;
  line('verdict, start included', `${program.toFixed(0)} ms`, limit);
  const { memory: most } = bounds;
  line('peak memory', `${memory.toFixed(0)} MB`, most === undefined ? '' : `<= ${most}   ${judge(memory <= most)}`);
  line('databases judged', `${first.databases.length}   `, `all     ${judge(unanswered === 0)}`);
}

function line(name, value, verdict) {
  console.log(`${name.padEnd(28)}${value.padStart(10)}  ${''.padEnd(14)}${verdict}`.trimEnd());
}
