import pg from 'pg';
import { expect, test } from 'vitest';
import { postgresqlChecks } from '../../../../../src/db/preflight/postgresql/checks.ts';
import { featuresQuery } from '../../../../../src/db/preflight/postgresql/queries/database-overview.ts';
import { sharedAccessQuery } from '../../../../../src/db/preflight/postgresql/queries/privileges.ts';
import { roleSettingsQuery } from '../../../../../src/db/preflight/postgresql/queries/roles.ts';
import type { AnyPostgresqlQuery, ValueReader } from '../../../../../src/db/preflight/postgresql/query.ts';
import { type Postgres, startPostgres } from '../../../../fixtures/postgres.ts';
import { preflightServer } from '../preflight.ts';

const queries = [...new Set(postgresqlChecks.flatMap(({ queries }) => Object.values<AnyPostgresqlQuery>(queries)))];

/** Queries of the server that conditions read. */
const serverQueries = [sharedAccessQuery, roleSettingsQuery];

/**
 * Queries whose condition is about the server, the encoding or sizes; and two that only complete what others
 * found: how often each table is written, and the names of all functions.
 */
const others = [
  ...['table-sizes', 'large-values', 'table-locks', 'dangling-references', 'recent-ddl', 'invalid-utf8-texts'],
  ...['unreadable-large-objects', 'write-counters', 'callable-objects'],
];

const conditional = queries.filter(({ id, when }) => when !== undefined && !others.includes(id));

const key = 'id int PRIMARY KEY';
const zone = "timezone('US/Pacific', a)";
const zoned = `CREATE TABLE t (${key}, a timestamptz)`;
const reads = 'CREATE FUNCTION f(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS';
const filled = 'INSERT INTO t VALUES (1)';

/** For each query, databases with nothing but what it looks for. */
type Database = readonly string[] | { readonly before: number; readonly statements: readonly string[] };

const databases: Readonly<Record<string, readonly Database[]>> = {
  'apply-triggers': [
    [
      `CREATE TABLE t (${key}, a text, b tsvector)`,
      "CREATE TRIGGER w BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger(b, 'pg_catalog.english', a)",
      'ALTER TABLE t ENABLE ALWAYS TRIGGER w',
    ],
    [
      `CREATE TABLE t (${key})`,
      'CREATE TRIGGER w BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
      'ALTER TABLE t ENABLE REPLICA TRIGGER w',
    ],
  ],
  'access-counts': [
    [`CREATE TABLE t (${key})`, 'GRANT SELECT ON t TO other'],
    [`CREATE TABLE t (${key})`, 'GRANT SELECT (id) ON t TO other'],
    [`CREATE TABLE t (${key})`, 'GRANT SELECT (tableoid) ON t TO other'],
    ['CREATE SEQUENCE s', 'GRANT USAGE ON SEQUENCE s TO other'],
    ["CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", 'REVOKE EXECUTE ON FUNCTION f FROM PUBLIC'],
    ['CREATE DOMAIN d AS int', 'REVOKE USAGE ON TYPE d FROM PUBLIC'],
    ['CREATE SCHEMA s', 'GRANT USAGE ON SCHEMA s TO other'],
    ['GRANT ALL ON SCHEMA public TO other'],
    ['REVOKE ALL ON SCHEMA public FROM PUBLIC'],
    ['REVOKE USAGE ON LANGUAGE plpgsql FROM PUBLIC'],
    ['CREATE EXTENSION pgcrypto', 'REVOKE EXECUTE ON FUNCTION gen_random_bytes FROM PUBLIC'],
    ['ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO other'],
    ['REVOKE CONNECT ON DATABASE d FROM PUBLIC'],
    ["ALTER DATABASE d SET work_mem = '8MB'"],
    ["ALTER ROLE other IN DATABASE d SET work_mem = '8MB'"],
    ['ALTER DATABASE d OWNER TO other'],
    [`CREATE TABLE t (${key})`, 'ALTER TABLE t OWNER TO other'],
    ['CREATE PUBLICATION p', 'ALTER PUBLICATION p OWNER TO other'],
    ['SELECT lo_create(1)', 'ALTER LARGE OBJECT 1 OWNER TO other'],
  ],
  'owner-rights': [[`CREATE TABLE t (${key})`, 'ALTER TABLE t OWNER TO other', 'REVOKE INSERT ON t FROM other']],
  'switched-off-constraints': [
    [
      `CREATE TABLE p (${key})`,
      'CREATE TABLE t (id int PRIMARY KEY REFERENCES p)',
      'ALTER TABLE t DISABLE TRIGGER ALL',
    ],
    [`CREATE TABLE t (${key}, a int UNIQUE DEFERRABLE)`, 'ALTER TABLE t DISABLE TRIGGER ALL'],
  ],
  'encoded-texts': [["ALTER DATABASE d SET client_encoding = 'LATIN1'", `CREATE TABLE "straße" (${key})`]],
  'event-triggers': [
    [
      "CREATE FUNCTION e() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
      'CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION e()',
    ],
  ],
  'system-schema-objects': [
    ['CREATE SEQUENCE information_schema.s', `CREATE TABLE t (${key} DEFAULT nextval('information_schema.s'))`],
    ['CREATE VIEW information_schema.v AS SELECT 1 AS a'],
    ['CREATE MATERIALIZED VIEW information_schema.v AS SELECT 1 AS a'],
    ['CREATE DOMAIN information_schema.d AS int'],
    ["CREATE FUNCTION information_schema.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"],
    ['CREATE OPERATOR information_schema.### (LEFTARG = int, RIGHTARG = int, FUNCTION = int4pl)'],
  ],
  'system-schema-tables': [[`CREATE TABLE information_schema.t (${key})`]],
  'untrusted-languages': [['CREATE LANGUAGE plx HANDLER plpgsql_call_handler']],
  'superuser-objects': [
    ['CREATE LANGUAGE plx HANDLER plpgsql_call_handler'],
    ['CREATE OPERATOR FAMILY f USING btree'],
    ['CREATE OPERATOR CLASS c FOR TYPE int USING btree AS OPERATOR 1 <, FUNCTION 1 btint4cmp(int, int)'],
    [
      'CREATE TEXT SEARCH PARSER p (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)',
    ],
    ['CREATE TEXT SEARCH TEMPLATE p (LEXIZE = dsimple_lexize)'],
    ['CREATE ACCESS METHOD m TYPE TABLE HANDLER heap_tableam_handler'],
    ['CREATE FOREIGN DATA WRAPPER w'],
    ['CREATE CAST (int AS date) WITH INOUT'],
    ['CREATE AGGREGATE a (bigint) (SFUNC = int8_avg_accum, STYPE = internal, FINALFUNC = numeric_poly_avg)'],
    ['CREATE TYPE later'],
    [
      'CREATE OPERATOR public.~~~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = texteq, COMMUTATOR = OPERATOR(pg_catalog.~~))',
    ],
  ],
  'restricted-functions': [["CREATE FUNCTION f() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'"]],
  'altered-dictionaries': [['CREATE EXTENSION dict_int', 'ALTER TEXT SEARCH DICTIONARY intdict (MAXLEN = 3)']],
  'text-search-dictionaries': [["CREATE TEXT SEARCH DICTIONARY d (TEMPLATE = simple, STOPWORDS = 'english')"]],
  'unqualified-operators': [
    [
      'CREATE EXTENSION hstore',
      `CREATE TABLE t (${key}, a hstore, b boolean GENERATED ALWAYS AS (a IS DISTINCT FROM a) STORED)`,
    ],
    [
      'CREATE SCHEMA s',
      'CREATE OPERATOR s.= (LEFTARG = int, RIGHTARG = int, FUNCTION = int4eq)',
      'SET search_path = s, pg_catalog; CREATE VIEW public.v AS SELECT NULLIF(1, 2) AS a',
    ],
  ],
  collations: [
    [`CREATE TABLE t (${key}, a text, b boolean GENERATED ALWAYS AS (a COLLATE "en-x-icu" < 'x') STORED)`],
    [`CREATE TABLE t (${key}, a text COLLATE "en-x-icu")`],
    ["CREATE VIEW v AS SELECT 'a' COLLATE \"en-x-icu\" < 'b' AS a"],
    ["CREATE COLLATION c (LOCALE = 'C')"],
  ],
  'server-specific-columns': [
    ['CREATE TYPE amounts AS RANGE (SUBTYPE = money)', 'CREATE TABLE t (r amounts)', "INSERT INTO t VALUES ('[1,2)')"],
    ['CREATE TYPE amounts AS RANGE (SUBTYPE = money)', 'CREATE TABLE t (r amounts[])', "INSERT INTO t VALUES ('{}')"],
    ['CREATE TABLE t (r pg_attrdef)', 'INSERT INTO t VALUES (NULL)'],
    ['CREATE TABLE t (r pg_proc[])', 'INSERT INTO t SELECT ARRAY[p] FROM pg_proc p LIMIT 1'],
    ['CREATE DOMAIN d AS pg_class', 'CREATE TABLE t (r d)', 'INSERT INTO t SELECT c FROM pg_class c LIMIT 1'],
    ['CREATE TYPE c AS (m money)', 'CREATE TABLE t (r c)', "INSERT INTO t VALUES ('(1)')"],
    ['CREATE DOMAIN d AS money', 'CREATE TABLE t (r d[])', "INSERT INTO t VALUES ('{1}')"],
  ],
  'regproc-columns': [
    ['CREATE TABLE t (r regproc)', "INSERT INTO t VALUES ('now')"],
    ['CREATE TABLE t (r pg_aggregate)', 'INSERT INTO t SELECT a FROM pg_aggregate a LIMIT 1'],
  ],
  'settings-dependent-constraints': [
    [`CREATE TABLE t (${key} CHECK (id::text::date > '2000-01-01'))`],
    ["CREATE DOMAIN d AS text CHECK (VALUE::date > '2000-01-01')"],
  ],
  'session-dependent-constraints': [
    [`CREATE TABLE t (${key} CHECK (current_user <> 'x'))`, filled],
    ['CREATE DOMAIN d AS text CHECK (current_user <> VALUE)', 'CREATE TABLE t (a d)', filled],
  ],
  'time-dependent-constraints': [[`CREATE TABLE t (${key} CHECK (now() > '2000-01-01'))`, filled]],
  'table-oid-uses': [
    [`CREATE TABLE t (${key}, CHECK (tableoid <> 1))`],
    [`CREATE TABLE t (${key}, a oid GENERATED ALWAYS AS (tableoid) STORED)`],
  ],
  'unvalidated-constraints': [[`CREATE TABLE t (${key})`, 'ALTER TABLE t ADD CHECK (id > 0) NOT VALID']],
  'earthdistance-uses': [
    [
      'CREATE EXTENSION earthdistance CASCADE',
      `CREATE TABLE t (${key}, a float8 CHECK (sec_to_gc(a) > 0))`,
      'INSERT INTO t VALUES (1, 1)',
    ],
  ],
  extensions: [['CREATE EXTENSION citext']],
  'added-members': [
    [
      'CREATE EXTENSION hstore',
      "CREATE FUNCTION helper(int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
      'ALTER EXTENSION hstore ADD FUNCTION helper(int)',
    ],
  ],
  'taken-names': [['CREATE EXTENSION pg_buffercache', 'ALTER EXTENSION pg_buffercache DROP VIEW pg_buffercache']],
  'extension-tables': [
    ['CREATE EXTENSION hstore', `CREATE TABLE t (${key})`, filled, 'ALTER EXTENSION hstore ADD TABLE t'],
  ],
  'removed-extension-operators': [
    ["CREATE EXTENSION hstore VERSION '1.4'", "CREATE VIEW v AS SELECT 'a=>1'::hstore @ 'a=>1' AS a"],
    [
      'CREATE EXTENSION hstore',
      'CREATE SCHEMA s',
      'ALTER FUNCTION akeys(hstore) SET SCHEMA s',
      "CREATE VIEW v AS SELECT s.akeys('a=>1')",
    ],
  ],
  'incompatible-functions': [['CREATE EXTENSION hstore', 'ALTER EXTENSION hstore DROP FUNCTION akeys(hstore)']],
  'function-calling-constraints': [
    [`${reads} 'BEGIN RETURN true; END'`, `CREATE TABLE t (${key} CHECK (f(id)))`, filled],
  ],
  'function-bodies': [
    [
      `${reads} 'BEGIN RETURN EXISTS (SELECT FROM t) IS NOT NULL; END'`,
      `CREATE TABLE t (${key})`,
      'CREATE INDEX ON t (f(id))',
      filled,
    ],
  ],
  'named-objects': [
    [
      `${reads} 'BEGIN RETURN EXISTS (SELECT FROM t) IS NOT NULL; END'`,
      `CREATE TABLE t (${key})`,
      'CREATE INDEX ON t (f(id))',
      filled,
    ],
  ],
  'function-uses': [
    [
      `${reads} 'BEGIN RETURN EXISTS (SELECT FROM t) IS NOT NULL; END'`,
      `CREATE TABLE t (${key} CHECK (f(id)))`,
      filled,
    ],
  ],
  'search-path-operators': [
    [
      'CREATE EXTENSION hstore',
      `${reads} $$BEGIN RETURN 'a=>1'::hstore ? 'a'; END$$`,
      `CREATE TABLE t (${key} CHECK (f(id)))`,
    ],
  ],
  'time-zone-expressions': [
    [`CREATE TABLE t (${key}, a timestamptz DEFAULT timezone('US/Pacific', now()))`],
    ["CREATE DOMAIN d AS timestamp DEFAULT timezone('US/Pacific', now())"],
    [`CREATE TABLE t (${key}, a timestamptz CHECK (${zone} > '2000-01-01'))`],
    [zoned, `CREATE INDEX ON t ((${zone}))`],
  ],
  'time-zone-definitions': [
    ["CREATE VIEW v AS SELECT timezone('US/Pacific', now()) AS a"],
    [zoned, `CREATE POLICY p ON t USING (${zone} < now())`],
    [zoned, `CREATE STATISTICS s ON id, (${zone}) FROM t`],
    [
      zoned,
      `CREATE TRIGGER g BEFORE UPDATE ON t FOR EACH ROW WHEN (${zone.replace('a)', 'NEW.a)')} < now()) EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
    ],
    [`CREATE TABLE t (a timestamptz) PARTITION BY RANGE ((${zone}))`],
  ],
  'stored-expressions': [
    [`CREATE TABLE t (${key}, a text, b text GENERATED ALWAYS AS (upper(a)) STORED)`, "INSERT INTO t VALUES (1, 'x')"],
    [`CREATE TABLE t (${key}, a text CHECK (upper(a) = 'X'))`, "INSERT INTO t VALUES (1, 'x')"],
    ["CREATE DOMAIN d AS text CHECK (upper(VALUE) = 'X')", 'CREATE TABLE t (a d)', "INSERT INTO t VALUES ('x')"],
    [`CREATE TABLE t (${key}, a xml, b text GENERATED ALWAYS AS (a::text) STORED)`, "INSERT INTO t VALUES (1, '<a/>')"],
    [`CREATE TABLE t (${key}, a regtype CHECK (a::oid > 5))`, "INSERT INTO t VALUES (1, 'int4')"],
  ],
  'non-immutable-calls': [
    [
      `${reads} 'BEGIN RETURN true; END'`,
      `CREATE TABLE t (${key})`,
      'CREATE INDEX ON t (f(id))',
      'ALTER FUNCTION f STABLE',
    ],
  ],
  relations: [[`CREATE UNLOGGED TABLE t (${key})`], ['CREATE MATERIALIZED VIEW v AS SELECT 1 AS a']],
  'replica-identities': [
    ['CREATE TABLE t (a text)'],
    [`CREATE TABLE t (${key})`, 'ALTER TABLE t REPLICA IDENTITY NOTHING'],
  ],
  'columns-without-equality': [['CREATE TABLE t (a json)', "INSERT INTO t VALUES ('{}')"]],
  'loosely-equal-columns': [['CREATE TABLE t (a numeric)'], ['CREATE TABLE t (a numeric[])']],
  'columns-missed-by-index': [
    ['CREATE TABLE t (a int)', 'CREATE INDEX ON t USING hash (a)'],
    ['CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a) STORED)', 'CREATE INDEX ON t (a, g)'],
  ],
  'partitioned-references': [
    [
      `CREATE TABLE r (${key})`,
      `CREATE TABLE p (${key}, r int REFERENCES r) PARTITION BY HASH (id)`,
      'CREATE TABLE c PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
    ],
  ],
  'body-ddl': [
    [`CREATE TABLE t (${key})`, "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DROP TABLE t'"],
    [
      `CREATE TABLE t (${key})`,
      "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'SELECT * INTO u FROM t; SELECT NULL'",
    ],
  ],
  'body-statements': [[`CREATE TABLE t (${key})`, "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM t'"]],
  'partitioned-tables': [
    [
      `CREATE TABLE p (${key}) PARTITION BY HASH (id)`,
      'CREATE TABLE c PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
    ],
  ],
  'unlogged-references': [
    [`CREATE UNLOGGED TABLE p (${key})`, 'CREATE UNLOGGED TABLE t (id int PRIMARY KEY REFERENCES p)'],
  ],
  'generated-columns': [[`CREATE TABLE t (${key}, a int GENERATED ALWAYS AS (id) STORED)`]],
  'nullable-inherited-columns': [
    [
      `CREATE TABLE p (${key}, a int NOT NULL)`,
      'CREATE TABLE t () INHERITS (p)',
      'ALTER TABLE t ALTER a DROP NOT NULL, ADD PRIMARY KEY (id)',
      filled,
    ],
  ],
  publications: [[`CREATE TABLE t (${key})`, 'CREATE PUBLICATION p FOR TABLE t']],
  'large-objects': [['SELECT lo_create(0)']],
  'reordered-tables': [
    ['CREATE TABLE p (a int)', `CREATE TABLE t (b int, PRIMARY KEY (a)) INHERITS (p)`, 'ALTER TABLE p ADD c int'],
  ],
  'large-object-uses': [
    ["CREATE FUNCTION f() RETURNS oid LANGUAGE sql AS 'SELECT lo_create(0)'"],
    ['CREATE EXTENSION lo', `CREATE TABLE t (${key}, a lo)`],
  ],
  'keyword-names': [
    [`CREATE TABLE t (${key}, system_user int)`],
    ["CREATE FUNCTION f(json_query int) RETURNS int LANGUAGE sql AS 'SELECT 1'"],
    ['CREATE SCHEMA json_query', 'CREATE DOMAIN json_query.d AS int', `CREATE TABLE t (${key}, a json_query.d)`],
    [`CREATE TABLE system_user (${key})`],
  ],
  'wide-tables': [
    [
      `CREATE TABLE t (${key})`,
      filled,
      `ALTER TABLE t ${Array.from({ length: 1100 }, (_, at) => `ADD c${at} int8 DEFAULT 1`).join(', ')}`,
    ],
  ],
  'changed-storage': [
    [`CREATE TABLE t (${key}, a text)`, "INSERT INTO t VALUES (1, 'a')", 'ALTER TABLE t ALTER a SET STORAGE PLAIN'],
  ],
  'overloaded-calls': [
    [
      `${reads} 'BEGIN RETURN true; END'`,
      `CREATE TABLE t (${key}, a boolean DEFAULT f(1))`,
      "CREATE FUNCTION f(int, b int DEFAULT 0) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    ],
  ],
  'transaction-id-columns': [
    [`CREATE TABLE t (${key}, a xid)`, filled],
    [`CREATE TABLE t (${key}, a int8 DEFAULT txid_current())`, filled],
  ],
  'later-syntax': [
    [
      "CREATE FUNCTION json_scalar(int, int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
      "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT json_scalar(1, 2)'",
    ],
  ],
  'maintained-partitions': [
    [
      'CREATE EXTENSION hstore',
      'CREATE TABLE part_config (a int)',
      'INSERT INTO part_config VALUES (1)',
      "UPDATE pg_extension SET extname = 'pg_partman', extconfig = ARRAY['part_config'::regclass::oid] WHERE extname = 'hstore'",
    ],
  ],
  'incompatible-calls': [
    ['CREATE DOMAIN a AS int DEFAULT 1', 'CREATE DOMAIN b AS a', 'ALTER DOMAIN b DROP DEFAULT'],
    { before: 18, statements: ['CREATE VIEW v AS SELECT * FROM pg_stat_get_wal()'] },
    [
      'CREATE SEQUENCE s',
      "CREATE DOMAIN d AS int DEFAULT nextval('s')",
      'CREATE TABLE t (a d PRIMARY KEY)',
      'ALTER SEQUENCE s OWNED BY t.a',
    ],
  ],
  'incompatible-views': [['CREATE VIEW v AS SELECT 1 AS a', 'CREATE OR REPLACE VIEW v AS SELECT a FROM v']],
  'incompatible-definitions': [
    { before: 18, statements: ['CREATE CAST (int AS bytea) WITH INOUT'] },
    { before: 18, statements: ['CREATE DOMAIN t AS int NOT NULL CONSTRAINT t_not_null CHECK (VALUE > 0)'] },
    [
      `CREATE TABLE a (${key}, x text)`,
      `CREATE TABLE b (${key}, x text)`,
      'CREATE TABLE c (PRIMARY KEY (id)) INHERITS (a, b)',
      'ALTER TABLE ONLY a ALTER x SET STORAGE EXTERNAL',
    ],
    [
      `CREATE TABLE r (${key})`,
      `CREATE TABLE p (${key}, CONSTRAINT f FOREIGN KEY (id) REFERENCES r) PARTITION BY RANGE (id)`,
      `CREATE TABLE p_1 (${key}, CONSTRAINT f FOREIGN KEY (id) REFERENCES r ON DELETE CASCADE)`,
      'ALTER TABLE p ATTACH PARTITION p_1 DEFAULT',
    ],
  ],
  'refused-nulls': [
    ['CREATE DOMAIN d AS int NOT NULL', `CREATE TABLE t (${key}, a d)`, 'INSERT INTO t VALUES (1, 1)'],
    ['CREATE DOMAIN d AS int CHECK (VALUE IS NOT NULL)', `CREATE TABLE t (${key}, a d[])`, filled],
  ],
  'malformed-values': [
    [`CREATE TABLE t (${key}, a xml)`, filled],
    [`CREATE TABLE t (${key}, a circle[])`, filled],
    ['CREATE DOMAIN d AS timetz', `CREATE TABLE t (${key}, a d)`, filled],
  ],
  'changed-casts': [["UPDATE pg_cast SET castcontext = 'i' WHERE castsource = 23 AND casttarget = 16"]],
  'invalid-indexes': [
    [
      `CREATE TABLE t (${key})`,
      "SET allow_system_table_mods = on; UPDATE pg_index SET indisvalid = false WHERE indexrelid = 't_pkey'::regclass",
    ],
  ],
  'security-label-providers': [
    ["SET allow_system_table_mods = on; INSERT INTO pg_seclabel VALUES (2200, 2615, 0, 'selinux', 'x')"],
  ],
};

test('every query with a condition has a database with only what it looks for', () => {
  expect(Object.keys(databases).toSorted()).toEqual(conditional.map(({ id }) => id).toSorted());
});

/** What each query finds in a database, and whether it is sent there. */
async function read(server: Postgres, dbname: string, version: number) {
  const client = new pg.Client({ host: server.folder, port: server.ownPort, user: 'postgres', database: dbname });
  await client.connect();
  const ask = async (query: AnyPostgresqlQuery, sql: string) => {
    const { rows } = await client.query({ text: sql, types: { getTypeParser: () => (value: string) => value } });
    return query.decode(rows);
  };
  const sqlOf = ({ sql }: AnyPostgresqlQuery) => sql(version, { inRecovery: false, superuser: true });
  try {
    await client.query('SET search_path = pg_catalog');
    const seen = await ask(featuresQuery, sqlOf(featuresQuery) ?? '');
    const values = new Map<AnyPostgresqlQuery, unknown>([[featuresQuery, seen]]);
    for (const query of serverQueries) values.set(query, await ask(query, sqlOf(query) ?? ''));
    const known = ((query) => values.get(query)) as ValueReader;
    const results = new Map<string, { readonly isSent: boolean; readonly value: string }>();
    for (const query of conditional) {
      const sql = sqlOf(query);
      if (sql === undefined) continue;
      const isSent = query.when?.(known, dbname) === true;
      results.set(query.id, { isSent, value: JSON.stringify(await ask(query, sql)) });
    }
    return results;
  } finally {
    await client.end();
  }
}

test.each([14, 18] as const)(
  'a query is sent to a database in which only what it looks for exists (PostgreSQL %i)',
  async (major) => {
    const server = await startPostgres({ version: major, direct: true, settings: { wal_level: 'logical' } });
    const [row] = await server.query("SELECT current_setting('server_version_num') AS version");
    const version = Number(row?.version);
    await server.query('CREATE ROLE other');
    await server.query('CREATE DATABASE empty');
    const empty = await read(server, 'empty', version);
    const wrong: string[] = [];
    for (const [expected, cases] of Object.entries(databases)) {
      if (!empty.has(expected)) continue;
      for (const one of cases) {
        const { before, statements } = 'before' in one ? one : { before: undefined, statements: one };
        if (before !== undefined && major >= before) continue;
        await server.query('CREATE DATABASE d');
        for (const statement of statements) await server.query(statement, 'd');
        const results = await read(server, 'd', version);
        for (const [id, { isSent, value }] of results) {
          const isFound = value !== empty.get(id)?.value;
          if (isFound && !isSent) wrong.push(`${id} is not sent: ${statements.join('; ')}`);
          if (!isFound && id === expected) wrong.push(`${id} finds nothing: ${statements.join('; ')}`);
        }
        await server.query('DROP DATABASE d');
      }
    }
    expect(wrong).toEqual([]);
  },
  120_000,
);

test.each([14, 18] as const)(
  'to a database of plain tables no query with a condition is sent (PostgreSQL %i)',
  async (version) => {
    const server = await startPostgres({ version, settings: { wal_level: 'logical' } });
    await server.query('CREATE DATABASE d');
    await server.query(`CREATE TABLE t (${key}, at timestamptz, name text)`, 'd');
    const sent: string[] = [];
    await preflightServer(server, {
      // Only the number of databases decides about its query.
      checks: postgresqlChecks.filter(({ id }) => id !== 'lost-rows'),
      onQuery: (database, text) => {
        if (database === 'd') sent.push(text);
      },
    });
    expect(sent.map((text) => text.includes('pg_database_size'))).toEqual([false, true]);
  },
  60_000,
);
