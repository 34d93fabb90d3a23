import { expect, test } from 'vitest';
import type { Major } from '../../../../scripts/postgres.mjs';
import { hasWordRange } from '../../../../src/db/preflight/postgresql/expression-results.ts';
import type { PostgresqlReport } from '../../../../src/db/preflight/postgresql/run.ts';
import { type Postgres, ready, startPostgres } from '../../../fixtures/postgres.ts';
import { preflightOptions } from './facts.ts';
import { found, preflightServer } from './preflight.ts';

/** One database a case, so that one server serves them all. */
interface Case {
  readonly name: string;
  readonly setup: readonly string[];
  /** The objects that are named as not proven, by check; none if all are proven. */
  readonly checked?: readonly string[];
  readonly computed?: readonly string[];
  readonly isSameRelease?: true;
  readonly since?: Major;
  /** What follows CREATE DATABASE. */
  readonly create?: string;
}

const local = { disableSsl: true, isOverInternet: false };

const okEmail =
  "CREATE FUNCTION ok_email(t text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN position('@' IN t) > 0; END $$";
const stricter =
  "CREATE OR REPLACE FUNCTION ok_email(t text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN t ~ '^[^@]+@[^@]+$'; END $$";
const users = [
  okEmail,
  'CREATE TABLE u (id int PRIMARY KEY, email text CONSTRAINT c CHECK (ok_email(email)))',
  "INSERT INTO u VALUES (1, 'a@b.c')",
];
const twice = 'CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT n * 2 $$';
const thrice = 'CREATE OR REPLACE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT n * 3 $$';
const filled = (definition: string) => [
  `CREATE TABLE t (id int PRIMARY KEY, n int, v text${definition})`,
  "INSERT INTO t VALUES (1, 1, 'a')",
];

/** New sessions of the database have the setting. */
const ofDatabase = (setting: string) =>
  `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${setting.replaceAll("'", "''")}', current_database()); END $$`;
const generated = (type: string, result: string, expression: string) => [
  `CREATE TABLE t (id int PRIMARY KEY, v ${type}, g ${result} GENERATED ALWAYS AS (${expression}) STORED)`,
  'INSERT INTO t VALUES (1)',
];
const asText = (type: string) =>
  `CREATE FUNCTION as_text(v ${type}) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT v::text $$`;
const search = (call: string) =>
  `CREATE FUNCTION words(v text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$ SELECT ${call} $$`;

/** Expressions over row types and enums; of the CHECKs of `e`, one alone writes a label, and the other sees a field. */
const typed = [
  'CREATE TYPE addr AS (street text, city text)',
  'CREATE DOMAIN whole AS addr CHECK (VALUE IS NOT NULL)',
  "CREATE TYPE status AS ENUM ('draft', 'live')",
  'CREATE FUNCTION label(s status) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT s::text $$',
  `CREATE TABLE "My t" (id int PRIMARY KEY, a int DEFAULT 1, CONSTRAINT c CHECK ("My t" IS NOT NULL AND to_jsonb("My t") ? 'a'))`,
  'CREATE TABLE c (id int PRIMARY KEY, a whole, b addr CHECK (b IS NOT NULL))',
  "CREATE TABLE e (id int PRIMARY KEY, s status, b addr, CONSTRAINT safe CHECK ((s <> 'live' OR id > 0) AND (b).city <> ''), CONSTRAINT writes CHECK (s::text <> 'x'))",
  'CREATE TABLE g (id int PRIMARY KEY, s status, l text GENERATED ALWAYS AS (label(s)) STORED)',
  'CREATE TABLE p (id int, s status) PARTITION BY LIST (label(s))',
  "CREATE TABLE p1 PARTITION OF p FOR VALUES IN ('draft')",
  'INSERT INTO "My t" VALUES (1, 2)',
  "INSERT INTO c VALUES (1, ('x', 'y'), ('x', 'y'))",
  "INSERT INTO e VALUES (1, 'draft', ('x', 'y'))",
  "INSERT INTO g VALUES (1, 'draft')",
  "INSERT INTO p VALUES (1, 'draft')",
];

/** Settings that change the results of functions, with a column that depends on each, and one that does not. */
const swayed: readonly (readonly [setting: string, depends: readonly string[], not: readonly string[]])[] = [
  ['extra_float_digits = 0', generated('float8', 'text', 'v::text'), generated('int', 'int', 'v * 2')],
  ["bytea_output = 'escape'", generated('bytea', 'text', 'v::text'), generated('bytea', 'int', 'octet_length(v)')],
  ['quote_all_identifiers = on', generated('text', 'text', 'quote_ident(v)'), generated('text', 'text', "v || 'x'")],
  [
    "DateStyle = 'German'",
    [asText('date'), ...generated('date', 'text', 'as_text(v)')],
    [asText('int'), ...generated('int', 'text', 'as_text(v)')],
  ],
  [
    "DateStyle = 'ISO, DMY'",
    [
      'CREATE FUNCTION as_date(v text) RETURNS date LANGUAGE sql IMMUTABLE AS $$ SELECT v::date $$',
      ...generated('text', 'date', 'as_date(v)'),
    ],
    [asText('date'), ...generated('date', 'text', 'as_text(v)')],
  ],
  [
    "IntervalStyle = 'iso_8601'",
    [asText('interval'), ...generated('interval', 'text', 'as_text(v)')],
    [
      asText('interval').replace('AS', "SET intervalstyle = 'postgres' AS"),
      ...generated('interval', 'text', 'as_text(v)'),
    ],
  ],
  [
    "default_text_search_config = 'pg_catalog.german'",
    [search('to_tsvector(v)'), ...generated('text', 'tsvector', 'words(v)')],
    [search("to_tsvector('german', v)"), ...generated('text', 'tsvector', 'words(v)')],
  ],
  [
    'standard_conforming_strings = off',
    [
      "CREATE FUNCTION f(v text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN replace(v, '\\\\', '/'); END $$",
      ...generated('text', 'text', 'f(v)'),
    ],
    [asText('int'), ...generated('int', 'text', 'as_text(v)')],
  ],
  [
    'transform_null_equals = on',
    [
      'CREATE FUNCTION f(v text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT v = NULL $$',
      ...generated('text', 'boolean', 'f(v)'),
    ],
    [asText('int'), ...generated('int', 'text', 'as_text(v)')],
  ],
  [
    'plpgsql.check_asserts = off',
    [
      'CREATE FUNCTION f(v int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN ASSERT v > 100; RETURN v; END $$',
      ...generated('int', 'int', 'f(v)'),
    ],
    [asText('int'), ...generated('int', 'text', 'as_text(v)')],
  ],
  [
    "plpgsql.variable_conflict = 'use_column'",
    [
      'CREATE FUNCTION f(v int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN (SELECT max(x) FROM unnest(ARRAY[v]) x); END $$',
      ...generated('int', 'int', 'f(v)'),
    ],
    [asText('int'), ...generated('int', 'text', 'as_text(v)')],
  ],
];

const cases: readonly Case[] = [
  ...swayed.flatMap(([setting, depends, not]): readonly Case[] => [
    {
      name: setting,
      setup: [ofDatabase(setting), ...depends],
      computed: ['column public.t.g'],
      isSameRelease: true,
      since: 14,
    },
    {
      name: `${setting}, without a result of it`,
      setup: [ofDatabase(setting), ...not],
      isSameRelease: true,
      since: 14,
    },
  ]),
  {
    name: 'a CHECK with a result of a setting',
    setup: [
      ofDatabase("bytea_output = 'escape'"),
      'CREATE TABLE t (id int PRIMARY KEY, b bytea CONSTRAINT c CHECK (length(b::text) < 5))',
      "INSERT INTO t VALUES (1, 'abcd')",
    ],
    checked: ['c on public.t'],
    isSameRelease: true,
  },
  ...[
    'ALTER TEXT SEARCH CONFIGURATION pg_catalog.english ALTER MAPPING FOR asciiword WITH simple',
    'ALTER TEXT SEARCH DICTIONARY pg_catalog.english_stem (StopWords)',
  ].map(
    (statement): Case => ({
      name: statement,
      setup: [statement, ...generated('text', 'tsvector', "to_tsvector('english', v)")],
      computed: ['column public.t.g'],
      isSameRelease: true,
      since: 14,
    }),
  ),
  {
    name: 'the text search configurations of the server',
    setup: generated('text', 'tsvector', "to_tsvector('english', v)"),
    isSameRelease: true,
    since: 14,
  },
  { name: 'a function that was never replaced', setup: users },
  {
    name: 'a function that was replaced after rows were stored',
    setup: [...users, stricter],
    checked: ['c on public.u'],
  },
  {
    name: 'a function that was replaced, and the constraint renamed and its table clustered later',
    setup: [...users, stricter, 'ALTER TABLE u RENAME CONSTRAINT c TO c2', 'ALTER TABLE u CLUSTER ON u_pkey'],
    checked: ['c2 on public.u'],
  },
  {
    name: 'a function that was replaced before the constraint was added again',
    setup: [...users, stricter, 'ALTER TABLE u DROP CONSTRAINT c, ADD CONSTRAINT c CHECK (ok_email(email))'],
  },
  { name: 'a replacement that was rolled back', setup: [...users, `BEGIN; ${stricter}; ROLLBACK`] },
  { name: 'everything in one transaction', setup: [`BEGIN; ${users.join('; ')}; COMMIT`] },
  {
    name: 'a replacement in the same transaction',
    setup: [`BEGIN; ${users.join('; ')}; ${stricter}; COMMIT`],
    checked: ['c on public.u'],
  },
  {
    name: 'catalogs that were rewritten and frozen',
    setup: [...users, 'VACUUM FULL pg_proc', 'VACUUM FULL pg_depend', 'VACUUM FREEZE'],
  },
  { name: 'a replaced function of a table without rows', setup: [...users, 'DELETE FROM u', 'VACUUM u', stricter] },
  {
    name: 'a function that is called in the body of another',
    setup: [
      twice,
      'CREATE FUNCTION outer_one(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN public . "twice" (n) > 0; END $$',
      ...filled(', CONSTRAINT c CHECK (outer_one(n))'),
      thrice,
    ],
    checked: ['c on public.t'],
  },
  {
    name: 'a function of another schema with the name of one that a body calls',
    setup: [
      ...['one', 'two'].flatMap((schema) => [
        `CREATE SCHEMA ${schema}`,
        `CREATE FUNCTION ${schema}.helper(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT n * 2 $$`,
        `CREATE FUNCTION ${schema}.outer_one(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE SET search_path = ${schema} AS $$ BEGIN RETURN helper(n); END $$`,
        `CREATE TABLE ${schema}.t (id int PRIMARY KEY CHECK (${schema}.outer_one(id) > 0))`,
        `INSERT INTO ${schema}.t VALUES (1)`,
      ]),
      'CREATE FUNCTION public.three(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT two.helper(n) $$',
      'CREATE TABLE three (id int PRIMARY KEY CONSTRAINT c CHECK (three(id) > 0))',
      'INSERT INTO three VALUES (1)',
      'CREATE OR REPLACE FUNCTION two.helper(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT n * 3 $$',
    ],
    checked: ['c on public.three', 't_id_check on two.t'],
  },
  {
    name: 'a function that is called in a statement that the body composes',
    setup: [
      twice,
      "CREATE FUNCTION outer_one(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ DECLARE r boolean; BEGIN EXECUTE 'SELECT public.twice($1) > 0' INTO r USING n; RETURN r; END $$",
      ...filled(', CONSTRAINT c CHECK (outer_one(n))'),
      thrice,
    ],
    checked: ['c on public.t'],
  },
  {
    name: 'a function that is called in a body that was parsed',
    setup: [
      twice,
      'CREATE FUNCTION outer_one(n int) RETURNS boolean LANGUAGE sql IMMUTABLE RETURN twice(n) > 0',
      ...filled(', CONSTRAINT c CHECK (outer_one(n))'),
      thrice,
    ],
    checked: ['c on public.t'],
  },
  {
    name: 'a function with the name of another only as a column, a string or a comment',
    setup: [
      twice,
      'CREATE FUNCTION outer_one(twice int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN /* twice() */ RETURN twice > 0; END $$',
      ...filled(', CONSTRAINT c CHECK (outer_one(n))'),
      thrice,
    ],
  },
  {
    name: 'the function of an operator',
    setup: [
      'CREATE FUNCTION near(a int, b int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT abs(a - b) < 5 $$',
      'CREATE OPERATOR ~~~ (LEFTARG = int, RIGHTARG = int, FUNCTION = near)',
      ...filled(', CONSTRAINT c CHECK (n ~~~ 1)'),
      'CREATE OR REPLACE FUNCTION near(a int, b int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT abs(a - b) > 5 $$',
    ],
    checked: ['c on public.t'],
  },
  {
    name: 'an operator in the body of a function',
    setup: [
      'CREATE FUNCTION near(a int, b int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT abs(a - b) < 5 $$',
      'CREATE OPERATOR ~~~ (LEFTARG = int, RIGHTARG = int, FUNCTION = near)',
      'CREATE FUNCTION outer_one(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN n OPERATOR(public.~~~) 1; END $$',
      ...filled(', CONSTRAINT c CHECK (outer_one(n))'),
      'CREATE OR REPLACE FUNCTION near(a int, b int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT abs(a - b) > 5 $$',
    ],
    checked: ['c on public.t'],
  },
  {
    name: 'the function of an aggregate that a body uses',
    setup: [
      'CREATE FUNCTION step(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT a + b $$',
      'CREATE AGGREGATE total(int) (SFUNC = step, STYPE = int, INITCOND = 0)',
      'CREATE FUNCTION outer_one(n int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT public.total(x) > 0 FROM unnest(ARRAY[n, n]) x $$',
      ...filled(', CONSTRAINT c CHECK (outer_one(n))'),
      'CREATE OR REPLACE FUNCTION step(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT a - b $$',
    ],
    checked: ['c on public.t'],
  },
  {
    name: 'a domain',
    setup: [
      okEmail,
      'CREATE DOMAIN email AS text CONSTRAINT d CHECK (ok_email(VALUE))',
      'CREATE TABLE u (id int PRIMARY KEY, e email)',
      "INSERT INTO u VALUES (1, '@x')",
      stricter,
    ],
    checked: ['d on public.email'],
  },
  {
    name: 'a domain that was not altered',
    setup: [
      okEmail,
      'CREATE DOMAIN email AS text CONSTRAINT d CHECK (ok_email(VALUE))',
      'CREATE DOMAIN own_email AS email CHECK (ok_email(VALUE::email))',
      'CREATE TABLE u (id int PRIMARY KEY, e email, o own_email[], CHECK (ok_email(e::own_email)))',
      "INSERT INTO u VALUES (1, 'a@b', ARRAY['a@b'])",
    ],
  },
  {
    name: 'a domain in a cast of a body, whose constraint was added later',
    setup: [
      'CREATE DOMAIN small AS int',
      'CREATE FUNCTION outer_one(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN n::public.small IS NOT NULL; END $$',
      ...filled(', CONSTRAINT c CHECK (outer_one(n))'),
      'ALTER DOMAIN small ADD CHECK (VALUE < 10)',
    ],
    checked: ['c on public.t'],
  },
  {
    name: 'a unique index on an expression',
    setup: [twice, ...filled(''), 'CREATE UNIQUE INDEX i ON t (twice(n))', thrice],
    checked: ['index public.i on public.t'],
  },
  {
    name: 'the predicate of an index',
    setup: [twice, ...filled(''), 'CREATE INDEX i ON t (id) WHERE twice(n) > 0', thrice],
    checked: ['index public.i on public.t'],
  },
  {
    name: 'an index that was rebuilt after its function was replaced',
    setup: [
      twice,
      ...filled(''),
      'CREATE INDEX i ON t (id) WHERE twice(n) > 0',
      thrice,
      'REINDEX INDEX CONCURRENTLY i',
    ],
  },
  {
    name: 'an exclusion constraint on an expression',
    setup: [twice, ...filled(''), 'ALTER TABLE t ADD CONSTRAINT x EXCLUDE ((twice(n)) WITH =)', thrice],
    checked: ['index public.x on public.t'],
  },
  {
    name: 'an exclusion constraint with the operator class of an extension, and a plain one of its own',
    setup: [
      'CREATE EXTENSION btree_gist',
      ...filled(''),
      'ALTER TABLE t ADD CONSTRAINT x EXCLUDE USING gist (n WITH =, v WITH <>)',
    ],
  },
  {
    name: 'the operator class of an extension that was altered later, in an index that is not unique',
    setup: [
      'CREATE EXTENSION pg_trgm',
      ...filled(''),
      'CREATE INDEX i ON t USING gin (v gin_trgm_ops)',
      'ALTER OPERATOR CLASS gin_trgm_ops USING gin RENAME TO own_ops',
    ],
  },
  {
    name: 'the operator class of a unique index',
    setup: [
      'CREATE FUNCTION cmp(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT btint4cmp(a, b) $$',
      'CREATE OPERATOR CLASS own FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 cmp(int, int)',
      ...filled(''),
      'CREATE UNIQUE INDEX i ON t (n own)',
      'CREATE OR REPLACE FUNCTION cmp(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT btint4cmp(a % 2, b % 2) $$',
    ],
    checked: ['index public.i on public.t'],
  },
  {
    name: 'a partition key',
    setup: [
      twice,
      'CREATE TABLE p (id int, n int) PARTITION BY LIST (twice(n))',
      'CREATE TABLE p1 PARTITION OF p FOR VALUES IN (2)',
      'INSERT INTO p VALUES (1, 1)',
      thrice,
    ],
    checked: ['partition key of public.p'],
  },
  {
    name: 'partition keys of several columns, and with an operator class',
    setup: [
      twice,
      'CREATE TABLE p (id int, n int, v text) PARTITION BY RANGE (n, twice(n), v COLLATE "C")',
      'CREATE TABLE p1 PARTITION OF p DEFAULT',
      'INSERT INTO p VALUES (1, 1)',
      'CREATE TABLE q (n int, v text) PARTITION BY RANGE (twice(n), v text_pattern_ops)',
      'CREATE TABLE q1 PARTITION OF q DEFAULT',
      'INSERT INTO q VALUES (1, 1)',
      thrice,
    ],
    checked: ['partition key of public.p', 'partition key of public.q'],
  },
  {
    name: 'a partition key that was not replaced, by text with the collation C',
    setup: [
      twice,
      'CREATE TABLE p (id int, n int) PARTITION BY LIST (twice(n))',
      'CREATE TABLE p1 PARTITION OF p FOR VALUES IN (2)',
      'INSERT INTO p VALUES (1, 1)',
      'CREATE TABLE q (v text COLLATE "C") PARTITION BY RANGE (v)',
      "CREATE TABLE q1 PARTITION OF q FOR VALUES FROM ('a') TO ('b')",
      "INSERT INTO q VALUES ('a')",
    ],
  },
  {
    name: 'ranges of texts in the order of a locale',
    setup: [
      'CREATE TABLE q (v text COLLATE "und-x-icu") PARTITION BY RANGE (v)',
      "CREATE TABLE q1 PARTITION OF q FOR VALUES FROM ('a') TO ('b')",
      "INSERT INTO q VALUES ('a')",
      'CREATE TABLE t (id int PRIMARY KEY, v text COLLATE "und-x-icu" CONSTRAINT c CHECK (v > \'a\'), w text COLLATE "und-x-icu" CHECK (w <> \'\' AND w = lower(w)))',
      "INSERT INTO t VALUES (1, 'b', 'b')",
    ],
    checked: ['c on public.t', 'partition key of public.q'],
  },
  {
    name: 'a generated column whose function was replaced',
    setup: [twice, ...filled(', g int GENERATED ALWAYS AS (twice(n)) STORED'), thrice],
    computed: ['column public.t.g'],
  },
  {
    name: 'a generated column whose type was altered after its function was replaced',
    setup: [
      'CREATE FUNCTION low(v text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT $1 $$',
      'CREATE TABLE t (id int PRIMARY KEY, v text, g varchar(10) GENERATED ALWAYS AS (low(v)) STORED)',
      "INSERT INTO t VALUES (1, 'A')",
      'CREATE OR REPLACE FUNCTION low(v text) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT lower($1) $$',
      'ALTER TABLE t ALTER g TYPE varchar(20)',
    ],
    computed: ['column public.t.g'],
    isSameRelease: true,
    since: 15,
  },
  {
    name: 'a generated column of a table that is newer than its function',
    setup: [twice, ...filled(', g int GENERATED ALWAYS AS (twice(n)) STORED')],
  },
  {
    name: 'full-text search with the configurations of PostgreSQL',
    setup: [
      ...filled(", d tsvector GENERATED ALWAYS AS (to_tsvector('english', v)) STORED"),
      'CREATE INDEX ON t USING gin (d)',
      "CREATE INDEX ON t USING gin (to_tsvector('german', v))",
    ],
  },
  {
    name: 'full-text search with a configuration that was altered',
    setup: [
      'CREATE TEXT SEARCH CONFIGURATION own (COPY = english)',
      ...filled(", d tsvector GENERATED ALWAYS AS (to_tsvector('public.own', v)) STORED"),
      'ALTER TEXT SEARCH CONFIGURATION own ALTER MAPPING FOR asciiword WITH simple',
    ],
    computed: ['column public.t.d'],
  },
  {
    name: 'full-text search with a configuration that was not altered',
    setup: [
      'CREATE TEXT SEARCH CONFIGURATION own (COPY = english)',
      'ALTER TEXT SEARCH CONFIGURATION own ALTER MAPPING FOR asciiword WITH simple',
      ...filled(", d tsvector GENERATED ALWAYS AS (to_tsvector('public.own', v)) STORED"),
    ],
  },
  {
    name: 'a text search configuration that a body names in a string',
    setup: [
      'CREATE TEXT SEARCH CONFIGURATION own (COPY = english)',
      "CREATE FUNCTION words(v text) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT length(to_tsvector('public.own'::regconfig, v)) $$",
      ...filled(', CONSTRAINT c CHECK (words(v) < 5)'),
      'ALTER TEXT SEARCH CONFIGURATION own ALTER MAPPING FOR asciiword WITH simple',
    ],
    checked: ['c on public.t'],
    isSameRelease: true,
  },
  {
    name: 'text search in constraints',
    setup: [
      ...filled(", CONSTRAINT c CHECK (to_tsvector('english', v) @@ 'a|b' OR v = 'a')"),
      "CREATE UNIQUE INDEX i ON t (to_tsvector('german', v))",
    ],
    checked: ['c on public.t', 'index public.i on public.t'],
  },
  {
    name: 'the same release',
    setup: [...filled(", CONSTRAINT c CHECK (to_tsvector('english', v) @@ 'a|b' OR v = 'a')")],
    isSameRelease: true,
  },
  {
    name: 'unaccent in a generated column',
    setup: [
      'CREATE EXTENSION unaccent',
      "CREATE FUNCTION f_unaccent(t text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT public.unaccent('public.unaccent'::regdictionary, t) $$",
      ...filled(', g text GENERATED ALWAYS AS (f_unaccent(v)) STORED'),
      'CREATE UNIQUE INDEX i ON t (f_unaccent(v))',
      'CREATE INDEX j ON t (f_unaccent(v))',
    ],
    computed: ['column public.t.g'],
    checked: ['index public.i on public.t'],
  },
  {
    name: 'values that PostgreSQL computes differently in another release',
    setup: [
      'CREATE EXTENSION pg_trgm',
      'CREATE EXTENSION ltree',
      ...filled(
        [
          '',
          'a text GENERATED ALWAYS AS (normalize(v, NFKD)) STORED',
          'b text GENERATED ALWAYS AS (quote_ident(v)) STORED',
          'c numeric GENERATED ALWAYS AS (0.5 ^ n) STORED',
          'd float8 GENERATED ALWAYS AS (acosh(n)) STORED',
          "e real GENERATED ALWAYS AS (similarity(v, 'abc')) STORED",
          'f ltree GENERATED ALWAYS AS (text2ltree(v)) STORED',
          "g int GENERATED ALWAYS AS (length(to_tsvector('german', v))) STORED",
          'h text GENERATED ALWAYS AS (upper(v COLLATE "und-x-icu")) STORED',
          "i text GENERATED ALWAYS AS (regexp_replace(v COLLATE \"und-x-icu\", '[[:punct:]]', '')) STORED",
          "j timestamp GENERATED ALWAYS AS ('2020-01-01 00:00+00'::timestamptz AT TIME ZONE 'Europe/Berlin') STORED",
          'k text[] GENERATED ALWAYS AS (show_trgm(v)) STORED',
          'l ltree GENERATED ALWAYS AS (v::ltree) STORED',
          'm text GENERATED ALWAYS AS (greatest(v COLLATE "und-x-icu", \'b\')) STORED',
          "n2 boolean GENERATED ALWAYS AS (jsonb_path_exists('[]'::jsonb, '$ ? (@ like_regex \"^[[:alpha:]]\")')) STORED",
        ].join(', '),
      ),
    ],
    computed: [...'abcdefghijklm', 'n2'].map((name) => `column public.t.${name}`),
  },
  {
    name: 'values that are the same in every release',
    setup: [
      'CREATE EXTENSION fuzzystrmatch',
      'CREATE EXTENSION citext',
      'CREATE EXTENSION hstore',
      'CREATE FUNCTION public.log(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT n $$',
      twice,
      ...filled(
        [
          '',
          'a text GENERATED ALWAYS AS (md5(v)) STORED',
          'b int GENERATED ALWAYS AS (n * 2 + length(v)) STORED',
          "c timestamp GENERATED ALWAYS AS ('2020-01-01 00:00+00'::timestamptz AT TIME ZONE 'UTC') STORED",
          "d text GENERATED ALWAYS AS (regexp_replace(v, '[^a-z0-9]', '')) STORED",
          'e text GENERATED ALWAYS AS (soundex(v)) STORED',
          'f float8 GENERATED ALWAYS AS (sqrt(n) + public.log(n)) STORED',
          'm citext UNIQUE',
          "o hstore CHECK (o ? 'a')",
          "p text CHECK (p ~ '^\\d+$' AND p = lower(p) AND length(p) > 3)",
          'r int GENERATED ALWAYS AS (greatest(n, 2)) STORED',
          'w text GENERATED ALWAYS AS (greatest(v COLLATE "C", \'b\')) STORED',
          'q int4range CHECK (lower(q) > 1 AND NOT isempty(q))',
          's int GENERATED ALWAYS AS (twice(lower(int4range(n, n + 1)))) STORED',
          // The locale of this database is C.
          "x text CHECK (x ~ '^[[:alpha:]]+$') GENERATED ALWAYS AS (lower(v)) STORED",
          'y text GENERATED ALWAYS AS (upper(v COLLATE "C")) STORED',
        ].join(', '),
      ),
      'CREATE UNIQUE INDEX ON t (lower(v)) WHERE n > 0',
    ],
  },
  {
    name: 'letters of a database with another locale',
    create: "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'und'",
    setup: [...filled(", g text GENERATED ALWAYS AS (lower(v)) STORED, CONSTRAINT c CHECK (v ~ '^[[:alpha:]]+$')")],
    checked: ['c on public.t'],
    computed: ['column public.t.g'],
    since: 15,
  },
  {
    name: 'character classes in a CHECK, and in the body of a function',
    setup: [
      "CREATE FUNCTION is_word(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 ~ '^\\w+$' $$",
      ...filled(
        ", CONSTRAINT c CHECK (v COLLATE \"und-x-icu\" ~ '^[[:alpha:]]+$'), CONSTRAINT d CHECK (is_word(v)), CONSTRAINT e CHECK (v !~ '[[:space:]]{2,}')",
      ),
    ],
    checked: ['c on public.t', 'd on public.t'],
  },
  {
    name: 'types that were altered after rows were stored',
    setup: [
      ...typed,
      'ALTER TABLE "My t" ADD n text',
      'ALTER TYPE addr ADD ATTRIBUTE zip text',
      "ALTER TYPE status RENAME VALUE 'draft' TO 'concept'",
    ],
    checked: [
      'c on public."My t"',
      'c_b_check on public.c',
      'partition key of public.p',
      'whole_check on public.whole',
      'writes on public.e',
    ],
    computed: ['column public.g.l'],
  },
  {
    name: 'types to which only a label was added',
    setup: [...typed, "ALTER TYPE status ADD VALUE 'gone' AFTER 'draft'"],
  },
];

test.each([
  ['^[\\w-_.]+$', true],
  ['[^\\w-z]', true],
  ['[[:digit:]\\w-_]', true],
  ['[]\\w-`]', true],
  ['[\\\\w-_]', false],
  ['[\\w.-_]', false],
  ['[-\\w.]+ \\w-[0-9a-z-]+ [\\w-]*', false],
  ['[a]\\w-_', false],
])('a range that begins with \\w in %s: %s', (pattern, expected) => {
  expect(hasWordRange(pattern)).toBe(expected);
});

/** Runs what the finding offers to the owner of the tables. */
async function runQueries(server: Postgres, report: PostgresqlReport, id: string, database: string) {
  const { detail = '' } = found(report, id, database);
  const [, queries] = /can run: (SET search_path .*;)/s.exec(detail) ?? [];
  if (queries !== undefined) await server.query(queries, database);
}

/** The objects of the finding of a check in a database. */
function named(report: PostgresqlReport, id: string, database: string): readonly string[] {
  const { objects = [] } = found(report, id, database);
  return objects.map((one) => one.replace(/ \(.*$/s, '')).toSorted();
}

test.each([14, 15, 18] as const)(
  'PostgreSQL %i: each expression is proven or named',
  async (version) => {
    const server = await startPostgres({ version, settings: ready });
    const own = cases.filter(({ since = 14 }) => since <= version);
    const reports = new Map<string, PostgresqlReport>();
    for (const [at, { setup, create = '' }] of own.entries()) {
      await server.query(`CREATE DATABASE d${at} ${create}`);
      for (const statement of setup) await server.query(statement, `d${at}`);
    }
    for (const targetVersion of [String(version), '19']) {
      reports.set(
        targetVersion,
        await preflightServer(server, { options: preflightOptions({ ...local, targetVersion }) }),
      );
    }
    const outcomes = own.map((one, at) => {
      const report = reports.get(one.isSameRelease === true ? String(version) : '19')!;
      return [
        one.name,
        { checked: named(report, 'checked-again', `d${at}`), computed: named(report, 'computed-again', `d${at}`) },
      ];
    });
    for (const at of own.keys()) {
      for (const id of ['checked-again', 'computed-again']) await runQueries(server, reports.get('19')!, id, `d${at}`);
    }
    expect(Object.fromEntries(outcomes)).toEqual(
      Object.fromEntries(own.map(({ name, checked = [], computed = [] }) => [name, { checked, computed }])),
    );
  },
  180_000,
);

test('catalogs that pg_upgrade wrote anew prove nothing', async () => {
  const server = await startPostgres({ version: 15, settings: ready, setup: users });
  await server.query('CREATE EXTENSION citext; CREATE TABLE c (c citext UNIQUE); INSERT INTO c VALUES (1)');
  const options = preflightOptions({ ...local, targetVersion: '18' });
  expect(named(await preflightServer(server, { options }), 'checked-again', 'postgres')).toEqual([]);
  // It writes pg_class after all tables are created, so that none of its rows is frozen from initdb.
  await server.query('SET allow_system_table_mods = on; UPDATE pg_class SET relname = relname WHERE oid < 16384');
  expect(named(await preflightServer(server, { options }), 'checked-again', 'postgres')).toEqual(['c on public.u']);
}, 60_000);

test('the query of a generated column has another result on a release that computes other values', async () => {
  const setup = [
    'CREATE EXTENSION unaccent',
    "CREATE FUNCTION plain(t text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT public.unaccent('public.unaccent'::regdictionary, t) $$",
    'CREATE TABLE n (id int PRIMARY KEY, v text, p text GENERATED ALWAYS AS (plain(v)) STORED, q text GENERATED ALWAYS AS (plain(id::text)) STORED)',
    'INSERT INTO n SELECT g, chr(g) FROM generate_series(128, 55000) g',
  ];
  const [old, recent] = await Promise.all([
    startPostgres({ version: 15, settings: ready, setup }),
    startPostgres({ version: 18, setup }),
  ]);
  const report = await preflightServer(old, { options: preflightOptions({ ...local, targetVersion: '18' }) });
  const { detail = '' } = found(report, 'computed-again', 'postgres');
  const queries = detail.match(/SELECT md5\([^;]*;/g) ?? [];
  const results = await Promise.all(
    queries.map(async (query) => {
      const [here, there] = await Promise.all([old.query(query), recent.query(query)]);
      return [query.includes('"p"'), JSON.stringify(here) === JSON.stringify(there)];
    }),
  );
  expect(results.toSorted()).toEqual([
    [false, true],
    [true, false],
  ]);
}, 60_000);
