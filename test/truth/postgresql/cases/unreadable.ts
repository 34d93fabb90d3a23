import { type PostgresCase, pgcopydbLimits, unevaluatedExpression } from '../case.ts';

const asciiOnly = { d1: "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0" };

/** 0xe9 is an é in LATIN1, and nothing in UTF-8. */
function raw(...statements: readonly string[]): readonly string[] {
  return statements.map((text) => `DO $do$BEGIN EXECUTE E'${text.replaceAll("'", "''")}'; END$do$`);
}

/** What is written by the source, and cannot be read by a target. */
export const unreadableCases: readonly PostgresCase[] = [
  ...(
    [
      [
        'a subquery',
        'CREATE DOMAIN d AS text NOT NULL',
        'v d',
        ['INSERT INTO t SELECT 1, (SELECT v FROM t WHERE false)'],
      ],
      [
        'an outer join',
        'CREATE DOMAIN d AS text CHECK (VALUE IS NOT NULL AND length(VALUE) < 9)',
        'v d',
        [
          "INSERT INTO t VALUES (1, 'a')",
          'INSERT INTO t SELECT g, t.v FROM generate_series(2, 3) g LEFT JOIN t ON t.id = g',
        ],
      ],
      [
        'a window function',
        'CREATE DOMAIN d AS text NOT NULL',
        'v d',
        ["INSERT INTO t VALUES (1, 'a'), (2, 'b')", 'INSERT INTO t SELECT id + 2, lag(v) OVER (ORDER BY id) FROM t'],
      ],
      [
        'an assignment to another field of a composite',
        'CREATE DOMAIN d AS int NOT NULL; CREATE TYPE pair AS (a d, b text)',
        'v pair',
        ['INSERT INTO t VALUES (1, NULL)', "UPDATE t SET v.b = 'x'"],
      ],
      [
        'an assignment to an element of an array',
        'CREATE DOMAIN d AS int NOT NULL',
        'v d[]',
        ["INSERT INTO t VALUES (1, '{1,2}')", 'UPDATE t SET v[5] = 7'],
      ],
    ] as const
  ).map(
    ([how, types, column, rows]): PostgresCase => ({
      name: `NULL in a domain that refuses it, by ${how}`,
      verdict: 'blocked',
      reasons: ['not-valid'],
      quiet: ['t'],
      setup: [...types.split('; '), `CREATE TABLE t (id int PRIMARY KEY, ${column})`, ...rows],
    }),
  ),
  {
    name: 'NULL in a domain that may refuse it',
    verdict: 'continuous',
    unproven: ['not-valid'],
    differs: unevaluatedExpression,
    quiet: ['t'],
    setup: [
      "CREATE DOMAIN d AS text CHECK (COALESCE(VALUE, '') <> '')",
      'CREATE TABLE t (id int PRIMARY KEY, v d)',
      'INSERT INTO t SELECT 1, (SELECT v FROM t WHERE false)',
    ],
  },
  {
    name: 'domains that refuse NULL, in columns of all kinds without NULL, and one that accepts it',
    verdict: 'continuous',
    quiet: ['t'],
    setup: [
      'CREATE DOMAIN d AS text NOT NULL',
      'CREATE DOMAIN e AS d CHECK (VALUE IS NOT NULL)',
      "CREATE DOMAIN opt AS text CHECK (VALUE IS NULL OR NOT (VALUE = 'b'))",
      'CREATE TYPE pair AS (a e, b text)',
      'CREATE TABLE t (id int PRIMARY KEY, v d, w e NOT NULL, o opt, ds d[], p pair, ps pair[])',
      "INSERT INTO t VALUES (1, 'NULL', 'x', NULL, ARRAY['NULL', '']::d[], ROW('a', NULL), NULL)",
      "INSERT INTO t VALUES (2, '', 'y', 'a', NULL, NULL, ARRAY[ROW('', NULL)::pair, NULL])",
    ],
  },
  ...(
    [
      ['xml with control characters', 'xml', "xmlelement(name a, E'x\\x01y')"],
      ['a circle with a negative radius', 'circle', 'circle(point(0, 0), -1)'],
      ['a circle with a negative radius in an array', 'circle[]', 'ARRAY[circle(point(0, 0), -1)]'],
      ['an offset of 17 hours', 'timetz', "timetz '10:00+00' AT TIME ZONE interval '17 hours'"],
      ['an empty lexeme', 'tsvector', 'array_to_tsvector(\'{"",a}\')', 13],
      ['a byte above 127', '"char"', '(-56)::int::"char"', 14],
    ] as const
  ).map(
    ([what, type, value, from]): PostgresCase => ({
      name: `a value that its type refuses: ${what}`,
      verdict: 'blocked',
      reasons: ['system-values'],
      quiet: ['t'],
      ...(from === undefined ? {} : { from }),
      setup: [`CREATE TABLE t (id int PRIMARY KEY, v ${type})`, `INSERT INTO t SELECT 1, ${value}`],
    }),
  ),
  ...([257, 256] as const).map(
    (depth): PostgresCase => ({
      name: `a value that its type ${depth > 256 ? 'refuses' : 'accepts'}: xml of ${depth} nested elements`,
      ...(depth > 256 ? { verdict: 'blocked', reasons: ['system-values'] } : { verdict: 'continuous' }),
      quiet: ['t'],
      setup: [
        'CREATE TABLE t (id int PRIMARY KEY, v xml)',
        `DO $$ DECLARE x xml := '<a/>'; BEGIN FOR i IN 2..${depth} LOOP x := xmlelement(name a, x); END LOOP; INSERT INTO t VALUES (1, x); END $$`,
      ],
    }),
  ),
  ...([13, 15, 16] as const).map(
    (from): PostgresCase => ({
      name: `values that their types accept: xml, circles, offsets, documents and bytes of ${from}`,
      verdict: 'continuous',
      quiet: ['t'],
      from,
      setup: [
        'CREATE TABLE t (id int PRIMARY KEY, x xml, c circle, cs circle[], z timetz, v tsvector, b "char")',
        `INSERT INTO t VALUES (1, E'<a b="1&gt;/>">\\t<!-- <b> --><c/><![CDATA[<d>]]>\\n</a>', '<(-1,-2),0>', '{"<(0,0),3>"}', '10:00-15:59', $$'it''s' 'a '''' b':2 '\\\\'$$, 'x')`,
        ...(from < 16 ? [] : [`INSERT INTO t (id, b) VALUES (2, (-56)::int::"char")`]),
      ],
    }),
  ),
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
