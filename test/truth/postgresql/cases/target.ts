import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Postgres } from '../../../fixtures/postgres.ts';
import type { PostgresCase, Prepared } from '../case.ts';

const forced = [
  'CREATE TABLE t (id int PRIMARY KEY, who text)',
  "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
  'ALTER TABLE t ENABLE ROW LEVEL SECURITY',
  'ALTER TABLE t FORCE ROW LEVEL SECURITY',
  'CREATE POLICY own ON t USING (who = current_user)',
];

const defaultWorkers = { max_logical_replication_workers: 4, max_worker_processes: 8, max_replication_slots: 10 };

const fewLocks = { max_locks_per_transaction: 10, max_connections: 20 };

const oneTransaction = {
  truth: 'blocked',
  why: 'the engine of the sandbox creates the schema in one transaction; whether the service does is not known',
} as const;

function manyTables(count: number): readonly string[] {
  return [
    `DO $$ BEGIN FOR i IN 1..${count} LOOP EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY)', i); END LOOP; END $$`,
  ];
}

/** What the target provides, and what its login may create. */
export const targetCases: readonly PostgresCase[] = [
  {
    name: 'a target without a superuser: tables, functions and a trusted extension',
    verdict: 'continuous',
    plainTarget: true,
    quick: true,
    setup: [
      'CREATE EXTENSION hstore',
      "CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2'",
      'CREATE TABLE t (id int PRIMARY KEY, h hstore, n int GENERATED ALWAYS AS (twice(id)) STORED)',
      'CREATE VIEW v AS SELECT id, n FROM t',
    ],
  },
  {
    name: 'a target without a superuser: an untrusted extension',
    verdict: 'blocked',
    reasons: ['extensions'],
    plainTarget: true,
    setup: ['CREATE EXTENSION pageinspect'],
  },
  {
    name: 'a target without a superuser: a function in an untrusted language',
    verdict: 'blocked',
    reasons: ['untrusted-lang'],
    plainTarget: true,
    quick: true,
    setup: ["CREATE FUNCTION size(int) RETURNS int LANGUAGE internal IMMUTABLE STRICT AS 'int4abs'"],
  },
  {
    name: 'a target without a superuser: a function in C',
    verdict: 'blocked',
    reasons: ['untrusted-lang'],
    plainTarget: true,
    setup: ["CREATE FUNCTION id() RETURNS uuid AS '$libdir/pgcrypto', 'pg_random_uuid' LANGUAGE c"],
  },
  {
    name: 'a target without a superuser: a LEAKPROOF function',
    verdict: 'blocked',
    reasons: ['superuser-objects'],
    plainTarget: true,
    setup: ["CREATE FUNCTION same(int) RETURNS int LANGUAGE sql IMMUTABLE LEAKPROOF AS 'SELECT $1'"],
  },
  {
    name: 'a target without a superuser: a type that was begun and not defined',
    verdict: 'blocked',
    reasons: ['superuser-objects'],
    plainTarget: true,
    setup: ['CREATE TYPE begun'],
  },
  {
    name: 'a target without a superuser: a function with a support function',
    verdict: 'blocked',
    reasons: ['superuser-objects'],
    plainTarget: true,
    setup: [
      "CREATE FUNCTION several(int) RETURNS SETOF int LANGUAGE sql IMMUTABLE SUPPORT generate_series_int4_support AS 'SELECT $1'",
    ],
  },
  {
    name: 'a target without a superuser: a text search parser and template',
    verdict: 'blocked',
    reasons: ['superuser-objects'],
    plainTarget: true,
    setup: [
      'CREATE TEXT SEARCH TEMPLATE words (INIT = dsimple_init, LEXIZE = dsimple_lexize)',
      'CREATE TEXT SEARCH PARSER splits (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)',
    ],
  },
  {
    name: 'a target without a superuser: row-level security that is forced',
    verdict: 'blocked',
    reasons: ['rls'],
    plainTarget: true,
    quiet: ['t'],
    setup: forced,
  },
  {
    name: 'fixed: row-level security that is forced, for a target without a superuser',
    verdict: 'continuous',
    fixes: { verdict: 'blocked' },
    plainTarget: true,
    quiet: ['t'],
    setup: forced,
  },
  {
    name: 'a target without a superuser: an operator class and a cast',
    verdict: 'blocked',
    reasons: ['superuser-objects'],
    plainTarget: true,
    setup: [
      'CREATE OPERATOR CLASS backwards FOR TYPE int USING btree AS OPERATOR 1 >, OPERATOR 2 >=, OPERATOR 3 =, OPERATOR 4 <=, OPERATOR 5 <, FUNCTION 1 btint4cmp(int, int)',
      'CREATE CAST (varchar AS bytea) WITHOUT FUNCTION',
    ],
  },
  {
    name: 'a target without a superuser: a function with a setting of superusers',
    verdict: 'blocked',
    reasons: ['function-settings'],
    plainTarget: true,
    setup: ["CREATE FUNCTION f() RETURNS int LANGUAGE sql SET log_statement = 'none' AS 'SELECT 1'"],
  },
  {
    name: 'a target without a superuser: a subscription without a password',
    verdict: 'continuous',
    unproven: ['subs-existing'],
    plainTarget: true,
    setup: ["CREATE SUBSCRIPTION in_flow CONNECTION 'dbname=none' PUBLICATION p WITH (connect = false)"],
    differs: {
      truth: 'blocked',
      why: 'the engine of the sandbox leaves out what nothing else needs; whether the service does is not known, and the report says so',
    },
  },
  {
    name: 'a target without a superuser: an event trigger and a publication FOR ALL TABLES',
    verdict: 'continuous',
    unproven: ['event-triggers', 'superuser-objects'],
    plainTarget: true,
    setup: [
      "CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
      'CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION watch()',
      'CREATE PUBLICATION everything FOR ALL TABLES',
    ],
    differs: {
      truth: 'blocked',
      why: 'the engine of the sandbox leaves out what nothing else needs; whether the service does is not known, and the report says so',
    },
  },
  {
    name: 'a target without a superuser: a publication FOR TABLES IN SCHEMA',
    verdict: 'continuous',
    unproven: ['superuser-objects'],
    from: 15,
    to: 17,
    plainTarget: true,
    setup: ['CREATE PUBLICATION cdc FOR TABLES IN SCHEMA public'],
    differs: {
      truth: 'blocked',
      why: 'the engine of the sandbox leaves out what nothing else needs; whether the service does is not known, and the report says so',
    },
  },
  {
    name: 'a target without a superuser: a release before pg_create_subscription',
    verdict: 'dump',
    reasons: ['target-login'],
    plainTarget: true,
    to: 15,
  },
  {
    name: 'a target without a superuser: a dump of tables with triggers and foreign keys that depend on each other',
    verdict: 'dump',
    reasons: ['target-login'],
    plainTarget: true,
    to: 15,
    setup: [
      'CREATE TABLE audit (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, what int)',
      'CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.audit (what) VALUES (NEW.id); RETURN NEW; END $$',
      'CREATE TABLE a_child (id int PRIMARY KEY, parent int)',
      'CREATE TABLE z_parent (id int PRIMARY KEY, child int REFERENCES a_child)',
      'ALTER TABLE a_child ADD FOREIGN KEY (parent) REFERENCES z_parent',
      'CREATE TRIGGER log AFTER INSERT ON a_child FOR EACH ROW EXECUTE FUNCTION log()',
      'INSERT INTO a_child VALUES (1), (2)',
      'INSERT INTO z_parent VALUES (1, 1), (2, 2)',
      'UPDATE a_child SET parent = id',
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'read only'; END $$",
      'CREATE TRIGGER refuse BEFORE INSERT ON z_parent FOR EACH ROW EXECUTE FUNCTION refuse()',
    ],
  },
  {
    name: 'five databases, and a target with the workers that it has by default',
    verdict: 'dump',
    reasons: ['target-workers'],
    databases: ['d1', 'd2', 'd3', 'd4', 'd5'],
    target: defaultWorkers,
    uneven: 'the subscriptions of the first databases get the workers, and it depends on the time which these are',
  },
  {
    name: 'three databases, and a target with the workers that it has by default',
    verdict: 'continuous',
    databases: ['d1', 'd2', 'd3'],
    target: defaultWorkers,
  },
  {
    name: 'a target without logical replication workers',
    verdict: 'dump',
    reasons: ['target-workers'],
    quick: true,
    target: { max_logical_replication_workers: 0 },
  },
  {
    name: 'a target whose only background worker applies changes',
    verdict: 'dump',
    reasons: ['target-workers'],
    target: { max_worker_processes: 2 },
  },
  {
    name: 'a target without replication origins',
    verdict: 'dump',
    reasons: ['target-workers'],
    to: 18,
    target: { max_active_replication_origins: 0 },
  },
  {
    name: 'a target whose locks are too few for the tables of a subscription',
    verdict: 'dump',
    reasons: ['target-workers'],
    target: fewLocks,
    setup: manyTables(2500),
    differs: oneTransaction,
  },
  {
    name: 'a target with the locks for the tables and their indexes',
    verdict: 'continuous',
    target: { ...fewLocks, max_locks_per_transaction: 64 },
    setup: manyTables(200),
  },
  {
    name: 'an extension that the target prescribes another schema for (pg_cron 1.4 in public, 1.6)',
    verdict: 'blocked',
    reasons: ['extensions'],
    from: 18,
    to: 18,
    quick: true,
    target: {},
    before: withExtensions(['jobs', '1.4'], ['jobs', '1.6', 'schema = pg_catalog']),
  },
  {
    name: 'rows of the configuration of an extension that a superuser creates',
    verdict: 'continuous',
    quick: true,
    from: 18,
    to: 18,
    target: {},
    before: withExtensions(['jobs', '1.4'], ['jobs', '1.4']),
  },
  {
    name: 'an extension in the schema that the target prescribes',
    verdict: 'continuous',
    from: 18,
    to: 18,
    target: {},
    unproven: ['extensions'],
    before: withExtensions(['jobs', '1.4'], ['jobs', '1.6', 'schema = public']),
  },
  {
    name: 'an extension that maintains partitions',
    verdict: 'continuous',
    unproven: ['ddl-activity'],
    from: 18,
    to: 18,
    target: {},
    before: withPartitions,
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id)',
      'CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100)',
      'INSERT INTO p VALUES (1)',
    ],
    app: ['CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200)', 'INSERT INTO p VALUES (101)'],
    differs: {
      truth: 'dump',
      why: 'whether a function that creates or changes tables runs during the migration is not known; the report names it',
    },
  },
  {
    name: 'an extension that needs another one in the version of the target',
    verdict: 'blocked',
    reasons: ['extensions'],
    from: 18,
    to: 18,
    target: {},
    before: withExtensions(['jobs', '1.4'], ['jobs', '1.6', "requires = 'hstore'"]),
  },
  {
    name: 'a collation of the operating system that the target lacks',
    verdict: 'blocked',
    reasons: ['collation'],
    target: {},
    before: async (_source, target) => {
      await target.query("UPDATE pg_database SET datallowconn = true WHERE datname = 'template0'");
      for (const one of ['template0', 'template1', 'postgres'])
        await target.query('DROP COLLATION IF EXISTS pg_catalog."C.utf8"', one);
      await target.query("UPDATE pg_database SET datallowconn = false WHERE datname = 'template0'");
      return {};
    },
    setup: ['CREATE TABLE t (id int PRIMARY KEY, a text COLLATE "C.utf8")', "INSERT INTO t VALUES (1, 'a'), (2, 'b')"],
  },
  {
    name: 'a collation of the operating system that the target has',
    verdict: 'continuous',
    setup: ['CREATE TABLE t (id int PRIMARY KEY, a text COLLATE "C.utf8")', "INSERT INTO t VALUES (1, 'a'), (2, 'b')"],
  },
];

type ExtensionFiles = readonly [name: string, version: string, ...control: readonly string[]];

/** Gives both servers an extension of their own, and creates that of the source. */
function withExtensions(own: ExtensionFiles, other: ExtensionFiles) {
  return async (source: Postgres, target: Postgres): Promise<Prepared> => {
    await provide(source, own);
    await provide(target, other);
    await source.query(`CREATE EXTENSION ${own[0]} WITH SCHEMA public`, 'd1');
    await source.query("INSERT INTO cron.job (command) VALUES ('VACUUM'), ('ANALYZE')", 'd1');
    return {};
  };
}

/** As pg_partman has it, with one partitioned table. */
async function withPartitions(source: Postgres, target: Postgres): Promise<Prepared> {
  const script = [
    'CREATE TABLE part_config (parent_table text PRIMARY KEY)',
    "SELECT pg_extension_config_dump('part_config', '')",
  ];
  for (const server of [source, target]) await provide(server, ['pg_partman', '5.1'], script);
  await source.query('CREATE EXTENSION pg_partman WITH SCHEMA public', 'd1');
  await source.query("INSERT INTO part_config VALUES ('public.p')", 'd1');
  return {};
}

const cronScript = [
  'CREATE SCHEMA cron',
  'CREATE TABLE cron.job (id serial PRIMARY KEY, command text NOT NULL)',
  "SELECT pg_extension_config_dump('cron.job', '')",
  "SELECT pg_extension_config_dump('cron.job_id_seq', '')",
];

async function provide(
  server: Postgres,
  [name, version, ...control]: ExtensionFiles,
  script: readonly string[] = cronScript,
): Promise<void> {
  const folder = join(server.data, 'extension');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  const lines = [`default_version = '${version}'`, 'relocatable = false', ...control];
  writeFileSync(join(folder, `${name}.control`), `${lines.join('\n')}\n`);
  writeFileSync(
    join(folder, `${name}--${version}.sql`),
    script
      .map(
        (statement) => `${statement};
`,
      )
      .join(''),
  );
  await server.query(`ALTER SYSTEM SET extension_control_path = '${server.data}:$system'`);
  await server.query('SELECT pg_reload_conf()');
  await new Promise((resolve) => setTimeout(resolve, 300));
}
