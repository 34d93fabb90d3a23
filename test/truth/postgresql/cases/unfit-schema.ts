import { type PostgresCase, pgcopydbLimits, unevaluatedExpression } from '../case.ts';

const excludingPartitions = [
  'CREATE TABLE bookings (during int4range NOT NULL PRIMARY KEY) PARTITION BY RANGE (during)',
  'ALTER TABLE bookings ADD EXCLUDE USING gist (during WITH =)',
  "CREATE TABLE first PARTITION OF bookings FOR VALUES FROM ('[0,1)') TO ('[100,101)')",
  "INSERT INTO bookings VALUES ('[1,2)')",
];

const eventTriggersActing =
  'what the function of an event trigger does is not evaluated; the report names it, with the statement that disables it';

const unlucky: readonly PostgresCase[] = [
  {
    name: 'a view with a factorial from before 14',
    verdict: 'blocked',
    reasons: ['removed-types'],
    from: 13,
    setup: ['CREATE VIEW v AS SELECT 5! AS x'],
  },
  {
    name: 'a CHECK with a factorial from before 14',
    verdict: 'blocked',
    reasons: ['removed-types'],
    from: 13,
    setup: ['CREATE TABLE t (id int PRIMARY KEY, a int CHECK ((a::bigint)! > 0))'],
  },
  {
    name: 'a CHECK that asks for a setting of the application',
    verdict: 'blocked',
    reasons: ['session-checks'],
    setup: [
      "CREATE TABLE t (id int PRIMARY KEY, tenant text CHECK (tenant = current_setting('app.tenant')))",
      "DO $$BEGIN SET LOCAL app.tenant = 'a'; INSERT INTO t VALUES (1, 'a'); END$$",
    ],
    quiet: ['t'],
  },
  {
    name: 'a CHECK that asks who writes, and rows by others',
    verdict: 'continuous',
    unproven: ['session-checks'],
    differs: unevaluatedExpression,
    first: ['CREATE ROLE app'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, who text CHECK (who = current_user))',
      'GRANT ALL ON t TO app',
      "DO $$BEGIN SET LOCAL ROLE app; INSERT INTO t VALUES (2, 'app'); END$$",
    ],
    quiet: ['t'],
  },
  {
    name: 'a CHECK that looks for tables by the search_path',
    verdict: 'continuous',
    unproven: ['session-checks'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, tbl text CHECK (to_regclass(tbl) IS NOT NULL))',
      "INSERT INTO t VALUES (1, 'base')",
    ],
  },
  {
    name: 'CHECKs that ask a session, and every row fits',
    verdict: 'continuous',
    setup: [
      "CREATE TABLE t (id int PRIMARY KEY, tbl text CHECK (to_regclass(tbl) IS NOT NULL), zone text CHECK (zone <> current_setting('TimeZone')), tenant text CHECK (tenant = current_setting('app.tenant', true)))",
      "INSERT INTO t VALUES (1, 'public.base', 'nowhere', 'a')",
    ],
  },
  {
    name: 'a copy of the catalogue with expressions in it',
    verdict: 'blocked',
    reasons: ['system-values'],
    setup: [
      'CREATE TABLE x (a int PRIMARY KEY DEFAULT 5)',
      'CREATE TABLE t AS SELECT oid, adbin FROM pg_attrdef',
      'ALTER TABLE t ADD PRIMARY KEY (oid)',
    ],
  },
  {
    name: 'a copy of the rights of a role that is gone',
    verdict: 'blocked',
    reasons: ['system-values'],
    setup: [
      'CREATE ROLE ghost',
      'GRANT SELECT ON base TO ghost',
      "CREATE TABLE t AS SELECT oid, relacl FROM pg_class WHERE relname = 'base'",
      'ALTER TABLE t ADD PRIMARY KEY (oid)',
      'DROP OWNED BY ghost',
      'DROP ROLE ghost',
    ],
  },
  {
    name: 'a copy of the names of TOAST tables',
    verdict: 'blocked',
    reasons: ['system-values'],
    setup: [
      // So that no table of the target has its number by chance.
      "DO $$BEGIN FOR i IN 1..300 LOOP EXECUTE 'CREATE TABLE u (t text); DROP TABLE u'; END LOOP; END$$",
      'CREATE TABLE late (id int PRIMARY KEY, t text)',
      'CREATE TABLE t (id int PRIMARY KEY, a regclass)',
      "INSERT INTO t SELECT 1, reltoastrelid FROM pg_class WHERE relname = 'late'",
    ],
  },
  {
    name: 'tables, roles, types, rights and money in rows',
    pgcopydb: pgcopydbLimits.indexNames,
    verdict: 'continuous',
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, a regclass, b regrole, c regtype, d regnamespace, e regconfig, f aclitem[], m money)',
      "INSERT INTO t VALUES (1, 'base', 'postgres', 'base', 'public', 'english', '{=r/postgres}', '-1234.56'), (2, 'base_pkey', NULL, NULL, NULL, NULL, NULL, 0)",
    ],
  },
  {
    name: 'a NOT VALID CHECK that old rows violate',
    verdict: 'continuous',
    unproven: ['not-valid'],
    differs: unevaluatedExpression,
    quick: true,
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, b int)',
      'INSERT INTO t VALUES (1, 100), (2, 3)',
      'ALTER TABLE t ADD CONSTRAINT small CHECK (b < 10) NOT VALID',
    ],
  },
  {
    name: 'a NOT VALID CHECK of a domain that old rows violate',
    verdict: 'continuous',
    unproven: ['not-valid'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE DOMAIN d AS int',
      'CREATE TABLE t (id int PRIMARY KEY, b d)',
      'INSERT INTO t VALUES (1, 100), (2, 3)',
      'ALTER DOMAIN d ADD CONSTRAINT small CHECK (value < 10) NOT VALID',
    ],
  },
  {
    name: 'a NOT VALID NOT NULL that old rows violate',
    verdict: 'blocked',
    reasons: ['not-valid'],
    from: 18,
    to: 18,
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, a int)',
      'INSERT INTO t VALUES (1, NULL), (2, 2)',
      'ALTER TABLE t ADD CONSTRAINT there NOT NULL a NOT VALID',
    ],
  },
  {
    name: 'a NOT VALID CHECK that every row fits',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, b int)',
      'INSERT INTO t VALUES (1, 1), (2, 3)',
      'ALTER TABLE t ADD CONSTRAINT small CHECK (b < 10) NOT VALID',
    ],
  },
  {
    name: 'a column that takes NULL where its parent does not',
    verdict: 'blocked',
    reasons: ['not-valid'],
    setup: [
      'CREATE TABLE p (id int, a int NOT NULL)',
      'CREATE TABLE c (PRIMARY KEY (id)) INHERITS (p)',
      'ALTER TABLE c ALTER a DROP NOT NULL',
      'INSERT INTO c VALUES (1, NULL), (2, 2)',
    ],
    quiet: ['p'],
  },
  {
    name: 'a CHECK that requires a future time, which has passed',
    verdict: 'blocked',
    reasons: ['time-checks'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, b timestamptz CHECK (b > now()))',
      "INSERT INTO t VALUES (1, now() + interval '500 ms'), (2, now() + interval '1 day')",
      'SELECT pg_sleep(0.6)',
    ],
  },
  {
    name: 'an EXCLUDE constraint of a partitioned table, to the same release',
    verdict: 'blocked',
    reasons: ['partitions'],
    from: 17,
    to: 17,
    setup: excludingPartitions,
  },
  {
    name: 'an EXCLUDE constraint of a partitioned table',
    verdict: 'blocked',
    reasons: ['partitions'],
    from: 17,
    to: 18,
    setup: excludingPartitions,
  },
  {
    name: 'an EXCLUDE constraint of one partition',
    verdict: 'continuous',
    from: 17,
    to: 18,
    setup: [
      'CREATE TABLE bookings (during int4range NOT NULL PRIMARY KEY) PARTITION BY RANGE (during)',
      "CREATE TABLE first PARTITION OF bookings FOR VALUES FROM ('[0,1)') TO ('[100,101)')",
      'ALTER TABLE first ADD EXCLUDE USING gist (during WITH &&)',
      "INSERT INTO bookings VALUES ('[1,2)')",
    ],
  },
  {
    name: 'a view that selects from itself',
    verdict: 'blocked',
    reasons: ['removed-types'],
    setup: ['CREATE VIEW v AS SELECT 1 AS a', 'CREATE OR REPLACE VIEW v AS SELECT a FROM v'],
  },
  {
    name: 'views that select from each other',
    verdict: 'continuous',
    setup: [
      'CREATE VIEW v AS SELECT 1 AS a',
      'CREATE VIEW w AS SELECT a FROM v',
      'CREATE OR REPLACE VIEW v AS SELECT a FROM w',
      'CREATE VIEW x AS SELECT 1 AS a',
      "CREATE FUNCTION f(x) RETURNS int LANGUAGE sql AS 'SELECT 1'",
      'CREATE OR REPLACE VIEW x AS SELECT f(NULL::x) AS a',
    ],
  },
  {
    name: 'partitions by the hash of tables',
    verdict: 'blocked',
    reasons: ['partitions'],
    setup: [
      'CREATE TABLE t (r regclass, id int, PRIMARY KEY (r, id)) PARTITION BY HASH (r)',
      ...[0, 1, 2, 3].map((n) => `CREATE TABLE t_${n} PARTITION OF t FOR VALUES WITH (MODULUS 4, REMAINDER ${n})`),
      "INSERT INTO t SELECT oid, 1 FROM pg_class WHERE oid >= 16384 AND relkind <> 't' AND relnamespace <> 99",
    ],
  },
  {
    name: 'partitions by the hash of types that every server has',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE t (r regtype, id int, PRIMARY KEY (r, id)) PARTITION BY HASH (r)',
      ...[0, 1, 2, 3].map((n) => `CREATE TABLE t_${n} PARTITION OF t FOR VALUES WITH (MODULUS 4, REMAINDER ${n})`),
      "INSERT INTO t SELECT unnest('{int,text,bool,uuid,json}'::regtype[]), 1",
    ],
  },
  {
    name: 'partitions by a range of tables',
    verdict: 'blocked',
    reasons: ['partitions'],
    setup: [
      'CREATE TABLE a1 (id int PRIMARY KEY)',
      'CREATE TABLE z2 (id int PRIMARY KEY)',
      'CREATE TABLE b3 (id int PRIMARY KEY)',
      'CREATE TABLE t (r regclass, id int, PRIMARY KEY (r, id)) PARTITION BY RANGE (r)',
      "CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (MINVALUE) TO ('b3')",
      "CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM ('b3') TO (MAXVALUE)",
      "INSERT INTO t VALUES ('a1', 1), ('z2', 1), ('b3', 1)",
    ],
  },
  {
    name: 'partitions by a list of tables',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE a1 (id int PRIMARY KEY)',
      'CREATE TABLE z2 (id int PRIMARY KEY)',
      'CREATE TABLE t (r regclass, id int, PRIMARY KEY (r, id)) PARTITION BY LIST (r)',
      "CREATE TABLE t_1 PARTITION OF t FOR VALUES IN ('a1')",
      "CREATE TABLE t_2 PARTITION OF t FOR VALUES IN ('z2')",
      "INSERT INTO t VALUES ('a1', 1), ('z2', 1)",
    ],
  },
  {
    name: 'partitions by the hash of an enum',
    verdict: 'blocked',
    reasons: ['partitions'],
    setup: [
      // So that no label has the number there that it has here by chance.
      "DO $$BEGIN FOR i IN 1..40 LOOP EXECUTE 'CREATE TABLE u (t text); DROP TABLE u'; END LOOP; END$$",
      "CREATE TYPE mood AS ENUM ('a', 'b', 'c', 'd', 'e', 'f')",
      'CREATE DOMAIN feeling AS mood',
      'CREATE TABLE t (m feeling, id int, PRIMARY KEY (m, id)) PARTITION BY HASH (m)',
      ...[0, 1, 2].map((n) => `CREATE TABLE t_${n} PARTITION OF t FOR VALUES WITH (MODULUS 3, REMAINDER ${n})`),
      'INSERT INTO t SELECT m, 1 FROM unnest(enum_range(NULL::mood)) m',
    ],
  },
  {
    name: 'partitions by the hash of a composite with an enum in it',
    verdict: 'blocked',
    reasons: ['partitions'],
    setup: [
      // So that no label has the number there that it has here by chance.
      "DO $$BEGIN FOR i IN 1..40 LOOP EXECUTE 'CREATE TABLE u (t text); DROP TABLE u'; END LOOP; END$$",
      "CREATE TYPE mood AS ENUM ('a', 'b', 'c', 'd', 'e', 'f')",
      'CREATE TYPE pair AS (n int, moods mood[])',
      'CREATE TABLE t (p pair, id int, PRIMARY KEY (p, id)) PARTITION BY HASH (p)',
      ...[0, 1, 2].map((n) => `CREATE TABLE t_${n} PARTITION OF t FOR VALUES WITH (MODULUS 3, REMAINDER ${n})`),
      'INSERT INTO t SELECT ROW(1, ARRAY[m])::pair, 1 FROM unnest(enum_range(NULL::mood)) m',
    ],
  },
  {
    name: 'a view on columns that the system no longer has',
    verdict: 'blocked',
    reasons: ['removed-types'],
    quick: true,
    setup: ['CREATE VIEW load AS SELECT checkpoints_timed, buffers_checkpoint FROM pg_stat_bgwriter'],
  },
  {
    name: 'a view on all columns of pg_database',
    verdict: 'blocked',
    reasons: ['removed-types'],
    setup: ['CREATE VIEW all_databases AS SELECT * FROM pg_database'],
  },
  {
    name: 'a view on what pg_stat_statements no longer has',
    verdict: 'blocked',
    reasons: ['removed-types'],
    setup: [
      'CREATE EXTENSION pg_stat_statements',
      'CREATE VIEW slow AS SELECT query, blk_read_time FROM pg_stat_statements',
    ],
  },
  {
    name: 'objects that need operators which a newer version of their extension lacks',
    verdict: 'blocked',
    reasons: ['removed-types'],
    quick: true,
    setup: [
      "CREATE EXTENSION cube VERSION '1.2'",
      'CREATE TABLE places (id int) PARTITION BY LIST (((cube(id) ~ cube(1))::int))',
      'CREATE TABLE places_1 PARTITION OF places DEFAULT',
      'ALTER TABLE places_1 REPLICA IDENTITY FULL',
    ],
  },
  {
    name: 'a view with an operator which a newer version of its extension lacks',
    verdict: 'blocked',
    reasons: ['removed-types'],
    from: 13,
    setup: [
      'CREATE EXTENSION hstore',
      "CREATE TABLE notes (id int PRIMARY KEY, tags hstore DEFAULT 'a=>1')",
      "CREATE VIEW tagged AS SELECT id FROM notes WHERE tags @ 'a=>1'",
    ],
  },
  {
    name: 'a function with an operator which a newer version of its extension lacks, in a CHECK',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [
      "CREATE EXTENSION cube VERSION '1.2'",
      'CREATE FUNCTION near(n int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT public.cube(n) OPERATOR(public.~) public.cube(n)$$',
      'CREATE TABLE places (id int PRIMARY KEY CHECK (near(id)))',
      'INSERT INTO places VALUES (1), (2)',
    ],
  },
  {
    name: 'a function with an operator which a newer version of its extension lacks, in an index',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    from: 18,
    to: 18,
    setup: [
      "CREATE EXTENSION intarray VERSION '1.2'",
      'CREATE FUNCTION near(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN ARRAY[n] OPERATOR(public.@) ARRAY[n]; END$$',
      'CREATE TABLE places (id int PRIMARY KEY)',
      'CREATE INDEX ON places (near(id))',
      'INSERT INTO places VALUES (1), (2)',
    ],
  },
  {
    name: 'an older version of an extension, without what a newer one lacks',
    verdict: 'continuous',
    to: 18,
    setup: [
      "CREATE EXTENSION cube VERSION '1.2'; CREATE EXTENSION hstore VERSION '1.4'",
      'CREATE TABLE places (id int PRIMARY KEY CHECK (cube(id) @> cube(id)), tags hstore)',
      'CREATE INDEX ON places USING gist (tags)',
      "INSERT INTO places VALUES (1, 'a=>1'), (2, NULL)",
    ],
  },
  {
    name: 'a function of SQL over columns that the system no longer has',
    verdict: 'blocked',
    reasons: ['removed-types'],
    setup: [
      'CREATE FUNCTION load() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT buffers_checkpoint FROM pg_stat_bgwriter; END',
    ],
  },
  {
    name: 'an aggregate over array_append from before 14',
    verdict: 'blocked',
    reasons: ['removed-types'],
    from: 13,
    setup: ["CREATE AGGREGATE array_accum(anyelement) (SFUNC = array_append, STYPE = anyarray, INITCOND = '{}')"],
  },
  {
    name: 'an operator behind its operand from before 14',
    verdict: 'blocked',
    reasons: ['removed-types'],
    from: 13,
    setup: [
      'CREATE FUNCTION fac(int) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$SELECT $1::numeric$$',
      'CREATE OPERATOR !!! (LEFTARG = int, FUNCTION = fac)',
    ],
  },
  {
    name: 'an event trigger that forbids DDL',
    verdict: 'dump',
    reasons: ['event-triggers'],
    quick: true,
    setup: [
      "CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no DDL in production'; END$$",
      'CREATE EVENT TRIGGER forbid ON ddl_command_start EXECUTE FUNCTION no()',
    ],
  },
  {
    name: 'an event trigger that writes',
    verdict: 'continuous',
    unproven: ['event-triggers'],
    differs: { truth: 'dump', why: eventTriggersActing },
    setup: [
      'CREATE TABLE ddl_log (id serial PRIMARY KEY, what text)',
      'CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.ddl_log (what) VALUES (tg_tag); END$$',
      'CREATE EVENT TRIGGER noting ON ddl_command_end EXECUTE FUNCTION note()',
      'CREATE TABLE x (id int PRIMARY KEY)',
      'CREATE TABLE y (id int PRIMARY KEY)',
    ],
  },
  {
    name: 'an event trigger whose function calls one that asks for the role',
    verdict: 'continuous',
    unproven: ['event-triggers'],
    differs: { truth: 'dump', why: eventTriggersActing },
    setup: [
      "CREATE FUNCTION only_dba() RETURNS void LANGUAGE plpgsql AS $$BEGIN IF session_user <> 'dba' THEN RAISE EXCEPTION 'only dba'; END IF; END$$",
      'CREATE FUNCTION guard() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN PERFORM public.only_dba(); END$$',
      'CREATE EVENT TRIGGER guarding ON ddl_command_start EXECUTE FUNCTION guard()',
    ],
  },
  {
    name: 'a database that is a template',
    verdict: 'blocked',
    reasons: ['db-noconnect'],
    last: ['ALTER DATABASE d1 IS_TEMPLATE true'],
  },
];

const lucky: readonly PostgresCase[] = [
  {
    name: 'a NOT VALID foreign key that old rows violate',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY)',
      'CREATE TABLE t (id int PRIMARY KEY, b int)',
      'INSERT INTO t VALUES (1, 100), (2, 3)',
      'ALTER TABLE t ADD CONSTRAINT fk FOREIGN KEY (b) REFERENCES p NOT VALID',
    ],
  },
  {
    name: 'a CHECK that looks back, partitions by the hash of a text, views that every release makes',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, b timestamptz CHECK (b <= now()))',
      'INSERT INTO t VALUES (1, now()), (2, now())',
      'CREATE TABLE h (k text PRIMARY KEY) PARTITION BY HASH (k)',
      ...[0, 1].map((n) => `CREATE TABLE h_${n} PARTITION OF h FOR VALUES WITH (MODULUS 2, REMAINDER ${n})`),
      "INSERT INTO h SELECT 'k' || n FROM generate_series(1, 20) n",
      'CREATE VIEW load AS SELECT maxwritten_clean, buffers_alloc, stats_reset FROM pg_stat_bgwriter',
      'CREATE VIEW names AS SELECT datname, datcollate FROM pg_database',
    ],
  },
  {
    name: 'the only partition by the hash of an enum',
    verdict: 'continuous',
    setup: [
      "CREATE TYPE mood AS ENUM ('a', 'b')",
      'CREATE TABLE p (m mood PRIMARY KEY) PARTITION BY HASH (m)',
      'CREATE TABLE p0 PARTITION OF p FOR VALUES WITH (MODULUS 1, REMAINDER 0)',
      "INSERT INTO p VALUES ('a'), ('b')",
    ],
  },
  {
    name: 'a CHECK that requires a future time or something else',
    verdict: 'continuous',
    unproven: ['time-checks'],
    quiet: ['t'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, b timestamptz CHECK (b > now() OR b IS NOT NULL))',
      "INSERT INTO t VALUES (1, '2099-01-02'), (2, '2000-02-01')",
    ],
  },
  {
    name: 'an event trigger that forbids CREATE TABLE by its tag',
    verdict: 'continuous',
    setup: [
      "CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN IF tg_tag = 'CREATE TABLE' THEN RAISE EXCEPTION 'no DDL in production'; END IF; END$$",
      'CREATE EVENT TRIGGER forbid ON ddl_command_start EXECUTE FUNCTION no()',
    ],
  },
  {
    name: 'an event trigger that forbids CREATE TABLE alone',
    verdict: 'continuous',
    setup: [
      "CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no DDL in production'; END$$",
      "CREATE EVENT TRIGGER forbid ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION no()",
    ],
  },
  {
    name: 'an index of earthdistance, to a release before 16',
    verdict: 'blocked',
    reasons: ['ext-functions'],
    from: 14,
    to: 15,
    setup: [
      'CREATE EXTENSION earthdistance CASCADE',
      'CREATE TABLE places (id int PRIMARY KEY, lat float8, lon float8)',
      'CREATE INDEX ON places USING gist (ll_to_earth(lat, lon))',
    ],
  },
  {
    name: 'an index of earthdistance, to 17',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION earthdistance CASCADE',
      'CREATE TABLE places (id int PRIMARY KEY, lat float8, lon float8, at earth)',
      'CREATE INDEX ON places USING gist (ll_to_earth(lat, lon))',
      'INSERT INTO places VALUES (1, 48, 16, ll_to_earth(48, 16))',
    ],
  },
  {
    name: 'a dictionary over a file that the target lacks',
    verdict: 'blocked',
    reasons: ['dictionaries'],
    setup: [
      "CREATE TEXT SEARCH DICTIONARY shop (TEMPLATE = simple, StopWords = 'english')",
      // As if somebody had put shop.stop on the server, which a test would have to take away again.
      "BEGIN; SET LOCAL allow_system_table_mods = on; UPDATE pg_ts_dict SET dictinitoption = 'stopwords = ''shop''' WHERE dictname = 'shop'; COMMIT",
    ],
  },
  {
    name: 'a key WITHOUT OVERLAPS',
    verdict: 'continuous',
    from: 18,
    to: 18,
    setup: [
      'CREATE EXTENSION btree_gist',
      'CREATE TABLE t (id int, d daterange, b text, PRIMARY KEY (id, d WITHOUT OVERLAPS))',
      "INSERT INTO t SELECT n, '[2026-01-01,2026-02-01)', 'x' FROM generate_series(1, 3) n",
    ],
    app: ["UPDATE t SET b = 'new' WHERE id = 3"],
  },
  {
    name: 'a partition by a list of a domain whose function reads a table',
    verdict: 'continuous',
    unproven: ['reading-functions'],
    differs: unevaluatedExpression,
    empty: true,
    setup: [
      'CREATE TABLE kinds (kind text PRIMARY KEY)',
      "INSERT INTO kinds VALUES ('a'), ('b')",
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE sql STABLE AS $$SELECT EXISTS (SELECT FROM public.kinds WHERE kind = $1)$$',
      'CREATE DOMAIN kind AS text CHECK (is_kind(VALUE))',
      'CREATE TABLE things (id int, k kind, PRIMARY KEY (id, k)) PARTITION BY LIST (k)',
      "CREATE TABLE things_a PARTITION OF things FOR VALUES IN ('a')",
    ],
  },
  {
    name: 'a partition by a list of a domain with an ordinary CHECK',
    verdict: 'continuous',
    setup: [
      "CREATE DOMAIN kind AS text CHECK (VALUE IN ('a', 'b'))",
      'CREATE TABLE things (id int, k kind, PRIMARY KEY (id, k)) PARTITION BY LIST (k)',
      "CREATE TABLE things_a PARTITION OF things FOR VALUES IN ('a')",
      "INSERT INTO things VALUES (1, 'a')",
    ],
  },
  {
    name: 'a NOT NULL domain that was added to a composite type',
    verdict: 'continuous',
    unproven: ['not-valid'],
    differs: unevaluatedExpression,
    quiet: ['t'],
    setup: [
      'CREATE DOMAIN nn AS int NOT NULL',
      'CREATE TYPE pair AS (a int)',
      'CREATE TABLE t (id int PRIMARY KEY, p pair)',
      'INSERT INTO t VALUES (1, ROW(1)), (2, ROW(2)), (3, ROW(3))',
      'ALTER TYPE pair ADD ATTRIBUTE b nn',
    ],
  },
  {
    name: 'a table that is wider than a page when every column is stored',
    verdict: 'blocked',
    reasons: ['large-values'],
    quiet: ['t'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY)',
      'INSERT INTO t VALUES (1), (2)',
      "DO $$BEGIN EXECUTE (SELECT 'ALTER TABLE t ' || string_agg('ADD c' || i || ' bigint NOT NULL DEFAULT 0', ', ') FROM generate_series(1, 1200) i); END$$",
    ],
  },
  {
    name: 'an indexed value that was compressed before its column became EXTERNAL',
    verdict: 'blocked',
    reasons: ['large-values'],
    quiet: ['t'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, b text)',
      'CREATE INDEX ON t (b)',
      "INSERT INTO t VALUES (1, repeat('some words here ', 2000))",
      'ALTER TABLE t ALTER b SET STORAGE EXTERNAL',
    ],
  },
  {
    name: 'a value that was compressed before its column became PLAIN',
    verdict: 'blocked',
    reasons: ['large-values'],
    quiet: ['t'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, b bytea)',
      "INSERT INTO t VALUES (1, convert_to(repeat('some words here ', 2000), 'UTF8'))",
      'ALTER TABLE t ALTER b SET STORAGE PLAIN',
    ],
  },
  {
    name: 'short values in an index, and long ones outside, of columns that are EXTERNAL',
    verdict: 'continuous',
    quiet: ['t'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, b text, c text, d bytea)',
      'CREATE INDEX ON t (b); CREATE INDEX ON t (d)',
      "INSERT INTO t VALUES (1, repeat(E'a line\\n', 350), repeat('some words here ', 2000), convert_to(repeat('x', 2600), 'UTF8'))",
      'ALTER TABLE t ALTER b SET STORAGE EXTERNAL, ALTER c SET STORAGE EXTERNAL, ALTER d SET STORAGE EXTERNAL',
    ],
  },
  {
    name: 'a loop of a domain, its default and its table',
    verdict: 'blocked',
    reasons: ['removed-types'],
    setup: [
      'CREATE DOMAIN num AS int',
      'CREATE TABLE t (id int PRIMARY KEY, n num)',
      'INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)',
      'CREATE FUNCTION next_num() RETURNS int STABLE BEGIN ATOMIC SELECT max(n)::int + 1 FROM t; END',
      'ALTER DOMAIN num SET DEFAULT next_num()',
    ],
  },
  {
    name: 'a view of all columns of pg_stat_statements()',
    verdict: 'continuous',
    unproven: ['removed-types'],
    setup: [
      'CREATE EXTENSION pg_stat_statements',
      'CREATE VIEW v AS SELECT s.query, s.wal_bytes FROM pg_stat_statements(true) s',
    ],
  },
  {
    name: 'a CHECK that requires a time in the far future',
    verdict: 'continuous',
    unproven: ['time-checks'],
    quiet: ['t'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, u timestamptz CHECK (u > now()))',
      "INSERT INTO t VALUES (1, '2099-01-02'), (2, '2099-02-01')",
    ],
  },
];

/** Schemas that a server takes today and a newer or an empty one does not, and their like that it does. */
export const unfitSchemaCases: readonly PostgresCase[] = [...unlucky, ...lucky];
