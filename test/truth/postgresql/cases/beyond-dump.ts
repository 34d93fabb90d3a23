import { type PostgresCase, pgcopydbLimits } from '../case.ts';

/** What a schema needs and no dump has. */
export const beyondDumpCases: readonly PostgresCase[] = [
  {
    name: 'the text of an interval in an index, which is not immutable since PostgreSQL 15',
    verdict: 'blocked',
    reasons: ['mutable-calls'],
    from: 14,
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, v interval)',
      'CREATE INDEX ON t (((v + v)::text))',
      "INSERT INTO t VALUES (1, '26 hours'), (2, '1 day')",
    ],
  },
  {
    name: 'in no dump: unaccent made immutable, and an index over it',
    verdict: 'blocked',
    reasons: ['mutable-calls'],
    quick: true,
    setup: [
      'CREATE EXTENSION unaccent',
      'ALTER FUNCTION unaccent(text) IMMUTABLE',
      'CREATE TABLE t (id int PRIMARY KEY, name text)',
      'CREATE INDEX ON t (unaccent(name))',
    ],
  },
  {
    name: 'in no dump: unaccent in an immutable function of its own, and an index over that',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION unaccent',
      "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT public.unaccent('public.unaccent', $1)$$",
      'CREATE TABLE t (id int PRIMARY KEY, name text)',
      'CREATE INDEX ON t (plain(name))',
      "INSERT INTO t VALUES (1, 'Zoë')",
    ],
  },
  {
    name: 'in no dump: to_char made immutable, and a generated column by it',
    verdict: 'blocked',
    reasons: ['mutable-calls'],
    setup: [
      'ALTER FUNCTION pg_catalog.to_char(timestamp, text) IMMUTABLE',
      "CREATE TABLE t (id int PRIMARY KEY, at timestamp, year text GENERATED ALWAYS AS (to_char(at, 'YYYY')) STORED)",
    ],
  },
  {
    name: 'in no dump: a function that was immutable when its index was made',
    verdict: 'blocked',
    reasons: ['mutable-calls'],
    setup: [
      'CREATE FUNCTION code(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN lower($1); END$$',
      'CREATE TABLE t (id int PRIMARY KEY, name text)',
      'CREATE INDEX ON t (code(name)) WHERE name IS NOT NULL',
      'ALTER FUNCTION code(text) STABLE',
    ],
  },
  {
    name: 'in no dump: an implicit cast by a function in pg_catalog',
    verdict: 'blocked',
    reasons: ['system-tables'],
    setup: [
      "CREATE FUNCTION pg_catalog.text(integer) RETURNS text STRICT IMMUTABLE LANGUAGE sql AS 'SELECT textin(int4out($1))'",
      'CREATE CAST (integer AS text) WITH FUNCTION pg_catalog.text(integer) AS IMPLICIT',
    ],
  },
  {
    name: 'in no dump: an enum in pg_catalog',
    verdict: 'blocked',
    reasons: ['system-tables'],
    setup: ["CREATE TYPE pg_catalog.mood AS ENUM ('good', 'bad')", 'CREATE TABLE t (id int PRIMARY KEY, m mood)'],
  },
  {
    name: 'in no dump: an operator in pg_catalog, and a view with it',
    verdict: 'blocked',
    reasons: ['system-tables'],
    setup: [
      "CREATE FUNCTION plus(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1 || $2'",
      'CREATE OPERATOR pg_catalog.+ (LEFTARG = text, RIGHTARG = text, FUNCTION = plus)',
      'CREATE VIEW v AS SELECT t + t AS twice FROM base',
    ],
  },
  {
    name: 'in no dump: a view over one in information_schema',
    verdict: 'blocked',
    reasons: ['system-tables'],
    setup: [
      'CREATE VIEW information_schema.mine AS SELECT 1 AS x',
      'CREATE VIEW v AS SELECT * FROM information_schema.mine',
    ],
  },
  {
    name: 'in no dump: a function and a view in schemas of the system that nothing needs',
    verdict: 'continuous',
    setup: [
      "CREATE FUNCTION pg_catalog.one() RETURNS int LANGUAGE sql AS 'SELECT 1'",
      'CREATE VIEW information_schema.mine AS SELECT pg_catalog.one() AS x',
    ],
  },
  {
    name: 'in no dump: the provider of a security label',
    verdict: 'blocked',
    reasons: ['security-labels'],
    setup: [
      // As its provider would have written it.
      "INSERT INTO pg_seclabel VALUES ('base'::regclass, 'pg_class'::regclass, 2, 'anon', 'MASKED WITH VALUE NULL')",
    ],
  },
  {
    name: 'in no dump: files of dictionaries that every server has',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION unaccent',
      'CREATE TEXT SEARCH DICTIONARY plain (TEMPLATE = simple, STOPWORDS = english)',
      'CREATE TEXT SEARCH DICTIONARY same (TEMPLATE = synonym, SYNONYMS = synonym_sample)',
      'CREATE TEXT SEARCH DICTIONARY words (TEMPLATE = ispell, DICTFILE = hunspell_sample_num, AFFFILE = hunspell_sample_num, STOPWORDS = russian)',
      'CREATE TEXT SEARCH DICTIONARY places (TEMPLATE = thesaurus, DICTFILE = thesaurus_sample, DICTIONARY = english_stem)',
    ],
  },
  {
    name: 'in no dump: a function that was added to an extension, and a view over it',
    verdict: 'blocked',
    reasons: ['added-members'],
    setup: [
      'CREATE EXTENSION hstore',
      "CREATE FUNCTION shout(text) RETURNS text LANGUAGE sql AS 'SELECT upper($1)'",
      'ALTER EXTENSION hstore ADD FUNCTION shout(text)',
      "CREATE VIEW v AS SELECT shout('a') AS a",
    ],
  },
  {
    name: 'in no dump: a function that was added to an extension and that nothing needs',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION hstore',
      "CREATE FUNCTION shout(text) RETURNS text LANGUAGE sql AS 'SELECT upper($1)'",
      'ALTER EXTENSION hstore ADD FUNCTION shout(text)',
    ],
  },
  {
    name: 'changed in pg_catalog: a cast to boolean that became implicit',
    verdict: 'continuous',
    unproven: ['system-tables'],
    differs: {
      truth: 'blocked',
      why: 'whether a definition or a statement needs a changed cast of PostgreSQL is not known; the report says so, and a rehearsal finds it',
    },
    setup: [
      "UPDATE pg_cast SET castcontext = 'i' WHERE castsource = 'int4'::regtype AND casttarget = 'bool'::regtype",
      'CREATE TABLE t (id int PRIMARY KEY, active boolean DEFAULT 1, n int)',
      'INSERT INTO t VALUES (1, true, 1)',
    ],
  },
  {
    name: 'what a dump does not say: disabled triggers of foreign keys',
    verdict: 'continuous',
    pgcopydb: pgcopydbLimits.foreignKeys,
    quiet: ['p', 'c'],
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY)',
      'CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p)',
      'INSERT INTO p VALUES (1)',
      'ALTER TABLE c DISABLE TRIGGER ALL',
      'ALTER TABLE p DISABLE TRIGGER ALL',
      'INSERT INTO c VALUES (1, 1), (2, 99)',
    ],
  },
  {
    name: 'what a dump does not say: a partition that is being detached',
    verdict: 'continuous',
    quiet: ['p', 'p1', 'p2'],
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id)',
      'CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100)',
      'CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (200)',
      'INSERT INTO p VALUES (1), (101)',
      "UPDATE pg_inherits SET inhdetachpending = true WHERE inhrelid = 'p1'::regclass",
    ],
  },
];
