import type { PostgresCase } from '../case.ts';

const kinds = ['CREATE TABLE kinds (kind text PRIMARY KEY)', "INSERT INTO kinds VALUES ('a'), ('b')"];

/** A function that needs the search_path, as the one that is called by what is broken. */
const isKind =
  'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN EXISTS (SELECT FROM kinds WHERE kind = $1); END$$';

/** Things that are called by a text without their schema, and where such a text is called. */
export const lostNameCases: readonly PostgresCase[] = [
  {
    name: 'without a schema: an operator of hstore in a CHECK',
    verdict: 'blocked',
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['always-triggers'],
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
    because: ['search-path'],
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
    because: ['search-path'],
    setup: [
      ...kinds,
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF $1 IS NULL THEN RETURN true; ELSE RETURN EXISTS (SELECT FROM kinds WHERE kind = $1); END IF; END$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK (is_kind(kind)))',
      "INSERT INTO things VALUES (1, 'a')",
    ],
  },
  {
    name: 'without a schema: in an event trigger',
    verdict: 'dump',
    because: ['search-path'],
    setup: [
      'CREATE TABLE ddl_log (id serial PRIMARY KEY, what text)',
      'CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO ddl_log (what) VALUES (tg_tag); END$$',
      'CREATE EVENT TRIGGER noting ON ddl_command_end EXECUTE FUNCTION note()',
    ],
  },
  {
    name: 'without a schema: behind a view',
    verdict: 'blocked',
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
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
    because: ['search-path'],
    setup: [
      "CREATE TYPE mood AS ENUM ('good')",
      'CREATE FUNCTION is_good(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF $1 < 0 THEN DECLARE m mood; BEGIN RETURN false; EXCEPTION WHEN others THEN RETURN true; END; END IF; RETURN true; END$$',
      'CREATE TABLE things (id int PRIMARY KEY CHECK (is_good(id)))',
      'INSERT INTO things VALUES (1)',
    ],
  },
];
