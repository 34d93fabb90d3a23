import { type PostgresCase, pgcopydbLimits } from '../case.ts';

const asciiOnly = { d1: "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0" };

/** 0xe9 is an é in LATIN1, and nothing in UTF-8. */
function raw(...statements: readonly string[]): readonly string[] {
  return statements.map((text) => `DO $do$BEGIN EXECUTE E'${text.replaceAll("'", "''")}'; END$do$`);
}

/** What is written by the source, and cannot be read by a target. */
export const unreadableCases: readonly PostgresCase[] = [
  {
    name: 'functions with several meanings in rows',
    verdict: 'blocked',
    reasons: ['callable-names'],
    quick: true,
    setup: ['CREATE TABLE t (id int PRIMARY KEY, f regproc)', "INSERT INTO t VALUES (1, 1395), (2, 'now')"],
  },
  {
    name: 'arrays of functions with several meanings',
    verdict: 'blocked',
    reasons: ['callable-names'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, f regproc[])',
      "INSERT INTO t VALUES (1, ARRAY[1395]::regproc[]), (2, '{now}')",
    ],
  },
  {
    name: 'a domain over operators with several meanings',
    verdict: 'blocked',
    reasons: ['callable-names'],
    setup: [
      'CREATE DOMAIN op AS regoper',
      'CREATE TABLE t (id int PRIMARY KEY, o op)',
      "INSERT INTO t VALUES (1, 96), (2, '||/')",
    ],
  },
  {
    name: 'functions with several meanings in composites',
    verdict: 'blocked',
    reasons: ['callable-names'],
    setup: [
      'CREATE TYPE job AS (x int, f regproc)',
      'CREATE TABLE t (id int PRIMARY KEY, x job)',
      "INSERT INTO t VALUES (1, ROW(1, 'now')), (2, ROW(2, 1395))",
    ],
  },
  {
    name: 'functions with several meanings in arrays of composites',
    verdict: 'blocked',
    reasons: ['callable-names'],
    setup: [
      'CREATE TYPE job AS (x int, f regproc)',
      'CREATE TYPE jobs AS (x job[])',
      'CREATE TABLE t (id int PRIMARY KEY, x jobs)',
      'INSERT INTO t VALUES (1, ROW(ARRAY[ROW(1, 1395)::job]))',
    ],
  },
  {
    name: 'functions and tables in composites that every server reads',
    verdict: 'continuous',
    setup: [
      'CREATE TYPE job AS (x int, f regproc, c regclass)',
      'CREATE TABLE t (id int PRIMARY KEY, x job, y job[])',
      "INSERT INTO t VALUES (1, ROW(1, 'now', 't'), ARRAY[ROW(1, 'now', 'pg_class')::job])",
    ],
  },
  {
    name: 'a table of TOAST in a composite',
    verdict: 'blocked',
    reasons: ['system-values'],
    setup: [
      // So that its number is not that of another one there by chance.
      "DO $$BEGIN FOR i IN 1..40 LOOP EXECUTE 'CREATE TABLE u (t text); DROP TABLE u'; END LOOP; END$$",
      'CREATE TYPE place AS (n int, c regclass)',
      'CREATE TABLE t (id int PRIMARY KEY, p place, w text)',
      "INSERT INTO t SELECT 1, ROW(1, reltoastrelid::regclass)::place FROM pg_class WHERE relname = 't'",
    ],
  },
  {
    name: 'functions and operators that are the only ones of their names',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, f regproc, o regoper, p regprocedure)',
      "INSERT INTO t VALUES (1, 0, 0, 'abs(int)'), (2, 'now', '||/', 'now()')",
    ],
  },
  {
    name: 'a function in C whose library the target lacks',
    verdict: 'blocked',
    reasons: ['untrusted-lang'],
    quick: true,
    setup: ["CREATE FUNCTION ls() RETURNS SETOF record AS '$libdir/adminpack', 'pg_logdir_ls_v1_1' LANGUAGE c"],
  },
  {
    name: 'a function in C whose library the target has',
    verdict: 'continuous',
    setup: ["CREATE FUNCTION id() RETURNS uuid AS '$libdir/pgcrypto', 'pg_random_uuid' LANGUAGE c"],
  },
  {
    name: 'a label of an enum that is no UTF-8',
    verdict: 'blocked',
    reasons: ['encoding'],
    quick: true,
    create: asciiOnly,
    setup: raw(
      "CREATE TYPE mood AS ENUM ('caf\\xe9', 'x')",
      'CREATE TABLE t (id int PRIMARY KEY, m mood)',
      "INSERT INTO t VALUES (1, 'caf\\xe9')",
    ),
  },
  ...Object.entries({
    comment: "COMMENT ON TABLE base IS 'caf\\xe9'",
    default: "ALTER TABLE base ALTER t SET DEFAULT 'caf\\xe9'",
    CHECK: "CREATE TABLE t (id int PRIMARY KEY, m text CHECK (m <> 'caf\\xe9'))",
    'name of a column': 'CREATE TABLE t (id int PRIMARY KEY, "caf\\xe9" text)',
  }).map(
    ([what, statement]): PostgresCase => ({
      name: `a ${what} that is no UTF-8`,
      verdict: 'blocked',
      reasons: ['encoding'],
      create: asciiOnly,
      last: raw(statement).map((sql) => ({ in: 'd1', sql })),
    }),
  ),
  {
    name: 'a schema in UTF-8 in a database of any bytes',
    verdict: 'continuous',
    create: asciiOnly,
    setup: [
      "CREATE TYPE mood AS ENUM ('café', 'x')",
      'CREATE TABLE t (id int PRIMARY KEY, m mood)',
      "INSERT INTO t VALUES (1, 'café')",
    ],
  },
  {
    name: 'rows that are no UTF-8 in a database of any bytes',
    pgcopydb: pgcopydbLimits.encoding,
    verdict: 'continuous',
    create: asciiOnly,
    setup: raw("INSERT INTO base VALUES (1000, 'caf\\xe9')"),
  },
];
