import { type PostgresCase, pgcopydbLimits } from '../case.ts';

const kinds = ['CREATE TABLE kinds (kind text PRIMARY KEY)', "INSERT INTO kinds VALUES ('a'), ('b')"];

/** A function that needs the search_path, as the one that is called by what is broken. */
const isKind =
  'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN EXISTS (SELECT FROM kinds WHERE kind = $1); END$$';

const byLength = [
  'CREATE FUNCTION len(text) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT length($1)$$',
  'CREATE FUNCTION compared(text, text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN len($1) - len($2); END$$',
  'CREATE OPERATOR CLASS by_length FOR TYPE text USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compared(text, text)',
];

const ranges = [
  'CREATE FUNCTION len(text) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$SELECT length($1)::float8$$',
  'CREATE FUNCTION apart(text, text) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN len($1) - len($2); END$$',
  'CREATE TYPE words AS RANGE (SUBTYPE = text, SUBTYPE_DIFF = apart)',
  'CREATE TABLE t (id int PRIMARY KEY, r words)',
];

const otherOperator = {
  truth: 'blocked',
  why: 'an expression is not evaluated with the operator that the target finds by its name; the report says so, and a rehearsal finds it',
} as const;

const otherMeaning = {
  truth: 'blocked',
  why: 'the name has another meaning with an empty search_path, and a function of a user is not called; the report names it, and a rehearsal finds it',
} as const;

const hstoreTable = [
  'CREATE EXTENSION hstore',
  'CREATE TABLE t (id int PRIMARY KEY, a hstore, b hstore)',
  "INSERT INTO t VALUES (1, 'a=>1', 'a=>2'), (2, NULL, NULL)",
];

/** Things that are called by a text without their schema, and where such a text is called. */
export const unresolvedNameCases: readonly PostgresCase[] = [
  {
    name: 'without a schema: what compares the entries of an index',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...byLength,
      'CREATE TABLE t (id int PRIMARY KEY, w text)',
      'INSERT INTO t SELECT i, i::text FROM generate_series(1, 30) i',
      'CREATE INDEX ON t (w by_length)',
    ],
  },
  {
    name: 'without a schema: what chooses a partition by the hash',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE FUNCTION half(int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT $1::bigint / 2$$',
      'CREATE FUNCTION hashed(int, bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN half($1); END$$',
      'CREATE OPERATOR CLASS halves FOR TYPE int USING hash AS OPERATOR 1 =, FUNCTION 2 hashed(int, bigint)',
      'CREATE TABLE p (id int NOT NULL) PARTITION BY HASH (id halves)',
      'CREATE TABLE p_0 PARTITION OF p FOR VALUES WITH (MODULUS 1, REMAINDER 0)',
      'ALTER TABLE p_0 ADD PRIMARY KEY (id)',
      'INSERT INTO p VALUES (1), (2)',
    ],
  },
  {
    name: 'without a schema: the difference of a range type',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...ranges,
      "INSERT INTO t SELECT i, words(i::text, i::text || 'x') FROM generate_series(1, 3000) i",
      'CREATE INDEX ON t USING gist (r)',
    ],
  },
  {
    name: 'without a schema: the difference of a range type, with few rows',
    pgcopydb: pgcopydbLimits.statistics,
    verdict: 'continuous',
    setup: [...ranges, "INSERT INTO t VALUES (1, words('a', 'b')), (2, NULL)", 'CREATE INDEX ON t USING gist (r)'],
    quiet: ['t'],
  },
  {
    name: 'without a schema: an operator of hstore in a CHECK',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE EXTENSION hstore',
      "CREATE FUNCTION has_a(hstore) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN $1 ? 'a'; END$$",
      'CREATE TABLE things (id int PRIMARY KEY, h hstore CHECK (has_a(h)))',
      "INSERT INTO things VALUES (1, 'a=>1')",
    ],
  },
  {
    name: 'without a schema: an operator of hstore in an index, SQL',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE EXTENSION hstore',
      "CREATE FUNCTION a_of(h hstore) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT h -> 'a'$$",
      'CREATE TABLE things (id int PRIMARY KEY, h hstore)',
      'CREATE INDEX ON things (a_of(h))',
      "INSERT INTO things VALUES (1, 'a=>1')",
    ],
  },
  {
    name: 'without a schema: an operator of pg_trgm',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE SCHEMA extensions',
      'CREATE EXTENSION pg_trgm SCHEMA extensions',
      'ALTER DATABASE d1 SET search_path = public, extensions',
      "CREATE FUNCTION is_like(word text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN word % 'words' OR true; END$$",
      'CREATE TABLE things (id int PRIMARY KEY, a text CHECK (is_like(a)))',
      "INSERT INTO things VALUES (1, 'word')",
    ],
  },
  {
    name: 'without a schema: an operator of ltree',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE EXTENSION ltree',
      "CREATE FUNCTION in_top(ltree) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT $1 <@ 'top'::public.ltree$$",
      'CREATE TABLE things (id int PRIMARY KEY, p ltree CHECK (in_top(p)))',
      "INSERT INTO things VALUES (1, 'top.a')",
    ],
  },
  {
    name: 'without a schema: an operator of citext, which falls back to text',
    verdict: 'continuous',
    unproven: ['function-results'],
    setup: [
      'CREATE EXTENSION citext',
      "CREATE FUNCTION is_a(citext) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT $1 = 'a' OR $1 = 'A'$$",
      'CREATE TABLE things (id int PRIMARY KEY, c citext CHECK (is_a(c)))',
      "INSERT INTO things VALUES (1, 'A')",
    ],
  },
  {
    name: 'without a schema: an operator of intarray that arrays have anyway',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION intarray',
      "CREATE FUNCTION has_one(int[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT $1 @> '{1}'::int[] AND $1 && ARRAY[1]$$",
      'CREATE TABLE things (id int PRIMARY KEY, a int[] CHECK (has_one(a)))',
      "INSERT INTO things VALUES (1, '{1}')",
    ],
  },
  {
    name: 'without a schema: an operator of intarray that only it has',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE EXTENSION intarray',
      "CREATE FUNCTION has_one(int[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT $1 @@ '1'::public.query_int$$",
      'CREATE TABLE things (id int PRIMARY KEY, a int[] CHECK (has_one(a)))',
      "INSERT INTO things VALUES (1, '{1}')",
    ],
  },
  {
    name: 'without a schema: operators of hstore with their schema',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION hstore',
      "CREATE FUNCTION has_a(hstore) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN $1 OPERATOR(public.?) 'a'; END$$",
      'CREATE TABLE things (id int PRIMARY KEY, h hstore CHECK (has_a(h)))',
      "INSERT INTO things VALUES (1, 'a=>1')",
    ],
  },
  {
    name: 'without a schema: nextval',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE SEQUENCE counter',
      "CREATE FUNCTION counted(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN nextval('counter') > 0; END$$",
      'CREATE TABLE things (id int PRIMARY KEY CHECK (counted(id)))',
      'INSERT INTO things VALUES (1)',
    ],
  },
  {
    name: 'without a schema: nextval of a text',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE SEQUENCE counter',
      "CREATE FUNCTION counted(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN nextval('counter'::text) > 0; END$$",
      'CREATE TABLE things (id int PRIMARY KEY CHECK (counted(id)))',
      'INSERT INTO things VALUES (1)',
    ],
  },
  {
    name: 'without a schema: in EXECUTE',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE TABLE others (id int PRIMARY KEY)',
      "CREATE FUNCTION looked(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN EXECUTE 'SELECT 1 FROM others'; RETURN true; END$$",
      'CREATE TABLE things (id int PRIMARY KEY CHECK (looked(id)))',
      'INSERT INTO things VALUES (1)',
    ],
  },
  {
    name: 'without a schema: regclass',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      "CREATE FUNCTION is_there(int) RETURNS boolean LANGUAGE sql AS $$SELECT 'kinds'::regclass IS NOT NULL$$",
      'CREATE TABLE things (id int PRIMARY KEY CHECK (is_there(id)))',
      'INSERT INTO things VALUES (1)',
    ],
  },
  {
    name: 'without a schema: to_regclass',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      "CREATE FUNCTION is_there(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN to_regclass('kinds') IS NOT NULL; END$$",
      'CREATE TABLE things (id int PRIMARY KEY CHECK (is_there(id)))',
      'INSERT INTO things VALUES (1)',
    ],
  },
  {
    name: 'without a schema: in the key of partitions',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      isKind,
      'CREATE TABLE things (kind text) PARTITION BY LIST (is_kind(kind))',
      'CREATE TABLE things_known PARTITION OF things FOR VALUES IN (true)',
      'ALTER TABLE things_known REPLICA IDENTITY FULL',
      "INSERT INTO things VALUES ('a'), ('b')",
    ],
    quiet: ['things', 'things_known'],
  },
  {
    name: 'without a schema: in a DEFAULT',
    verdict: 'continuous',
    setup: [
      ...kinds,
      'CREATE FUNCTION a_kind() RETURNS text LANGUAGE sql AS $$SELECT min(kind) FROM kinds$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text DEFAULT a_kind())',
      'INSERT INTO things VALUES (1)',
    ],
    app: ['INSERT INTO things (id) VALUES (10)'],
  },
  {
    name: 'without a schema: in an exclusion constraint',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      isKind,
      'CREATE TABLE things (id int PRIMARY KEY, kind text, EXCLUDE USING hash (is_kind(kind) WITH =))',
      "INSERT INTO things VALUES (1, 'a')",
    ],
    quiet: ['things'],
  },
  {
    name: 'without a schema: in the predicate of an index',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      isKind,
      'CREATE TABLE things (id int PRIMARY KEY, kind text)',
      'CREATE INDEX ON things (kind) WHERE is_kind(kind)',
      "INSERT INTO things VALUES (1, 'a')",
    ],
  },
  {
    name: 'without a schema: in a statistics object',
    verdict: 'continuous',
    setup: [
      ...kinds,
      isKind,
      'CREATE FUNCTION inlined(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT is_kind($1)$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text)',
      'CREATE STATISTICS s ON (is_kind(kind)), kind FROM things',
      'CREATE STATISTICS s2 ON (inlined(kind)), kind FROM things',
      "INSERT INTO things VALUES (1, 'a')",
      'ANALYZE things',
    ],
  },
  {
    name: 'without a schema: in the WHEN of a trigger that always fires',
    verdict: 'dump',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      isKind,
      'CREATE FUNCTION give() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text)',
      'CREATE TRIGGER giving BEFORE INSERT ON things FOR EACH ROW WHEN (is_kind(NEW.kind)) EXECUTE FUNCTION give()',
      'ALTER TABLE things ENABLE ALWAYS TRIGGER giving',
      "INSERT INTO things VALUES (1, 'a')",
    ],
  },
  {
    name: 'without a schema: a trigger for replicas that gives back no row',
    verdict: 'dump',
    reasons: ['always-triggers'],
    setup: [
      'CREATE FUNCTION give() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text)',
      'CREATE TRIGGER giving BEFORE DELETE ON things FOR EACH ROW EXECUTE FUNCTION give()',
      'ALTER TABLE things ENABLE REPLICA TRIGGER giving',
      "INSERT INTO things VALUES (1, 'a'), (2, 'b')",
    ],
    app: ['DELETE FROM things WHERE id = 2'],
  },
  {
    name: 'without a schema: in a policy',
    verdict: 'continuous',
    setup: [
      ...kinds,
      isKind,
      'CREATE TABLE things (id int PRIMARY KEY, kind text)',
      'ALTER TABLE things ENABLE ROW LEVEL SECURITY',
      'ALTER TABLE things FORCE ROW LEVEL SECURITY',
      'CREATE POLICY p ON things USING (is_kind(kind)) WITH CHECK (is_kind(kind))',
      "INSERT INTO things VALUES (1, 'a')",
    ],
  },
  {
    name: 'without a schema: after a RETURN',
    verdict: 'continuous',
    setup: [
      ...kinds,
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN true; PERFORM kind FROM kinds; END$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK (is_kind(kind)))',
      "INSERT INTO things VALUES (1, 'a')",
    ],
  },
  {
    name: 'without a schema: in both branches',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      "CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF $1 = 'a' THEN RETURN EXISTS (SELECT FROM kinds); ELSE RETURN (SELECT count(*) > 0 FROM kinds); END IF; END$$",
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK (is_kind(kind)))',
      "INSERT INTO things VALUES (1, 'a')",
    ],
  },
  {
    name: 'without a schema: in the ELSE',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF $1 IS NULL THEN RETURN true; ELSE RETURN EXISTS (SELECT FROM kinds WHERE kind = $1); END IF; END$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK (is_kind(kind)))',
      "INSERT INTO things VALUES (1, 'a')",
    ],
  },
  {
    name: 'without a schema: in the function of a materialized view',
    pgcopydb: pgcopydbLimits.matviews,
    verdict: 'continuous',
    setup: [
      'CREATE TABLE kinds (kind text PRIMARY KEY)',
      "INSERT INTO kinds VALUES ('a'), ('b'), ('c')",
      'CREATE FUNCTION n_kinds() RETURNS bigint LANGUAGE plpgsql STABLE AS $$BEGIN RETURN (SELECT count(*) FROM kinds); END$$',
      'CREATE MATERIALIZED VIEW mv AS SELECT n_kinds() AS n',
    ],
  },
  {
    name: 'without a schema: in an event trigger',
    verdict: 'dump',
    reasons: ['search-path'],
    setup: [
      'CREATE TABLE ddl_log (id serial PRIMARY KEY, what text)',
      'CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO ddl_log (what) VALUES (tg_tag); END$$',
      'CREATE EVENT TRIGGER noting ON ddl_command_end EXECUTE FUNCTION note()',
    ],
  },
  {
    name: 'without a schema: behind a view',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      isKind,
      "CREATE VIEW known AS SELECT is_kind('a') AS yes",
      'CREATE FUNCTION any_known(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT yes FROM public.known); END$$',
      'CREATE TABLE things (id int PRIMARY KEY CHECK (any_known(id)))',
      'INSERT INTO things VALUES (1)',
    ],
  },
  {
    name: 'without a schema: in the key of partitions without rows, put in its place',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      ...kinds,
      isKind,
      'CREATE FUNCTION is_one(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT is_kind($1)$$',
      'CREATE TABLE things (kind text) PARTITION BY LIST (is_one(kind))',
      'CREATE TABLE things_known PARTITION OF things FOR VALUES IN (true)',
    ],
    quiet: ['things', 'things_known'],
  },
  {
    name: 'without a schema: two hstores put together',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE EXTENSION hstore',
      'CREATE FUNCTION joined(l hstore, r hstore) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT (l || r)::text$$',
      'CREATE TABLE things (id int PRIMARY KEY, h hstore, i hstore, CHECK (joined(h, i) IS NOT NULL))',
      "INSERT INTO things VALUES (1, 'a=>1', 'b=>1')",
    ],
  },
  {
    name: 'without a schema: a type declared in a branch',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      "CREATE TYPE mood AS ENUM ('good')",
      'CREATE FUNCTION is_good(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF $1 < 0 THEN DECLARE m mood; BEGIN RETURN false; EXCEPTION WHEN others THEN RETURN true; END; END IF; RETURN true; END$$',
      'CREATE TABLE things (id int PRIMARY KEY CHECK (is_good(id)))',
      'INSERT INTO things VALUES (1)',
    ],
  },
  {
    name: 'without a schema: a text search configuration',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE TEXT SEARCH CONFIGURATION plain (COPY = simple)',
      "CREATE FUNCTION found_by(t text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN to_tsvector('plain', t); END$$",
      'CREATE TABLE docs (id int PRIMARY KEY, body text)',
      'CREATE INDEX ON docs USING gin (found_by(body))',
      "INSERT INTO docs VALUES (1, 'words')",
    ],
  },
  {
    name: 'without a schema: the dictionary of unaccent, of a table without rows',
    verdict: 'blocked',
    reasons: ['search-path'],
    quick: true,
    setup: [
      'CREATE EXTENSION unaccent',
      "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$SELECT public.unaccent('unaccent', $1)$$",
      'CREATE TABLE words (id int PRIMARY KEY, word text)',
      'CREATE INDEX ON words (plain(word))',
      'CREATE RULE nothing AS ON INSERT TO words DO INSTEAD NOTHING',
    ],
  },
  {
    name: 'the dictionary of unaccent with its schema, or that of the function, and a configuration of the server',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION unaccent',
      'CREATE TEXT SEARCH CONFIGURATION english (COPY = simple)',
      "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$SELECT public.unaccent('public.unaccent', public.unaccent($1))$$",
      "CREATE FUNCTION found_by(t text) RETURNS tsvector LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN to_tsvector('english', t); END$$",
      'CREATE TABLE words (id int PRIMARY KEY, word text)',
      'CREATE INDEX ON words (plain(word))',
      'CREATE INDEX ON words USING gin (found_by(word))',
      "INSERT INTO words VALUES (1, 'words')",
    ],
  },
  {
    name: 'without a schema: in the index of a materialized view, SQL',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT replace($1, 'ä', 'a')$$",
      'CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT lower(plain($1))$$',
      "CREATE MATERIALIZED VIEW words AS SELECT 'Ärger'::text AS word",
      'CREATE UNIQUE INDEX ON words (folded(word))',
    ],
  },
  {
    name: 'without a schema: in the index of a materialized view, which is empty there',
    pgcopydb: pgcopydbLimits.matviews,
    verdict: 'continuous',
    setup: [
      "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT replace($1, 'ä', 'a')$$",
      'CREATE FUNCTION folded(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN lower(plain($1)); END$$',
      "CREATE MATERIALIZED VIEW words AS SELECT 'Ärger'::text AS word",
      'CREATE INDEX ON words (folded(word))',
    ],
  },
  ...['email[]', 'strict_email', 'person', 'emails'].map(
    (type): PostgresCase => ({
      name: `without a schema: in a domain within ${type}`,
      verdict: 'blocked',
      reasons: ['search-path'],
      setup: [
        'CREATE FUNCTION has_at(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT true$$',
        'CREATE FUNCTION is_email(t text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN has_at(t); END$$',
        'CREATE DOMAIN email AS text CHECK (is_email(VALUE))',
        'CREATE DOMAIN strict_email AS email CHECK (length(VALUE) > 0)',
        'CREATE TYPE person AS (mail email, born int)',
        'CREATE TYPE emails AS RANGE (subtype = email)',
        `CREATE TABLE people (id int PRIMARY KEY, v ${type})`,
        `INSERT INTO people VALUES (1, '${{ 'email[]': '{a}', strict_email: 'a', person: '(a,1)' }[type] ?? '[a,b)'}')`,
      ],
    }),
  ),
  {
    name: 'without a schema: IS DISTINCT FROM of hstore in a function',
    verdict: 'blocked',
    reasons: ['search-path'],
    quiet: ['t'],
    setup: [
      'CREATE EXTENSION hstore',
      'CREATE FUNCTION f(a hstore, b hstore) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT CASE WHEN a IS DISTINCT FROM b THEN 1::text ELSE 0::text END$$',
      'CREATE TABLE t (id int PRIMARY KEY, a hstore, b hstore, g text GENERATED ALWAYS AS (f(a, b)) STORED)',
      "INSERT INTO t VALUES (1, 'a=>1', 'a=>1')",
    ],
  },
  ...[
    ['IN', "$1 IN ('yes', 'y')"],
    ['CASE', "CASE $1 WHEN 'yes' THEN true ELSE false END"],
    ['LIKE', "$1 LIKE 'y%'"],
    ['replace()', "replace($1, 'y', '') = 'es'"],
  ].map(
    ([what, expression]): PostgresCase => ({
      name: `without a schema: ${what} of citext in the function of a generated column`,
      verdict: 'continuous',
      unproven: ['function-results'],
      differs: otherMeaning,
      quiet: ['t'],
      setup: [
        'CREATE EXTENSION citext',
        `CREATE FUNCTION f(citext) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$SELECT ${expression}$$`,
        'CREATE TABLE t (id int PRIMARY KEY, a citext, g boolean GENERATED ALWAYS AS (f(a)) STORED)',
        "INSERT INTO t VALUES (1, 'Yes'), (2, 'no')",
      ],
    }),
  ),
  {
    name: 'without a schema: round() of the user, beside the one of PostgreSQL',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: otherMeaning,
    setup: [
      'CREATE FUNCTION round(float8, int) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$SELECT pg_catalog.round($1::numeric, $2)$$',
      'CREATE FUNCTION f(a float8) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT round(a, 2)::text$$',
      'CREATE TABLE t (id int PRIMARY KEY, a float8, g text GENERATED ALWAYS AS (f(a)) STORED)',
      'INSERT INTO t VALUES (1, 1.234)',
    ],
  },
  {
    name: 'without a schema: functions that call PostgreSQL alone, beside citext and hstore',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION citext',
      'CREATE EXTENSION hstore',
      "CREATE FUNCTION f(a text, b text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT CASE a WHEN 'x' THEN replace(a, 'x', 'y') ELSE nullif(b, 'z') END WHERE a IN ('x', 'y') AND a LIKE '%' AND a IS NOT DISTINCT FROM a$$",
      'CREATE TABLE t (id int PRIMARY KEY, a text, g text GENERATED ALWAYS AS (f(a, a)) STORED)',
      "INSERT INTO t VALUES (1, 'x')",
    ],
  },
  {
    name: 'without a schema: what an index of an empty table calls with a constant',
    verdict: 'blocked',
    reasons: ['search-path'],
    empty: true,
    setup: [
      'CREATE FUNCTION inner_f(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT upper($1)$$',
      'CREATE FUNCTION f(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN inner_f($1); END$$',
      'CREATE TABLE t (id int PRIMARY KEY, w text)',
      "CREATE INDEX ON t (w) WHERE w = f('x')",
    ],
  },
  {
    name: 'a bare operator: hstore in the WHEN of a trigger',
    verdict: 'blocked',
    reasons: ['search-path'],
    quick: true,
    setup: [
      ...hstoreTable,
      'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW WHEN (OLD.a IS DISTINCT FROM NEW.a) EXECUTE FUNCTION f()',
    ],
  },
  {
    name: 'a bare operator: hstore in a view with IS DISTINCT FROM',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [...hstoreTable, 'CREATE VIEW v AS SELECT id FROM t WHERE a IS DISTINCT FROM b'],
  },
  {
    name: 'a bare operator: hstore in a view with NATURAL JOIN',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [...hstoreTable, 'CREATE VIEW v AS SELECT a FROM t NATURAL JOIN (SELECT a FROM t) u'],
  },
  {
    name: 'a bare operator: ltree in a row of a view, after an integer',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      'CREATE EXTENSION ltree',
      'CREATE TABLE t (id int PRIMARY KEY, p ltree)',
      "INSERT INTO t VALUES (1, 'a.b')",
      "CREATE VIEW v AS SELECT id FROM t WHERE (id, p) < (5, 'b'::ltree)",
    ],
  },
  {
    name: 'a bare operator: an integer in a row of a view, after hstore',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [...hstoreTable, 'CREATE VIEW v AS SELECT id FROM t WHERE (a, id) IN (SELECT a, id FROM t)'],
  },
  {
    name: 'a bare operator: citext in generated columns',
    verdict: 'continuous',
    unproven: ['search-path'],
    differs: otherOperator,
    quick: true,
    quiet: ['t'],
    setup: [
      'CREATE EXTENSION citext',
      "CREATE TABLE t (id int PRIMARY KEY, a citext, kind int GENERATED ALWAYS AS (CASE a WHEN 'yes' THEN 1 ELSE 0 END) STORED, changed boolean GENERATED ALWAYS AS (a IS DISTINCT FROM 'yes') STORED)",
      "INSERT INTO t VALUES (1, 'Yes'), (2, 'no')",
    ],
  },
  {
    name: 'a bare operator: citext in a CHECK with NULLIF',
    verdict: 'continuous',
    unproven: ['search-path'],
    differs: otherOperator,
    quiet: ['t'],
    setup: [
      'CREATE EXTENSION citext',
      "CREATE TABLE t (id int PRIMARY KEY, a citext CHECK (NULLIF(a, 'none') IS NULL))",
      "INSERT INTO t VALUES (1, 'None'), (2, 'none')",
    ],
  },
  {
    name: 'a bare operator: citext in a view and in the WHEN of a trigger',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION citext',
      'CREATE TABLE a (email citext PRIMARY KEY, n int)',
      'CREATE TABLE b (email citext PRIMARY KEY, m int)',
      "INSERT INTO a VALUES ('X', 1), ('y', 2)",
      'CREATE VIEW v AS SELECT * FROM a JOIN b USING (email)',
      'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'CREATE TRIGGER tr BEFORE UPDATE ON a FOR EACH ROW WHEN (OLD.email IS DISTINCT FROM NEW.email) EXECUTE FUNCTION f()',
    ],
  },
  {
    name: 'a bare operator: comparisons of hstore and citext whose operator has a place for a schema',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION citext',
      ...hstoreTable,
      "CREATE TABLE c (id int PRIMARY KEY, a citext UNIQUE CHECK (a = 'x' OR a IN ('y', 'z') OR a LIKE 'w%'))",
      "INSERT INTO c VALUES (1, 'X')",
      'CREATE VIEW v AS SELECT DISTINCT a, count(*) AS n FROM t WHERE a = b OR a IN (SELECT b FROM t) OR (a, id) IN ((b, 1)) GROUP BY a UNION SELECT b, 1 FROM t ORDER BY 2',
      'CREATE VIEW w AS SELECT t IS DISTINCT FROM t AS x, ARRAY[a] IS DISTINCT FROM ARRAY[b] AS y, CASE WHEN a = b THEN 1 END AS z FROM t',
    ],
  },
];
