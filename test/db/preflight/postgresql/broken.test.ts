import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CheckFinding, FindingFix } from '../../../../src/db/preflight/finding.ts';
import { postgresqlChecks } from '../../../../src/db/preflight/postgresql/checks.ts';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { short } from './facts.ts';
import { found, preflightServer, type ServerAddress } from './preflight.ts';

/** Checks whose questions are about the server; those of single databases have tests of their own. */
const own = [
  'auth-expiry-window',
  'auth-connlimit',
  'conn-headroom',
  'db-noconnect',
  'ignore-unknown',
  'superuser',
  'stored-role',
  'role-readonly',
  'role-timeouts',
  'wal-level',
  'restart-pending',
  'slots-vs-dbs',
  'slots-free',
  'wal-senders',
  'worker-processes',
  'listen-addresses',
  'hba-rule',
  'standby-source',
  'slot-blockers',
  'leftovers',
  'slot-retention',
  'wal-sender-timeout',
  'decoding-mem',
  'sync-standby-names',
  'supers',
  'role-passwords',
  'encoding',
  'collation',
  'dump-quiesced',
  'prepared-xacts',
  'db-names',
  'size-estimate',
  'wal-rate',
];

/** Of 42 bytes: the longest that leaves room for a prefix and a suffix has 41. */
const longName = 'a'.repeat(42);

interface Break {
  readonly id: string;
  readonly what: string;
  /** The first version that has it. */
  readonly from?: number;
  /** Statements; `restart` and `reload` are what they say. */
  readonly break: readonly string[];
  readonly found: string;
  readonly database?: string;
  readonly as?: string;
  readonly options?: ServerAddress['options'];
  /** Only the statements that mend what the cure does not, and what had to be made for the case. */
  readonly mend?: readonly string[];
}

const breaks: readonly Break[] = [
  {
    id: 'wal-level',
    what: 'wal_level replica',
    break: ["ALTER SYSTEM SET wal_level = 'replica'", 'restart'],
    found: 'fail continuous',
  },
  {
    id: 'restart-pending',
    what: 'max_wal_senders changed, and loaded',
    break: ['ALTER SYSTEM SET max_wal_senders = 21', 'reload'],
    found: 'warn',
    mend: ['ALTER SYSTEM RESET max_wal_senders', 'reload'],
  },
  {
    id: 'restart-pending',
    what: 'wal_level changed in the file, and not even loaded',
    break: ["ALTER SYSTEM SET wal_level = 'replica'"],
    found: 'warn',
    mend: ['ALTER SYSTEM RESET wal_level', 'reload'],
  },
  {
    id: 'slots-vs-dbs',
    what: 'one slot',
    break: ['ALTER SYSTEM SET max_replication_slots = 1', 'restart'],
    found: 'fail continuous',
  },
  {
    id: 'slots-free',
    what: 'as many slots as databases',
    break: ['ALTER SYSTEM SET max_replication_slots = 2', 'restart'],
    found: 'fail continuous',
  },
  {
    id: 'slots-free',
    what: 'one slot more than databases',
    break: ['ALTER SYSTEM SET max_replication_slots = 3', 'restart'],
    found: 'warn',
  },
  {
    id: 'wal-senders',
    what: 'one sender',
    break: ['ALTER SYSTEM SET max_wal_senders = 1', 'restart'],
    found: 'fail continuous',
  },
  {
    id: 'listen-addresses',
    what: 'the own machine only',
    break: ["ALTER SYSTEM SET listen_addresses = 'localhost'", 'restart'],
    options: { isOverInternet: true },
    found: 'fail continuous+dump',
  },
  {
    id: 'slot-retention',
    what: 'little WAL for a slot',
    break: ["ALTER SYSTEM SET max_slot_wal_keep_size = '64MB'", 'reload'],
    found: 'warn',
  },
  {
    id: 'slot-retention',
    what: 'idle slots are dropped',
    from: 18,
    break: ["ALTER SYSTEM SET idle_replication_slot_timeout = '1h'", 'reload'],
    found: 'warn',
  },
  {
    id: 'wal-sender-timeout',
    what: 'one second',
    break: ["ALTER SYSTEM SET wal_sender_timeout = '1s'", 'reload'],
    found: 'warn',
  },
  {
    id: 'wal-sender-timeout',
    what: 'one second, in the file',
    break: ["conf wal_sender_timeout = '1s'", 'reload'],
    found: 'warn',
    mend: ["conf wal_sender_timeout = '60s'", 'reload'],
  },
  {
    id: 'decoding-mem',
    what: 'one megabyte',
    break: ["ALTER SYSTEM SET logical_decoding_work_mem = '1MB'", 'reload'],
    found: 'info',
  },
  {
    id: 'sync-standby-names',
    what: 'any of all',
    break: ["ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'", 'reload'],
    found: 'fail continuous',
  },
  {
    id: 'hba-rule',
    what: 'the own machine only',
    break: ['rules host all all 127.0.0.1/32 scram-sha-256'],
    options: { isOverInternet: true },
    found: 'fail continuous+dump',
  },
  {
    id: 'hba-rule',
    what: 'the own machine only, judged from near',
    break: ['rules host all all 127.0.0.1/32 scram-sha-256'],
    found: 'warn',
  },
  {
    id: 'hba-rule',
    what: 'a line that cannot be read',
    break: ['rules host all all 0.0.0.0/0 scram-sha-256', 'broken rules hots all all 0.0.0.0/0 md5'],
    found: 'fail continuous+dump',
  },
  {
    id: 'hba-rule',
    what: 'a line for TLS on a server without it, before one that lets in the own machine',
    break: ['rules hostssl all all 0.0.0.0/0 reject\nhost all all 127.0.0.1/32 scram-sha-256'],
    found: 'warn',
  },
  { id: 'superuser', what: 'a bare role', break: ['SELECT 1'], as: 'bare', found: 'fail continuous' },
  {
    id: 'auth-expiry-window',
    what: 'a password for three days',
    break: [
      "ALTER ROLE migrator VALID UNTIL '2999-01-01'",
      "DO $$ BEGIN EXECUTE format('ALTER ROLE migrator VALID UNTIL %L', now() + interval '3 days'); END $$",
    ],
    as: 'migrator',
    mend: ["ALTER ROLE migrator VALID UNTIL 'infinity'"],
    found: 'warn',
  },
  {
    id: 'auth-connlimit',
    what: 'a role with few connections',
    break: ['ALTER ROLE bare CONNECTION LIMIT 5', 'CREATE TABLE t (id int PRIMARY KEY)'],
    as: 'bare',
    mend: ['DROP TABLE t', 'ALTER ROLE bare CONNECTION LIMIT -1'],
    found: 'warn',
  },
  {
    id: 'conn-headroom',
    what: 'few connections',
    break: ['ALTER SYSTEM SET max_connections = 8', 'restart'],
    as: 'bare',
    found: 'warn',
  },
  {
    id: 'db-noconnect',
    what: 'closed to all',
    break: ['ALTER DATABASE d1 ALLOW_CONNECTIONS false'],
    mend: ['ALTER DATABASE d1 ALLOW_CONNECTIONS true'],
    database: 'd1',
    found: 'fail continuous+dump',
  },
  {
    id: 'db-noconnect',
    what: 'closed to the role',
    break: ['REVOKE CONNECT ON DATABASE d1 FROM PUBLIC'],
    as: 'bare',
    database: 'd1',
    mend: ['GRANT CONNECT ON DATABASE d1 TO PUBLIC'],
    found: 'fail continuous+dump',
  },
  {
    id: 'stored-role',
    what: 'the role',
    break: ['ALTER ROLE migrator SET role = bare'],
    as: 'migrator',
    found: 'fail continuous',
    mend: ['ALTER ROLE migrator RESET role'],
  },
  {
    id: 'stored-role',
    what: 'one database',
    break: ['ALTER DATABASE d1 SET role = bare'],
    as: 'migrator',
    found: 'fail continuous',
    mend: ['ALTER DATABASE d1 RESET role'],
  },
  {
    id: 'role-readonly',
    what: 'the role',
    break: ['ALTER ROLE migrator SET default_transaction_read_only = on'],
    as: 'migrator',
    found: 'fail continuous',
    mend: ['ALTER ROLE migrator RESET default_transaction_read_only'],
  },
  {
    id: 'role-readonly',
    what: 'one database',
    break: ['ALTER DATABASE d1 SET default_transaction_read_only = on'],
    as: 'migrator',
    found: 'fail continuous',
    mend: ['ALTER DATABASE d1 RESET default_transaction_read_only'],
  },
  {
    id: 'role-timeouts',
    what: 'an hour',
    break: ["ALTER ROLE migrator SET statement_timeout = '1h'"],
    as: 'migrator',
    found: 'warn',
    mend: ['ALTER ROLE migrator RESET statement_timeout'],
  },
  {
    id: 'role-timeouts',
    what: 'less than the biggest table takes',
    break: [
      "CREATE TABLE big AS SELECT repeat('x', 1000) AS a FROM generate_series(1, 30000)",
      "ALTER ROLE migrator IN DATABASE postgres SET statement_timeout = '200ms'",
    ],
    as: 'migrator',
    found: 'fail continuous',
    mend: ['DROP TABLE big', 'ALTER ROLE migrator IN DATABASE postgres RESET statement_timeout'],
  },
  {
    id: 'role-timeouts',
    what: 'a transaction timeout',
    from: 17,
    break: ["ALTER ROLE migrator SET transaction_timeout = '1h'"],
    as: 'migrator',
    found: 'warn',
    mend: ['ALTER ROLE migrator RESET transaction_timeout'],
  },
  {
    id: 'role-timeouts',
    what: 'a transaction timeout shorter than the questions themselves',
    from: 17,
    break: ["ALTER ROLE migrator SET transaction_timeout = '9ms'"],
    as: 'migrator',
    found: 'fail continuous',
    mend: ['ALTER ROLE migrator RESET transaction_timeout'],
  },
  { id: 'slot-blockers', what: 'a transaction that wrote', break: ['open'], found: 'warn', mend: ['close'] },
  {
    id: 'dump-quiesced',
    what: 'a transaction that wrote',
    break: ['open'],
    options: { method: 'dump' },
    found: 'warn',
    mend: ['close'],
  },
  {
    id: 'prepared-xacts',
    what: 'a prepared transaction',
    break: ["BEGIN; CREATE TABLE half (id int); PREPARE TRANSACTION 'half done'"],
    found: 'fail continuous',
    mend: ["ROLLBACK PREPARED 'half done'"],
  },
  {
    id: 'leftovers',
    what: 'slot and publication of an earlier try',
    break: [
      'CREATE PUBLICATION aiven_db_migrate_x_pub FOR ALL TABLES',
      "SELECT pg_create_logical_replication_slot('aiven_db_migrate_x_slot', 'pgoutput')",
    ],
    database: 'postgres',
    found: 'fail continuous',
    mend: ["SELECT pg_drop_replication_slot('aiven_db_migrate_x_slot')", 'DROP PUBLICATION aiven_db_migrate_x_pub'],
  },
  {
    id: 'supers',
    what: 'another superuser',
    break: ['CREATE ROLE root SUPERUSER'],
    found: 'warn',
    mend: ['DROP ROLE root'],
  },
  {
    id: 'encoding',
    what: 'SQL_ASCII',
    break: ["CREATE DATABASE odd ENCODING 'SQL_ASCII' TEMPLATE template0"],
    database: 'odd',
    found: 'warn',
    mend: ['DROP DATABASE odd'],
  },
  {
    id: 'collation',
    what: 'a collation of libc',
    break: ["CREATE COLLATION own (provider = libc, locale = 'C')"],
    database: 'postgres',
    found: 'warn',
    mend: ['DROP COLLATION own'],
  },
  {
    id: 'db-names',
    what: 'a name that a slot cannot hold',
    break: [`CREATE DATABASE ${longName}`],
    database: longName,
    found: 'warn',
    mend: [`DROP DATABASE ${longName}`],
  },
  {
    id: 'standby-source',
    what: 'in recovery',
    break: ['standby', 'restart'],
    found: 'fail continuous',
    mend: ['promote'],
  },
];

describe.each([14, 18] as const)('PostgreSQL %i', (version) => {
  let server: Postgres;
  let writer: pg.Client | undefined;

  beforeAll(async () => {
    server = await startPostgres({
      version,
      settings: { ...ready, max_prepared_transactions: 2 },
      setup: [
        'CREATE DATABASE d1',
        `CREATE ROLE bare LOGIN PASSWORD 'secret'`,
        `CREATE ROLE migrator LOGIN SUPERUSER PASSWORD 'secret'`,
      ],
    });
  }, 60_000);
  afterAll(() => server.stop());

  const judge = async ({ id, as = 'postgres', options, database }: Break): Promise<CheckFinding> => {
    const checks = postgresqlChecks.filter((check) => check.id === id);
    const password = as === 'postgres' ? server.password : 'secret';
    const report = await preflightServer({ port: server.port, password, username: as, options }, { checks });
    return found(report, id, database);
  };

  const run = async (statements: readonly string[], database = 'postgres') => {
    for (const statement of statements) {
      if (statement === 'restart') await server.restart();
      else if (statement === 'reload') await reload();
      else if (statement === 'open') await open();
      else if (statement === 'close') await writer?.end();
      else if (statement === 'standby') server.write('standby.signal', '');
      else if (statement === 'promote') await server.query('SELECT pg_promote()');
      else if (statement.startsWith('conf ')) {
        server.write('postgresql.conf', `${server.read('postgresql.conf')}${statement.slice(5)}\n`);
      } else if (statement.startsWith('rules ')) await server.rules(statement.slice(6));
      else if (statement.startsWith('broken rules ')) server.write('pg_hba.conf', `${statement.slice(13)}\n`);
      else await server.query(statement, database);
    }
  };

  const reload = async () => {
    await server.query('SELECT pg_reload_conf()');
    // Processes take the signal between two queries of theirs.
    await new Promise((resolve) => setTimeout(resolve, 150));
  };

  const open = async () => {
    writer = new pg.Client({ host: server.folder, port: server.port, user: 'postgres', database: 'd1' });
    await writer.connect();
    await writer.query('BEGIN; CREATE TABLE unfinished (id int)');
  };

  const apply = async (fix: FindingFix | undefined, statements: readonly string[] | undefined) => {
    await run(statements ?? [], fix?.database);
    if (fix?.restart === true) await server.restart();
    else if (fix?.reload === true) await reload();
  };

  test('a healthy server is met with silence', async () => {
    const checks = postgresqlChecks.filter(({ id }) => own.includes(id));
    const report = await preflightServer({ ...server, options: { isOverInternet: true } }, { checks });
    expect(
      report.findings.filter(({ status }) => status !== 'pass').map(({ id, status }) => `${id} ${status}`),
    ).toEqual([
      // What a report always tells: another superuser here is the role of other tests.
      'supers warn',
      'role-passwords warn',
      'size-estimate info',
    ]);
  });

  const here = breaks.filter(({ from = 0 }) => from <= version);
  test.each(here.map((one) => [`${one.id}: ${one.what}`, one] as const))(
    '%s is found, cured by its fix, and back after the undo',
    async (_name, one) => {
      await run(one.break);
      try {
        const broken = await judge(one);
        expect(short(broken)).toBe(one.found);
        const { fix } = broken;
        if (fix?.sql !== undefined) {
          await apply(fix, fix.sql);
          await apply(fix, fix.sql);
          expect((await judge(one)).status).toBe('pass');
        }
        if (fix?.undo !== undefined) {
          await apply(fix, fix.undo);
          expect((await judge(one)).observed).toBe(broken.observed);
        }
      } finally {
        await run(one.mend ?? []);
        if (one.id === 'hba-rule') await server.rules('host all all 0.0.0.0/0 scram-sha-256');
        if (one.break.includes('restart') && one.mend === undefined) {
          await server.query('ALTER SYSTEM RESET ALL');
          await server.restart();
        } else if (one.break.includes('reload')) {
          await server.query('ALTER SYSTEM RESET ALL');
          await reload();
        }
      }
    },
    30_000,
  );
});
