import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import pg from 'pg';
import { replicationName } from '../../../../src/db/engine/postgresql/names.ts';
import { which } from '../../../fixtures/needs.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { eventually } from '../../../fixtures/redis.ts';
import { type PostgresCase, type Prepared, pgcopydbLimits, type Step } from '../case.ts';

const twelve = Array.from({ length: 12 }, (_, at) => `d${at + 1}`);

/** Said of databases that come to a shortage first. */
const uneven = 'slots are shared: whichever database comes first takes them, and the verdict is about all of them';

/** Room for some 700 locks. */
const fewLocks = { max_locks_per_transaction: 10, max_connections: 30 };

/** A hundred objects in each transaction, because these need locks too; `%1$s` is the number of the object. */
function many(hundreds: number, ...statements: readonly string[]): readonly Step[] {
  return statements.flatMap((statement) =>
    Array.from({ length: hundreds }, (_, at) => ({
      in: 'd1',
      sql: `DO $$BEGIN FOR i IN ${at * 100} .. ${at * 100 + 99} LOOP EXECUTE format('${statement}', i); END LOOP; END$$`,
    })),
  );
}

/** What is wrong, or strange, with a server as a whole. */
export const serverCases: readonly PostgresCase[] = [
  { name: 'base', verdict: 'continuous', quick: true },
  { name: 'three databases', verdict: 'continuous', quick: true, databases: ['d1', 'd2', 'd3'] },
  { name: 'twelve databases', verdict: 'continuous', databases: twelve },
  { name: 'an empty database', verdict: 'continuous', bare: true },
  {
    name: 'wal_level replica',
    verdict: 'dump',
    reasons: ['wal-level'],
    quick: true,
    settings: { wal_level: 'replica' },
  },
  {
    name: 'wal_level logical in the file, not in force',
    verdict: 'dump',
    reasons: ['wal-level', 'restart-pending'],
    settings: { wal_level: 'replica' },
    last: ["ALTER SYSTEM SET wal_level = 'logical'", 'reload'],
  },
  {
    name: 'a lower wal_level waits for a restart',
    verdict: 'continuous',
    last: ["ALTER SYSTEM SET wal_level = 'replica'", 'reload'],
  },
  {
    name: 'no temporary files, and no memory to sort in',
    verdict: 'blocked',
    reasons: ['temp-file-limit'],
    settings: { temp_file_limit: 0, work_mem: '64kB' },
  },
  { name: 'no temporary files', verdict: 'continuous', settings: { temp_file_limit: 0 } },
  {
    name: 'more tables than locks',
    verdict: 'blocked',
    reasons: ['dump-locks'],
    settings: fewLocks,
    last: many(24, 'CREATE TABLE t_%1$s (a int)'),
  },
  {
    name: 'more tables and views than locks',
    verdict: 'blocked',
    reasons: ['dump-locks'],
    settings: fewLocks,
    last: many(12, 'CREATE TABLE t_%1$s (a int)', 'CREATE VIEW v_%1$s AS SELECT 1 AS a'),
  },
  {
    name: 'more sequences than locks, of which a dump needs the values',
    verdict: 'blocked',
    reasons: ['wal-level', 'dump-locks'],
    settings: { ...fewLocks, wal_level: 'replica' },
    last: many(24, 'CREATE SEQUENCE s_%1$s'),
  },
  {
    name: 'more views than locks, which PostgreSQL 16 and newer do not lock',
    verdict: 'continuous',
    from: 16,
    settings: fewLocks,
    last: many(24, 'CREATE VIEW v_%1$s AS SELECT 1 AS a'),
  },
  {
    name: 'no slots at all',
    verdict: 'dump',
    reasons: ['slots-free'],
    settings: { max_replication_slots: 0 },
  },
  {
    name: 'fewer slots than databases',
    uneven,
    verdict: 'dump',
    reasons: ['slots-vs-dbs'],
    settings: { max_replication_slots: 2 },
    databases: ['d1', 'd2', 'd3'],
  },
  {
    name: 'as many slots as databases',
    uneven,
    verdict: 'dump',
    reasons: ['slots-free'],
    quick: true,
    settings: { max_replication_slots: 2 },
    databases: ['d1', 'd2'],
  },
  {
    name: 'one slot more than databases',
    verdict: 'continuous',
    settings: { max_replication_slots: 4 },
    databases: ['d1', 'd2', 'd3'],
  },
  {
    name: 'slots taken by inactive ones',
    verdict: 'dump',
    reasons: ['slots-free'],
    settings: { max_replication_slots: 4 },
    first: [1, 2, 3].map((at) => `SELECT pg_create_physical_replication_slot('standby_${at}', true)`),
  },
  { name: 'one WAL sender', verdict: 'dump', reasons: ['wal-senders'], settings: { max_wal_senders: 1 } },
  { name: 'two WAL senders', verdict: 'continuous', settings: { max_wal_senders: 2 } },
  {
    name: 'little WAL kept for a slot',
    verdict: 'continuous',
    settings: { max_slot_wal_keep_size: '64MB' },
  },
  {
    name: 'no WAL kept for a slot, and little written',
    verdict: 'continuous',
    settings: { max_slot_wal_keep_size: 0 },
  },
  {
    name: 'idle slots are dropped after an hour',
    verdict: 'continuous',
    from: 18,
    to: 18,
    settings: { idle_replication_slot_timeout: '1h' },
  },
  { name: 'wal_sender_timeout one second', verdict: 'continuous', settings: { wal_sender_timeout: '1s' } },
  { name: 'logical_decoding_work_mem 64 kB', verdict: 'continuous', settings: { logical_decoding_work_mem: '64kB' } },
  {
    name: 'few connections',
    verdict: 'continuous',
    settings: { max_connections: 10, superuser_reserved_connections: 3 },
  },
  {
    name: 'synchronous_standby_names takes any name',
    verdict: 'dump',
    reasons: ['sync-standby-names'],
    quick: true,
    last: ["ALTER SYSTEM SET synchronous_standby_names = '*'", 'reload'],
  },
  {
    name: 'synchronous_standby_names takes any name, and no commit waits',
    verdict: 'continuous',
    settings: { synchronous_commit: 'local' },
    last: ["ALTER SYSTEM SET synchronous_standby_names = '*'", 'reload'],
  },
  {
    name: 'the named synchronous standby is away',
    verdict: 'dump',
    reasons: ['sync-standby-names'],
    last: ["ALTER SYSTEM SET synchronous_standby_names = 'replica1'", 'reload'],
  },
  {
    name: 'the named synchronous standby is there',
    verdict: 'continuous',
    before: async (source) => synchronousStandby(source),
  },
  {
    name: 'a standby',
    pgcopydb: pgcopydbLimits.snapshot,
    verdict: 'dump',
    reasons: ['standby-source'],
    last: ['standby'],
  },
  {
    name: 'a prepared transaction',
    verdict: 'dump',
    reasons: ['prepared-xacts'],
    last: [{ in: 'postgres', sql: "BEGIN; CREATE TABLE half (id int); PREPARE TRANSACTION 'half done'" }],
  },
  {
    name: 'a transaction that has written and ends soon',
    verdict: 'continuous',
    before: async (source) => writer(source, 3000),
  },
  {
    name: 'a transaction that only reads and goes on',
    verdict: 'continuous',
    before: async (source) => writer(source, undefined, 'SELECT count(*) FROM base'),
  },
  {
    name: 'slot and publication of an earlier migration',
    verdict: 'dump',
    reasons: ['leftovers'],
    before: earlierTry,
  },
  {
    name: 'a slot and a publication of somebody else',
    verdict: 'continuous',
    last: [
      { in: 'd1', sql: 'CREATE PUBLICATION cdc FOR ALL TABLES' },
      { in: 'd1', sql: "SELECT pg_create_logical_replication_slot('debezium', 'pgoutput')" },
    ],
  },
  {
    name: 'a role with the mark of the same service',
    verdict: 'continuous',
    first: ['CREATE ROLE doadmin'],
  },
  { name: 'a role with the mark of another service', verdict: 'continuous', first: ['CREATE ROLE rdsadmin'] },
  {
    name: 'newer than the target',
    verdict: 'blocked',
    reasons: ['version-not-newer'],
    quick: true,
    from: 18,
  },
  { name: 'the same release', verdict: 'continuous', from: 17, to: 17 },
  { name: 'PostgreSQL 12', verdict: 'continuous', from: 12 },
  { name: 'PostgreSQL 13', verdict: 'continuous', from: 13 },
  { name: 'PostgreSQL 14 to 18', verdict: 'continuous', from: 14, to: 18, databases: ['d1', 'd2'] },
  { name: 'PostgreSQL 16 to 18', verdict: 'continuous', from: 16, to: 18 },
  { name: 'PostgreSQL 17 to 18', verdict: 'continuous', quick: true, from: 17, to: 18 },
  { name: 'PostgreSQL 18', verdict: 'continuous', from: 18, to: 18 },
];

/** A transaction that stays open, or is committed after so many milliseconds. */
async function writer(
  source: Postgres,
  ms: number | undefined,
  sql = 'INSERT INTO base VALUES (5000)',
): Promise<Prepared> {
  const session = new pg.Client({ host: source.folder, port: source.port, user: 'postgres', database: 'd1' });
  session.on('error', () => {});
  await session.connect();
  await session.query(`BEGIN; ${sql}`);
  const timer = ms === undefined ? undefined : setTimeout(() => void session.query('COMMIT').catch(() => {}), ms);
  return {
    async end() {
      clearTimeout(timer);
      await session.end();
    },
  };
}

/** A receiver of WAL that confirms what it was sent, as a standby does. */
async function synchronousStandby(source: Postgres): Promise<Prepared> {
  const folder = `${source.folder}/received`;
  const program = which('pg_receivewal') ?? 'pg_receivewal';
  const place = `host=127.0.0.1 port=${source.port} user=postgres password=secret application_name=replica1`;
  await source.rules('host all all 0.0.0.0/0 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256');
  mkdirSync(folder);
  const child = execFile(program, ['-D', folder, '--synchronous', '-d', place], () => {});
  const seen = (rest: string) => async () =>
    (await source.query(`SELECT 1 FROM pg_stat_replication WHERE application_name = 'replica1' ${rest}`)).length > 0;
  await eventually(seen(''), 'the standby');
  await source.query("ALTER SYSTEM SET synchronous_standby_names = 'replica1'");
  await source.query('SELECT pg_reload_conf()');
  await eventually(seen("AND sync_state = 'sync'"), 'a synchronous standby');
  return {
    async end() {
      child.kill();
    },
  };
}

/** An engine gives fixed names: the next try meets what the one before has left. */
export async function earlierTry(source: Postgres): Promise<Prepared> {
  const id = randomUUID();
  const [row] = await source.query("SELECT oid FROM pg_database WHERE datname = 'd1'");
  const name = replicationName(id, String(row?.oid));
  await source.query(`CREATE PUBLICATION "${name}" FOR ALL TABLES`, 'd1');
  await source.query(`SELECT pg_create_logical_replication_slot('${name}', 'pgoutput')`, 'd1');
  return { id };
}
