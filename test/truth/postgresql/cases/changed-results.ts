import { type PostgresCase, pgcopydbLimits, unevaluatedExpression } from '../case.ts';

const okEmail =
  "CREATE FUNCTION ok_email(t text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN position('@' IN t) > 0; END $$";

/** Does not accept what the function above accepted. */
const stricter =
  "CREATE OR REPLACE FUNCTION ok_email(t text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN t ~ '^[^@]+@[^@]+$'; END $$";

const users = [
  'CREATE TABLE u (id int PRIMARY KEY, email text CHECK (ok_email(email)))',
  "INSERT INTO u VALUES (1, '@x'), (2, 'a@b.c')",
];

/** The first accepts every number, the second only even ones. */
const near = [
  'CREATE FUNCTION near(a int, b int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT a <> b + 1000 $$',
  'CREATE OR REPLACE FUNCTION near(a int, b int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT (a - b) % 2 = 0 $$',
] as const;

const half = [
  'CREATE FUNCTION part(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT n $$',
  'CREATE OR REPLACE FUNCTION part(n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT n / 2 $$',
] as const;

const labels = [
  "CREATE TYPE status AS ENUM ('draft', 'live')",
  'CREATE FUNCTION label(s status) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT s::text $$',
  'CREATE TABLE u (id int PRIMARY KEY, s status, title text, label text GENERATED ALWAYS AS (label(s) || title) STORED)',
  "INSERT INTO u (id, s, title) VALUES (1, 'draft', 'x'), (2, 'live', 'y')",
];

const tenThings = 'INSERT INTO things (id) SELECT n FROM generate_series(1, 10) n';

const dictionaryCases: readonly PostgresCase[] = (
  [
    [
      'a generated column',
      true,
      ', v tsvector GENERATED ALWAYS AS (to_tsvector($$public.cfg$$, n)) STORED',
      'computed-again',
    ],
    ['a CHECK', true, ', CHECK (to_tsvector($$public.cfg$$, n) @@ $$123$$::tsquery)', 'checked-again'],
    ['an index', true, '', undefined],
    [
      'a generated column',
      false,
      ', v tsvector GENERATED ALWAYS AS (to_tsvector($$public.cfg$$, n)) STORED',
      undefined,
    ],
  ] as const
).map(
  ([of, isAltered, column, id]): PostgresCase => ({
    name: `${isAltered ? 'an altered' : 'the'} dictionary of an extension, in ${of}`,
    verdict: 'continuous',
    ...(id === undefined
      ? {}
      : {
          unproven: [id],
          differs: {
            truth: 'blocked',
            why: 'the options are not migrated, and whether they change a stored document is not computed; the report names the dictionary',
          } as const,
        }),
    quiet: ['t'],
    setup: [
      'CREATE EXTENSION dict_int',
      ...(isAltered ? ['ALTER TEXT SEARCH DICTIONARY intdict (MAXLEN = 3)'] : []),
      'CREATE TEXT SEARCH CONFIGURATION cfg (COPY = simple)',
      'ALTER TEXT SEARCH CONFIGURATION cfg ALTER MAPPING FOR int, uint WITH intdict',
      `CREATE TABLE t (id int PRIMARY KEY, n text${column})`,
      ...(of === 'an index' ? ['CREATE INDEX ON t USING gin (to_tsvector($$public.cfg$$, n))'] : []),
      "INSERT INTO t (id, n) SELECT g, '12345678' FROM generate_series(1, 9) g",
    ],
  }),
);

/** What no row of the catalogs proves: a rehearsal, or the query in the report, does. */
const unprovenCases: readonly PostgresCase[] = [
  {
    name: 'changed since stored: the function of a CHECK was replaced',
    verdict: 'continuous',
    unproven: ['checked-again'],
    quick: true,
    differs: unevaluatedExpression,
    to: 18,
    setup: [okEmail, ...users, stricter],
  },
  {
    name: 'changed since stored: the function of a CHECK was replaced, and the constraint renamed later',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [okEmail, ...users, stricter, 'ALTER TABLE u RENAME CONSTRAINT u_email_check TO later'],
  },
  {
    name: 'changed since stored: a function that the function of a CHECK calls was replaced',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [
      okEmail,
      'CREATE FUNCTION ok_address(t text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN public.ok_email(t); END $$',
      'CREATE TABLE u (id int PRIMARY KEY, email text CHECK (ok_address(email)))',
      "INSERT INTO u VALUES (1, '@x'), (2, 'a@b.c')",
      stricter,
    ],
  },
  {
    name: 'changed since stored: the function of an operator in a CHECK was replaced',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [
      near[0],
      'CREATE OPERATOR ~~~ (LEFTARG = int, RIGHTARG = int, FUNCTION = near)',
      'CREATE TABLE things (id int PRIMARY KEY CHECK (id ~~~ 0))',
      tenThings,
      near[1],
    ],
  },
  {
    name: 'changed since stored: the function of an aggregate in the function of a CHECK was replaced',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE FUNCTION step(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT a + b $$',
      'CREATE AGGREGATE total(int) (SFUNC = step, STYPE = int, INITCOND = 0)',
      'CREATE FUNCTION positive(n int) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT public.total(x) > 0 FROM unnest(ARRAY[n, n]) x $$',
      'CREATE TABLE things (id int PRIMARY KEY CHECK (positive(id)))',
      tenThings,
      'CREATE OR REPLACE FUNCTION step(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT a - b $$',
    ],
  },
  {
    name: 'changed since stored: the function of a domain was replaced',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [
      okEmail,
      'CREATE DOMAIN email AS text CHECK (ok_email(VALUE))',
      'CREATE TABLE u (id int PRIMARY KEY, email email)',
      "INSERT INTO u VALUES (1, '@x'), (2, 'a@b.c')",
      stricter,
    ],
  },
  {
    name: 'changed since stored: the function of a unique index was replaced',
    verdict: 'continuous',
    unproven: ['checked-again'],
    quick: true,
    differs: unevaluatedExpression,
    setup: [
      half[0],
      'CREATE TABLE things (id int PRIMARY KEY)',
      'CREATE UNIQUE INDEX ON things (part(id))',
      tenThings,
      half[1],
    ],
  },
  {
    name: 'changed since stored: the function in the predicate of a unique index was replaced',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [
      half[0],
      'CREATE TABLE things (id int PRIMARY KEY, kind text)',
      'CREATE UNIQUE INDEX ON things (kind) WHERE part(id) = 1',
      "INSERT INTO things (id, kind) SELECT n, 'same' FROM generate_series(1, 10) n",
      half[1],
    ],
  },
  {
    name: 'changed since stored: the function of an exclusion constraint was replaced',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [half[0], 'CREATE TABLE things (id int PRIMARY KEY, EXCLUDE ((part(id)) WITH =))', tenThings, half[1]],
  },
  {
    name: 'changed since stored: the function of a partition key was replaced',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    quiet: ['things_low', 'things_high'],
    setup: [
      half[0],
      'CREATE TABLE things (id int) PARTITION BY RANGE (part(id))',
      'CREATE TABLE things_low PARTITION OF things FOR VALUES FROM (MINVALUE) TO (6)',
      'CREATE TABLE things_high PARTITION OF things FOR VALUES FROM (6) TO (MAXVALUE)',
      'ALTER TABLE things_low REPLICA IDENTITY FULL',
      'ALTER TABLE things_high REPLICA IDENTITY FULL',
      tenThings,
      half[1],
    ],
  },
  {
    name: 'changed since stored: the function of a generated column was replaced',
    verdict: 'continuous',
    unproven: ['computed-again'],
    quick: true,
    differs: unevaluatedExpression,
    to: 18,
    setup: [
      'CREATE FUNCTION vat(n numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT n * 0.19 $$',
      'CREATE TABLE u (id int PRIMARY KEY, n numeric, v numeric GENERATED ALWAYS AS (vat(n)) STORED)',
      'INSERT INTO u SELECT n, 100 FROM generate_series(1, 10) n',
      'CREATE OR REPLACE FUNCTION vat(n numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$ SELECT n * 0.16 $$',
      'INSERT INTO u VALUES (11, 100)',
    ],
  },
  {
    name: 'changed since stored: the text search configuration of a generated column was altered',
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TEXT SEARCH CONFIGURATION own (COPY = english)',
      "CREATE TABLE docs (id int PRIMARY KEY, body text, words tsvector GENERATED ALWAYS AS (to_tsvector('public.own', body)) STORED)",
      "INSERT INTO docs SELECT n, 'running dogs' FROM generate_series(1, 10) n",
      'ALTER TEXT SEARCH CONFIGURATION own ALTER MAPPING FOR asciiword WITH simple',
    ],
  },
  {
    name: 'changed since stored: a column was added to the row of a CHECK',
    verdict: 'continuous',
    unproven: ['checked-again'],
    quick: true,
    differs: unevaluatedExpression,
    setup: [
      'CREATE TABLE w (id int PRIMARY KEY, a int, b text, CHECK (w IS NOT NULL))',
      "INSERT INTO w VALUES (1, 2, 'x'), (2, 3, 'y')",
      'ALTER TABLE w ADD note text',
    ],
    quiet: ['w'],
  },
  {
    name: 'changed since stored: an attribute was added to the type of a CHECK',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TYPE addr AS (street text, city text)',
      'CREATE TABLE c (id int PRIMARY KEY, a addr CHECK (a IS NOT NULL))',
      "INSERT INTO c VALUES (1, ('x', 'y')), (2, ('x', 'y'))",
      'ALTER TYPE addr ADD ATTRIBUTE zip text',
    ],
    quiet: ['c'],
  },
  {
    name: 'changed since stored: an attribute was added to the type of a domain',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TYPE addr AS (street text, city text)',
      'CREATE DOMAIN whole AS addr CHECK (VALUE IS NOT NULL)',
      'CREATE TABLE c (id int PRIMARY KEY, a whole)',
      "INSERT INTO c VALUES (1, ('x', 'y')), (2, ('x', 'y'))",
      'ALTER TYPE addr ADD ATTRIBUTE zip text',
    ],
    quiet: ['c'],
  },
  {
    name: 'changed since stored: an attribute was dropped from the type in a generated column',
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TYPE addr AS (street text, zip text)',
      'CREATE TABLE c (id int PRIMARY KEY, a addr, complete boolean GENERATED ALWAYS AS (a IS NOT NULL) STORED)',
      "INSERT INTO c VALUES (1, ('x', NULL)), (2, ('x', 'y'))",
      'ALTER TYPE addr DROP ATTRIBUTE zip',
    ],
    quiet: ['c'],
  },
  {
    name: 'changed since stored: a label was renamed that a generated column writes',
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: unevaluatedExpression,
    setup: [...labels, "ALTER TYPE status RENAME VALUE 'draft' TO 'concept'"],
  },
  {
    name: 'changed since stored: a label was renamed that decides on the partition',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    setup: [
      ...labels.slice(0, 2),
      "CREATE FUNCTION region(s status) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT CASE public.label(s) WHEN 'draft' THEN 'x' ELSE 'y' END $$",
      'CREATE TABLE p (id int, s status) PARTITION BY LIST (region(s))',
      "CREATE TABLE p1 PARTITION OF p FOR VALUES IN ('x')",
      "CREATE TABLE p2 PARTITION OF p FOR VALUES IN ('y')",
      ...['p1', 'p2'].map((name) => `ALTER TABLE ${name} REPLICA IDENTITY FULL`),
      "INSERT INTO p VALUES (1, 'draft'), (2, 'live')",
      "ALTER TYPE status RENAME VALUE 'draft' TO 'concept'",
    ],
    quiet: ['p1', 'p2'],
  },
  {
    name: 'another release: unaccent in a generated column',
    verdict: 'continuous',
    unproven: ['computed-again'],
    quick: true,
    differs: unevaluatedExpression,
    to: 18,
    setup: [
      'CREATE EXTENSION unaccent',
      "CREATE FUNCTION f_unaccent(t text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT public.unaccent('public.unaccent'::regdictionary, t) $$",
      'CREATE TABLE n (id int PRIMARY KEY, name text, plain text GENERATED ALWAYS AS (f_unaccent(name)) STORED)',
      'INSERT INTO n SELECT g, chr(g) FROM generate_series(128, 55000) g',
    ],
  },
  {
    name: 'another release: a range that begins with \\w, in the regular expression of a CHECK',
    verdict: 'continuous',
    unproven: ['checked-again'],
    from: 13,
    setup: [
      "CREATE TABLE t (id int PRIMARY KEY, a text CHECK (a ~ '^[\\w-_.]+$'))",
      "INSERT INTO t VALUES (1, 'a_b'), (2, 'c.d')",
    ],
    differs: unevaluatedExpression,
  },
  {
    name: 'another release: \\w and a hyphen, in the regular expression of a CHECK',
    verdict: 'continuous',
    from: 13,
    setup: [
      "CREATE TABLE t (id int PRIMARY KEY, a text CHECK (a ~ '^[-\\w.]+ \\w-[0-9a-z-]+ [\\w-]*$'))",
      "INSERT INTO t VALUES (1, 'a-b c-d '), (2, '- e-1 f-')",
    ],
  },
  {
    name: 'another release: reserved words and normalized texts in generated columns',
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: unevaluatedExpression,
    to: 18,
    setup: [
      'CREATE TABLE n (id int PRIMARY KEY, name text, quoted text GENERATED ALWAYS AS (quote_ident(name)) STORED, plain text GENERATED ALWAYS AS (normalize(name, NFKD)) STORED)',
      'INSERT INTO n SELECT g, chr(g) FROM generate_series(128, 55000) g',
      "INSERT INTO n VALUES (1, 'system_user')",
    ],
  },
  ...(['builtin', 'icu'] as const).map(
    (provider): PostgresCase => ({
      name: `another release: full-text search with the ${provider} provider, to 18`,
      verdict: 'continuous',
      unproven: ['computed-again'],
      differs: unevaluatedExpression,
      from: 17,
      to: 18,
      quiet: ['docs'],
      create: {
        d1: `TEMPLATE template0 LOCALE_PROVIDER ${provider} ${provider === 'icu' ? "ICU_LOCALE 'tr'" : "BUILTIN_LOCALE 'C.UTF-8'"} LC_COLLATE 'C' LC_CTYPE 'C'`,
      },
      setup: [
        "CREATE TABLE docs (id int PRIMARY KEY, body text, words tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED)",
        "INSERT INTO docs VALUES (1, 'ISTANBUL ÄRGER ÖL')",
      ],
    }),
  ),
];

/** What the catalogs prove, and what is right although it is computed again. */
const provenCases: readonly PostgresCase[] = [
  {
    name: 'not changed since stored: a constraint was added again after its function was replaced',
    verdict: 'continuous',
    setup: [
      okEmail,
      ...users,
      "DELETE FROM u WHERE email = '@x'",
      stricter,
      'ALTER TABLE u DROP CONSTRAINT u_email_check, ADD CHECK (ok_email(email))',
    ],
  },
  {
    name: 'not changed since stored: a label and a column were added, and a whole row is checked',
    verdict: 'continuous',
    quick: true,
    setup: [
      ...labels,
      "ALTER TYPE status ADD VALUE 'gone' AFTER 'draft'",
      'ALTER TABLE u ADD note text',
      'CREATE TYPE addr AS (street text, city text)',
      "CREATE TABLE c (id int PRIMARY KEY, n int DEFAULT 3, a addr CHECK (a IS NOT NULL), CHECK (to_jsonb(c) ? 'id'))",
      "INSERT INTO c VALUES (1, 2, ('x', 'y')), (2, 3, ('x', 'y'))",
    ],
    quiet: ['c'],
  },
  {
    name: 'not changed since stored: expressions of each kind with functions of users',
    pgcopydb: pgcopydbLimits.exclusion,
    verdict: 'continuous',
    quick: true,
    quiet: ['parts_low'],
    setup: [
      okEmail,
      ...users,
      half[0],
      'CREATE DOMAIN email AS text CHECK (ok_email(VALUE))',
      'CREATE TABLE things (id int PRIMARY KEY, e email, g int GENERATED ALWAYS AS (part(id)) STORED, EXCLUDE ((part(id)) WITH =))',
      'CREATE UNIQUE INDEX ON things (part(id)) WHERE part(id) > 0',
      "INSERT INTO things (id, e) SELECT n, 'a@b' FROM generate_series(1, 10) n",
      'CREATE TABLE parts (id int) PARTITION BY RANGE (part(id))',
      'CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (MAXVALUE)',
      'ALTER TABLE parts_low REPLICA IDENTITY FULL',
      'INSERT INTO parts VALUES (1)',
    ],
  },
  {
    name: 'another release: full-text search with the configurations of PostgreSQL',
    verdict: 'continuous',
    to: 18,
    setup: [
      "CREATE TABLE docs (id int PRIMARY KEY, body text, words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)",
      'CREATE INDEX ON docs USING gin (words)',
      "CREATE INDEX ON docs USING gin (to_tsvector('german', body))",
      "INSERT INTO docs VALUES (1, 'running dogs')",
    ],
  },
];

/** Expressions that were evaluated when a row was stored, and that the target evaluates again. */
export const changedResultCases: readonly PostgresCase[] = [...unprovenCases, ...dictionaryCases, ...provenCases];
