import { brokenOn } from '../../../db/preflight/postgresql/broken-databases.ts';
import { type PostgresCase, pgcopydbLimits } from '../case.ts';
import { unfitSchemaCases } from './unfit-schema.ts';
import { unresolvedNameCases } from './unresolved-names.ts';

/** Those that an application leaves alone, as the counters say. */
const quiet: Readonly<Record<string, readonly string[]>> = {
  keyless_quiet: ['t'],
  nothing: ['t'],
  dropped_index: ['t'],
  broken_index: ['t'],
  usable_index: ['t'],
  leaves: ['bare leaf'],
  inherited: ['child'],
  generated_key_quiet: ['t'],
  full_generated: ['u', 't'],
  keyless_json: ['t'],
};

/** Their tables stay empty: the finding is about tables without rows. */
const empty: ReadonlySet<string> = new Set(['support_functions_unused']);

/** What is found when it is known which extensions the target has. */
const foundToo: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  untrusted: { 'untrusted-lang': 'fail continuous+dump' },
};

/** Two values that are not equal to nothing: a comparison with nothing needs no operator. */
const values: Readonly<Record<string, string>> = {
  json: `'{"a":1}'`,
  xml: "'<a/>'",
  'json[]': `ARRAY['1'::json]`,
  point: "'(1,2)'",
  polygon: "'((0,0),(1,1),(1,0))'",
  'box[]': "ARRAY['((0,0),(1,1))'::box]",
  json_word: "'1'",
  pair: `ROW(1, ARRAY['1'::json_word])`,
  jsonpath: "'$.a'",
  refcursor: "'r'",
  pair_word: `ROW(1, ARRAY['1'::json_word])::pair`,
};

/** Rows for the tables that are compared by all of their columns. */
function compared(setup: readonly string[]): readonly string[] {
  const found = setup.flatMap((text) => /^CREATE TABLE t \(a int, (?:b|"the doc") (\S+)\)$/.exec(text)?.[1] ?? []);
  return found
    .flatMap((type) => values[type] ?? [])
    .map((value) => `INSERT INTO t VALUES (1, ${value}), (2, ${value})`);
}

const inQuick: ReadonlySet<string> = new Set([
  'healthy',
  'keyless',
  'keyless_quiet',
  'full_json',
  'unlogged',
  'identity',
]);

const differing: Readonly<Record<string, PostgresCase['differs']>> = {
  elsewhere: {
    truth: 'blocked',
    why: 'the engine of the sandbox leaves out tablespaces; whether the service does is not known, and the report says so',
  },
  filled: {
    truth: 'blocked',
    why: 'a table that was added to an extension by hand and registered as its configuration is dumped with its rows and without its definition; members other than functions are not examined',
  },
};

/** Every database that the tests of the checks break, as a case; those of a release that has more of them too. */
export const brokenCases: readonly PostgresCase[] = [
  ...brokenOn(15).map((one) => caseOf(one, 15)),
  ...brokenOn(18)
    .filter(({ since = 0 }) => since >= 18)
    .map((one) => caseOf(one, 18)),
];

function caseOf({ database, setup, found }: ReturnType<typeof brokenOn>[number], from: 15 | 18): PostgresCase {
  const blocking = Object.entries({ ...found, ...foundToo[database] }).filter(([, words]) => words.startsWith('fail'));
  const needsMore = [...setup].some((text) => text.includes('"Fast Disk"') || text.includes(' TO bare'));
  return {
    name: `broken database ${database}`,
    verdict: blocking.some(([, words]) => words.endsWith('dump'))
      ? 'blocked'
      : blocking.length > 0
        ? 'dump'
        : 'continuous',
    reasons: blocking.map(([id]) => id),
    from,
    to: from === 15 ? 17 : 18,
    databases: [database],
    setup: [...setup, ...compared(setup)],
    quiet: quiet[database] ?? [],
    ...(differing[database] === undefined ? {} : { differs: differing[database] }),
    ...(database === 'elsewhere' ? { unproven: ['tablespaces'] } : {}),
    ...(inQuick.has(database) ? { quick: true } : {}),
    ...(empty.has(database) ? { empty: true } : {}),
    ...(needsMore ? { first: preparations(database), settings: { allow_in_place_tablespaces: 'on' } } : {}),
  };
}

function preparations(database: string): readonly string[] {
  return database === 'elsewhere'
    ? ['CREATE TABLESPACE "Fast Disk" LOCATION \'\'']
    : ["CREATE ROLE bare LOGIN PASSWORD 'secret'"];
}

/** What is inside of a database, and how it is called. */
export const databaseCases: readonly PostgresCase[] = [
  {
    name: 'a TRUNCATE of what an unlogged table refers to',
    verdict: 'dump',
    reasons: ['unlogged'],
    quick: true,
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY)',
      'CREATE UNLOGGED TABLE c (id int PRIMARY KEY, p int REFERENCES p)',
      'INSERT INTO p VALUES (1), (2)',
      'TRUNCATE p CASCADE',
      'INSERT INTO p VALUES (1)',
    ],
    quiet: ['p', 'c'],
    app: ['TRUNCATE p CASCADE'],
  },
  {
    name: 'an unlogged table refers to a table that is not truncated',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY)',
      'CREATE UNLOGGED TABLE c (id int PRIMARY KEY, p int REFERENCES p)',
      'INSERT INTO p VALUES (1), (2)',
      'INSERT INTO c VALUES (1, 1)',
    ],
  },
  {
    name: 'FULL beside a generated column in the key',
    verdict: 'dump',
    reasons: ['replica-identity'],
    setup: [
      'CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a + 1) STORED PRIMARY KEY, b int)',
      'ALTER TABLE t REPLICA IDENTITY FULL',
      'INSERT INTO t (a, b) VALUES (1, 1), (2, 2)',
    ],
  },
  {
    name: 'partitions with rows, keyed',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE p (a int, b text, PRIMARY KEY (a)) PARTITION BY RANGE (a)',
      'CREATE TABLE p_1 PARTITION OF p FOR VALUES FROM (0) TO (100) PARTITION BY LIST (a)',
      'CREATE TABLE p_1_rest PARTITION OF p_1 DEFAULT',
      'CREATE TABLE p_2 PARTITION OF p FOR VALUES FROM (100) TO (200)',
      "INSERT INTO p SELECT n, 'x' FROM generate_series(1, 199) n",
    ],
    app: [
      "INSERT INTO p VALUES (0, 'new')",
      'UPDATE p SET a = 150000 WHERE a = -1',
      'UPDATE p SET b = NULL WHERE a = 120',
    ],
  },
  {
    name: 'inheritance, keyed',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE parent (a int PRIMARY KEY)',
      'CREATE TABLE child (b int, PRIMARY KEY (a)) INHERITS (parent)',
      'INSERT INTO parent VALUES (1), (2)',
      'INSERT INTO child VALUES (3, 3), (4, 4)',
    ],
    app: ['INSERT INTO child VALUES (5, 5)', 'UPDATE parent SET a = a + 10'],
  },
  {
    name: 'identity, generated, serial, exclusion, deferrable constraints',
    pgcopydb: pgcopydbLimits.exclusion,
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION btree_gist',
      'CREATE TABLE a (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int, twice int GENERATED ALWAYS AS (n * 2) STORED)',
      'INSERT INTO a (n) SELECT generate_series(1, 20)',
      'CREATE TABLE s (id bigserial PRIMARY KEY, a int REFERENCES a DEFERRABLE INITIALLY DEFERRED, u int UNIQUE DEFERRABLE)',
      'INSERT INTO s (a, u) SELECT n, n FROM generate_series(1, 20) n',
      'CREATE TABLE booked (room int, during tsrange, id int PRIMARY KEY, EXCLUDE USING gist (room WITH =, during WITH &&))',
      "INSERT INTO booked VALUES (1, '[2026-01-01,2026-01-02)', 1), (1, '[2026-01-02,2026-01-03)', 2)",
    ],
    app: ['INSERT INTO a (n) VALUES (100)', 'INSERT INTO s (a, u) VALUES (1, 100)', 'UPDATE s SET u = u + 1'],
  },
  {
    name: 'enums, domains, composites, arrays, ranges',
    verdict: 'continuous',
    setup: [
      "CREATE TYPE mood AS ENUM ('good', 'so so', 'Bad')",
      'CREATE DOMAIN word AS text CHECK (length(value) < 10)',
      'CREATE TYPE pair AS (l int, r text[])',
      'CREATE TABLE kinds (id int PRIMARY KEY, m mood[], w word, p pair[], r numrange, j jsonb, x json, c char(5), b bit varying(8), h inet)',
      `INSERT INTO kinds VALUES (1, '{good,"so so"}', 'w', ARRAY[ROW(1, '{a,"b,c"}')::pair], '[1.5,2)', '{"a":[1,null]}', '{"b" : 1}', 'ab', B'101', '10.0.0.0/8')`,
    ],
    app: ["UPDATE kinds SET x = '{\"z\":2}', m = '{}'"],
  },
  {
    name: 'big rows and rows in pieces',
    verdict: 'continuous',
    quick: true,
    setup: [
      'CREATE TABLE big (id int PRIMARY KEY, a text, b bytea)',
      'ALTER TABLE big ALTER a SET STORAGE EXTERNAL',
      "INSERT INTO big SELECT n, repeat(md5(n::text), 50000), convert_to(repeat(md5(n::text), 3000), 'UTF8') FROM generate_series(1, 8) n",
    ],
    app: ["UPDATE big SET b = 'x' WHERE id = 4"],
  },
  {
    name: 'names that need quotes',
    pgcopydb: pgcopydbLimits.names,
    verdict: 'continuous',
    quick: true,
    databases: ['My-DB "x" \'y\' ä$'],
    setup: [
      `CREATE SCHEMA "S p.a""ce"`,
      `CREATE TABLE "S p.a""ce"."T'able, (x)" ("Col umn" int PRIMARY KEY, "select" text)`,
      `CREATE TABLE "group" ("order" int PRIMARY KEY)`,
      `CREATE TABLE "${'n'.repeat(63)}" (id int PRIMARY KEY)`,
    ],
  },
  { name: 'a long name', verdict: 'continuous', databases: ['d'.repeat(63)] },
  {
    name: 'event triggers, rules, triggers, functions, views',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE log (id serial PRIMARY KEY, what text)',
      'CREATE TABLE t (a int PRIMARY KEY)',
      'CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.log (what) VALUES (TG_OP); RETURN NEW; END$$',
      'CREATE TRIGGER noting AFTER INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION note()',
      "CREATE RULE also AS ON DELETE TO t DO ALSO INSERT INTO log (what) VALUES ('rule')",
      'CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN END$$',
      'CREATE EVENT TRIGGER watching ON ddl_command_end EXECUTE FUNCTION watch()',
      'INSERT INTO t VALUES (1), (2), (3)',
      'CREATE MATERIALIZED VIEW mv AS SELECT count(*) AS n FROM t',
      'CREATE VIEW v AS SELECT * FROM mv',
    ],
    app: ['INSERT INTO t VALUES (10)', 'DELETE FROM t WHERE a = 3'],
  },
  {
    name: 'an event trigger that writes at every login',
    verdict: 'blocked',
    reasons: ['event-triggers'],
    from: 17,
    setup: [
      'CREATE TABLE logins (id serial PRIMARY KEY, who text)',
      'CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.logins (who) VALUES (session_user); END$$',
      'CREATE EVENT TRIGGER e ON login EXECUTE FUNCTION f()',
    ],
  },
  {
    name: 'an event trigger that writes into an unlogged table at every login',
    verdict: 'continuous',
    from: 17,
    setup: [
      'CREATE UNLOGGED TABLE logins (who text)',
      'CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.logins (who) VALUES (session_user); END$$',
      'CREATE EVENT TRIGGER e ON login EXECUTE FUNCTION f()',
    ],
  },
  {
    name: 'a trigger that always fires and writes',
    verdict: 'dump',
    reasons: ['always-triggers'],
    setup: [
      'CREATE TABLE audit (id serial PRIMARY KEY, what int UNIQUE)',
      'CREATE TABLE t (a int PRIMARY KEY)',
      'CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.audit (what) VALUES (NEW.a); RETURN NEW; END$$',
      'CREATE TRIGGER noting AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note()',
      'ALTER TABLE t ENABLE ALWAYS TRIGGER noting',
      'INSERT INTO t VALUES (1), (2), (3)',
    ],
    app: ['INSERT INTO t VALUES (10)'],
  },
  {
    name: 'FULL, and rows that are equal and not the same',
    verdict: 'continuous',
    unproven: ['full-without-eq'],
    differs: {
      truth: 'dump',
      why: 'which of two equal rows the target changes depends on their order; the report names the query that finds such rows',
    },
    quiet: ['t'],
    setup: [
      'CREATE EXTENSION citext',
      'CREATE TABLE t (name citext, note text)',
      'ALTER TABLE t REPLICA IDENTITY FULL',
      "INSERT INTO t VALUES ('Bob', 'x'), ('bob', 'x')",
    ],
    app: ["DELETE FROM t WHERE name::text = 'bob'"],
  },
  {
    name: 'FULL, and ranges of numbers that are equal and not the same',
    verdict: 'continuous',
    unproven: ['full-without-eq'],
    differs: {
      truth: 'dump',
      why: 'which of two equal rows the target changes depends on their order; the report names the query that finds such rows',
    },
    quiet: ['t'],
    setup: [
      'CREATE TABLE t (valid numrange, note text)',
      'ALTER TABLE t REPLICA IDENTITY FULL',
      "INSERT INTO t VALUES ('[1.0,2)', 'x'), ('[1.00,2)', 'x')",
    ],
    app: ["DELETE FROM t WHERE valid::text = '[1.00,2)'"],
  },
  {
    name: 'FULL, and numbers that are equal only when they are the same',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE t (amount numeric(10,2), note text)',
      'ALTER TABLE t REPLICA IDENTITY FULL',
      "INSERT INTO t VALUES (1.0, 'a'), (1.00, 'a'), (2, 'b')",
      'CREATE TABLE u (n numeric NOT NULL UNIQUE, m numeric)',
      'ALTER TABLE u REPLICA IDENTITY FULL',
      'INSERT INTO u VALUES (1.0, 1), (2, 1.00)',
    ],
  },
  {
    name: 'a trigger that always fires and returns the old row of an INSERT',
    verdict: 'dump',
    reasons: ['always-triggers'],
    quiet: ['t'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY)',
      'INSERT INTO t VALUES (1), (2)',
      'CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN OLD; END$$',
      'CREATE TRIGGER frozen BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION keep()',
      'ALTER TABLE t ENABLE ALWAYS TRIGGER frozen',
    ],
  },
  {
    name: 'triggers that always fire after a row or leave out redundant updates, and do nothing',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, a int)',
      'CREATE FUNCTION done() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      'CREATE TRIGGER always AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH ROW EXECUTE FUNCTION done()',
      'CREATE TRIGGER applied AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION done()',
      'CREATE TRIGGER redundant BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
      'ALTER TABLE t ENABLE ALWAYS TRIGGER always, ENABLE REPLICA TRIGGER applied, ENABLE ALWAYS TRIGGER redundant',
      'INSERT INTO t VALUES (1, 1), (2, 2)',
    ],
    app: ['INSERT INTO t VALUES (10, 1)', 'UPDATE t SET a = 5 WHERE id = 1', 'UPDATE t SET a = a WHERE id = 2'],
  },
  {
    name: 'a trigger that always fires before a row and returns NULL',
    verdict: 'dump',
    reasons: ['always-triggers'],
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY)',
      'INSERT INTO t VALUES (1), (2)',
      'CREATE FUNCTION done() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      'CREATE TRIGGER frozen BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION done()',
      'ALTER TABLE t ENABLE REPLICA TRIGGER frozen',
    ],
    app: ['DELETE FROM t WHERE id = 1'],
  },
  {
    name: 'a trigger for replicas that writes',
    verdict: 'dump',
    reasons: ['always-triggers'],
    setup: [
      'CREATE TABLE audit (id serial PRIMARY KEY, what int)',
      'CREATE TABLE t (a int PRIMARY KEY)',
      'CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.audit (what) VALUES (NEW.a); RETURN NEW; END$$',
      'CREATE TRIGGER noting AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note()',
      'ALTER TABLE t ENABLE REPLICA TRIGGER noting',
      'INSERT INTO t VALUES (1), (2), (3)',
    ],
    app: ['INSERT INTO t VALUES (10)'],
  },
  {
    name: 'an extension that the target does not have',
    verdict: 'blocked',
    reasons: ['extensions'],
    setup: ['CREATE EXTENSION adminpack'],
  },
  {
    name: 'extensions that the target has',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION hstore',
      'CREATE EXTENSION citext',
      'CREATE EXTENSION pg_trgm',
      'CREATE TABLE t (c citext PRIMARY KEY, h hstore)',
      `INSERT INTO t VALUES ('A', 'a=>1')`,
      'CREATE INDEX ON t USING gin (c gin_trgm_ops)',
    ],
    app: ["INSERT INTO t VALUES ('b', 'x=>NULL')"],
  },
  {
    name: 'a database in LATIN1',
    pgcopydb: pgcopydbLimits.encoding,
    verdict: 'continuous',
    create: { d1: "ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'" },
    setup: ['CREATE TABLE t (id int PRIMARY KEY, a text)', "INSERT INTO t VALUES (1, 'äöü ÿ')"],
    app: ["INSERT INTO t VALUES (10, 'é')"],
  },
  {
    name: 'a database in SQL_ASCII with any bytes',
    verdict: 'continuous',
    create: { d1: "ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'" },
    setup: ['CREATE TABLE t (id int PRIMARY KEY, a text)', "INSERT INTO t VALUES (1, E'\\\\xff\\\\xe4')"],
  },
  {
    name: 'a database that sorts by ICU',
    verdict: 'continuous',
    create: { d1: "TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'de-u-co-phonebk'" },
    setup: ['CREATE TABLE t (a text PRIMARY KEY)', "INSERT INTO t VALUES ('ä'), ('a'), ('z')"],
  },
  {
    name: 'a database that allows no connections',
    verdict: 'blocked',
    reasons: ['db-noconnect'],
    quick: true,
    databases: ['d1', 'd2'],
    last: ['ALTER DATABASE d2 ALLOW_CONNECTIONS false'],
  },
  {
    name: 'a database with a limit of no connection, for a superuser',
    verdict: 'continuous',
    last: ['ALTER DATABASE d1 CONNECTION LIMIT 0'],
  },
  {
    name: 'keys of all kinds together, without primary keys',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE by_index (a int NOT NULL, b text)',
      'CREATE UNIQUE INDEX by_a ON by_index (a)',
      'ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_a',
      'INSERT INTO by_index VALUES (1), (2), (3)',
      'CREATE TABLE whole (a int, b text)',
      'ALTER TABLE whole REPLICA IDENTITY FULL',
      'INSERT INTO whole VALUES (1), (1), (2), (NULL)',
    ],
    app: [
      "UPDATE whole SET b = 'x' WHERE a = 1",
      'DELETE FROM whole WHERE a IS NULL',
      'UPDATE by_index SET a = 20 WHERE a = 2',
    ],
  },
  {
    name: 'a table without a key in one of two databases',
    verdict: 'dump',
    reasons: ['replica-identity'],
    databases: ['d1', 'd2'],
    setup: ['CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1), (2)', 'UPDATE t SET a = a + 1'],
  },
  {
    name: 'without a key: rows of the referenced table are deleted, ON DELETE CASCADE',
    verdict: 'dump',
    reasons: ['replica-identity'],
    quick: true,
    setup: [
      'CREATE TABLE posts (id int PRIMARY KEY)',
      'CREATE TABLE posts_tags (post int REFERENCES posts ON DELETE CASCADE, tag int)',
      'INSERT INTO posts SELECT generate_series(1, 10)',
      'INSERT INTO posts_tags VALUES (1, 1)',
      'DELETE FROM posts WHERE id = 10',
    ],
    quiet: ['posts_tags'],
    app: ['DELETE FROM posts WHERE id = 9'],
  },
  {
    name: 'without a key: partitions that refer to partitions whose rows are deleted, ON DELETE SET NULL',
    verdict: 'dump',
    reasons: ['replica-identity'],
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id)',
      'CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100)',
      'CREATE TABLE c (p int REFERENCES p ON DELETE SET NULL, n int) PARTITION BY RANGE (n)',
      'CREATE TABLE c1 PARTITION OF c FOR VALUES FROM (0) TO (100)',
      'INSERT INTO p SELECT generate_series(1, 10)',
      'INSERT INTO c VALUES (1, 1), (1, 2)',
      'DELETE FROM p WHERE id = 10',
    ],
    quiet: ['p1', 'c1'],
    app: ['DELETE FROM p WHERE id = 9'],
  },
  {
    name: 'without a key: deletes from a table that is referenced without an action, and updates of other columns',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY, n int) WITH (fillfactor = 50)',
      'CREATE TABLE q (id int PRIMARY KEY, n int)',
      'CREATE TABLE c (p int REFERENCES p ON UPDATE CASCADE, q int REFERENCES q)',
      'INSERT INTO p VALUES (1, 1), (2, 2)',
      'INSERT INTO q VALUES (1, 1), (2, 2), (3, 3)',
      'INSERT INTO c VALUES (1, 1), (2, 2)',
      'UPDATE p SET n = n + 1',
      'DELETE FROM q WHERE id = 3',
    ],
    quiet: ['c'],
    app: ['UPDATE p SET n = n + 1', 'INSERT INTO q VALUES (4, 4)', 'DELETE FROM q WHERE id = 4'],
  },
  {
    name: 'without a key: a referenced key was changed, ON UPDATE CASCADE',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY)',
      'CREATE TABLE c (p int REFERENCES p ON UPDATE CASCADE)',
      'INSERT INTO p VALUES (1), (2), (3)',
      'INSERT INTO c VALUES (1), (2)',
      'UPDATE p SET id = 4 WHERE id = 3',
    ],
    quiet: ['p', 'c'],
  },
  {
    name: 'without a key: upserts that found no conflict',
    verdict: 'continuous',
    unproven: ['replica-identity'],
    differs: {
      truth: 'dump',
      why: 'the statistics count an upsert without a conflict as an INSERT; the report says that no table without a replica identity may have upserts, with the statement that gives it one',
    },
    setup: [
      'CREATE TABLE u (a int UNIQUE, b int)',
      'INSERT INTO u VALUES (1, 1), (2, 1) ON CONFLICT (a) DO UPDATE SET b = excluded.b',
    ],
    quiet: ['u'],
    app: ['INSERT INTO u VALUES (3, 1) ON CONFLICT (a) DO UPDATE SET b = excluded.b'],
  },
  {
    name: 'without a key: a unique index, and no rows',
    verdict: 'continuous',
    empty: true,
    setup: [
      'CREATE TABLE u (a int UNIQUE, b int)',
      'CREATE TABLE p (id int PRIMARY KEY)',
      'CREATE TABLE c (a int REFERENCES p ON DELETE CASCADE)',
    ],
    quiet: ['u', 'p', 'c'],
  },
  {
    name: 'a CHECK whose function finds its table by the search_path',
    verdict: 'blocked',
    reasons: ['search-path'],
    quick: true,
    setup: [
      'CREATE TABLE kinds (kind text PRIMARY KEY)',
      "INSERT INTO kinds VALUES ('a'), ('b')",
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN EXISTS (SELECT 1 FROM kinds WHERE kind = $1); END$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK (is_kind(kind)))',
      "INSERT INTO things VALUES (1, 'a'), (2, 'b')",
    ],
  },
  {
    name: 'an index whose function finds another by the search_path',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT replace($1, 'ä', 'a')$$",
      'CREATE FUNCTION folded(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN lower(plain($1)); END$$',
      'CREATE TABLE words (id int PRIMARY KEY, word text)',
      'CREATE INDEX ON words (folded(word))',
      "INSERT INTO words VALUES (1, 'Ärger')",
    ],
  },
  {
    name: 'an index over a function that the search_path completes, of a table without rows',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT replace($1, 'ä', 'a')$$",
      'CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT lower(plain($1))$$',
      'CREATE TABLE words (id int PRIMARY KEY, word text)',
      'CREATE INDEX ON words (folded(word))',
    ],
  },
  {
    name: 'a generated column and a domain whose functions need the search_path',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      "CREATE TYPE mood AS ENUM ('good', 'bad')",
      "CREATE FUNCTION rank_of(text) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT CASE $1::mood WHEN 'good' THEN 1 ELSE 2 END$$",
      'CREATE TABLE people (id int PRIMARY KEY, mood text, rank int GENERATED ALWAYS AS (rank_of(mood)) STORED)',
      "INSERT INTO people (id, mood) VALUES (1, 'good')",
    ],
  },
  {
    name: 'functions in CHECK, indexes and generated columns that need no search_path',
    verdict: 'continuous',
    unproven: ['computed-again'],
    quick: true,
    setup: [
      'CREATE TABLE kinds (kind text PRIMARY KEY)',
      "INSERT INTO kinds VALUES ('a'), ('b')",
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN EXISTS (SELECT 1 FROM public.kinds k WHERE k.kind = $1); END$$',
      'CREATE FUNCTION is_kind_too(kinds text) RETURNS boolean LANGUAGE sql SET search_path = public, pg_temp AS $$SELECT EXISTS (SELECT 1 FROM kinds WHERE kind = $1) /* FROM kinds */$$',
      "CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT lower(replace($1, 'from kinds', '')) -- is_kind(1)$$",
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK (is_kind(kind)) CHECK (is_kind_too(kind)), low text GENERATED ALWAYS AS (folded(kind)) STORED)',
      'CREATE INDEX ON things (folded(kind))',
      "INSERT INTO things VALUES (1, 'a'), (2, 'b')",
    ],
  },
  ...unresolvedNameCases,
  ...unfitSchemaCases,
  ...brokenCases,
  {
    name: 'large objects: a function and a trigger for them, and none so far',
    verdict: 'continuous',
    setup: [
      'CREATE EXTENSION lo',
      'CREATE TABLE docs (id int PRIMARY KEY, body lo)',
      'CREATE TRIGGER t_body BEFORE UPDATE OR DELETE ON docs FOR EACH ROW EXECUTE FUNCTION lo_manage(body)',
      'CREATE FUNCTION save(int, bytea) RETURNS void LANGUAGE sql AS $$UPDATE docs SET body = lo_from_bytea(0, $2) WHERE id = $1$$',
      'INSERT INTO docs VALUES (1, NULL), (2, NULL)',
    ],
    quiet: ['docs'],
    app: ["SELECT save(1, 'abc')"],
  },
];
