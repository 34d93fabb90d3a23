/** A database broken in one way, and everything the checks of databases are to say about it; what is not named passes. */
export interface BrokenDatabase {
  readonly database: string;
  /** Each by itself, as the superuser. */
  readonly setup: readonly string[];
  readonly found: Readonly<Record<string, string>>;
  /** Versions that have such a thing at all. */
  readonly since?: number;
  readonly until?: number;
}

const blocked = 'fail continuous';

export const brokenDatabases: readonly BrokenDatabase[] = [
  {
    database: 'healthy',
    setup: [
      'CREATE TABLE a (id int PRIMARY KEY, t text NOT NULL, j json, UNIQUE (t))',
      'CREATE TABLE b (id uuid PRIMARY KEY, a int REFERENCES a ON DELETE CASCADE, CHECK (a > 0))',
      'CREATE TABLE full_keyed (id int PRIMARY KEY, doc json)',
      'ALTER TABLE full_keyed REPLICA IDENTITY FULL',
      "CREATE TYPE mood AS ENUM ('good', 'bad')",
      'CREATE DOMAIN word AS text CHECK (length(value) > 0)',
      'CREATE TYPE pair AS (l int, r text[])',
      'CREATE TABLE full_plain (m mood, w word, p pair, r int4range, n int[], v varchar(10), c cidr, x xid, ts tsvector, o regclass)',
      'ALTER TABLE full_plain REPLICA IDENTITY FULL',
      'CREATE TABLE indexed (id int NOT NULL, extra text)',
      'CREATE UNIQUE INDEX indexed_id ON indexed (id) INCLUDE (extra)',
      'ALTER TABLE indexed REPLICA IDENTITY USING INDEX indexed_id',
      'CREATE TABLE hashed (id int PRIMARY KEY) PARTITION BY HASH (id)',
      'CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
      'CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1)',
      'CREATE INDEX hashed_pending ON ONLY hashed (id)',
      'CREATE VIEW v AS SELECT * FROM a',
      'CREATE RULE quiet AS ON DELETE TO a DO ALSO NOTHING',
      'ALTER TABLE a ENABLE ALWAYS RULE quiet',
      'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'CREATE TRIGGER usual BEFORE INSERT ON a FOR EACH ROW EXECUTE FUNCTION f()',
      'CREATE STATISTICS s ON id, t FROM a',
    ],
    found: {},
  },
  {
    database: 'keyless',
    setup: ['CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1)', 'UPDATE t SET a = 2'],
    found: { 'replica-identity': blocked },
  },
  { database: 'keyless_quiet', setup: ['CREATE TABLE t (a int)'], found: { 'replica-identity': 'warn' } },
  {
    database: 'deferrable_key',
    setup: ['CREATE TABLE t (a int PRIMARY KEY DEFERRABLE)', 'INSERT INTO t VALUES (1)', 'DELETE FROM t'],
    found: { 'replica-identity': blocked },
  },
  {
    database: 'nothing',
    setup: ['CREATE TABLE t (a int PRIMARY KEY)', 'ALTER TABLE t REPLICA IDENTITY NOTHING'],
    found: { 'replica-identity': 'warn' },
  },
  {
    database: 'dropped_index',
    setup: [
      'CREATE TABLE t (a int NOT NULL)',
      'CREATE UNIQUE INDEX i ON t (a)',
      'ALTER TABLE t REPLICA IDENTITY USING INDEX i',
      'DROP INDEX i',
    ],
    found: { 'replica-identity': 'warn' },
  },
  {
    database: 'broken_index',
    setup: [
      'CREATE TABLE t (a int NOT NULL)',
      'CREATE UNIQUE INDEX i ON t (a)',
      'ALTER TABLE t REPLICA IDENTITY USING INDEX i',
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'i'::regclass",
    ],
    found: { 'replica-identity': 'warn', 'invalid-index': 'warn' },
  },
  {
    database: 'usable_index',
    setup: [
      'CREATE TABLE t (a int NOT NULL, b int NOT NULL, c int)',
      'CREATE UNIQUE INDEX partial ON t (a) WHERE a > 0',
      'CREATE UNIQUE INDEX expression ON t ((a + 1))',
      'CREATE UNIQUE INDEX nullable ON t (c)',
      'CREATE UNIQUE INDEX two ON t (a, b)',
      'CREATE UNIQUE INDEX "The One" ON t (b) INCLUDE (c)',
    ],
    found: { 'replica-identity': 'warn' },
  },
  {
    database: 'leaves',
    setup: [
      'CREATE TABLE root (a int, b int) PARTITION BY RANGE (a)',
      'CREATE TABLE keyed PARTITION OF root FOR VALUES FROM (0) TO (10)',
      'ALTER TABLE keyed ADD PRIMARY KEY (a)',
      'CREATE TABLE "bare leaf" PARTITION OF root FOR VALUES FROM (10) TO (20)',
    ],
    found: { 'replica-identity': 'warn', partitions: 'warn' },
  },
  {
    database: 'inherited',
    setup: ['CREATE TABLE parent (a int PRIMARY KEY)', 'CREATE TABLE child () INHERITS (parent)'],
    found: { 'replica-identity': 'warn' },
  },
  {
    database: 'generated_key',
    setup: [
      'CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a * 2) STORED PRIMARY KEY)',
      'INSERT INTO t VALUES (1), (2)',
    ],
    found: { 'replica-identity': blocked, 'generated-columns': 'info' },
    until: 17,
  },
  {
    database: 'generated_key_quiet',
    setup: ['CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a * 2) STORED PRIMARY KEY)'],
    found: { 'replica-identity': 'warn', 'generated-columns': 'info' },
    since: 18,
  },
  {
    database: 'full_generated',
    setup: [
      'CREATE TABLE t (a int PRIMARY KEY, g int GENERATED ALWAYS AS (a * 2) STORED)',
      'ALTER TABLE t REPLICA IDENTITY FULL',
      'CREATE TABLE u (a int, g int GENERATED ALWAYS AS (a * 2) STORED)',
      'ALTER TABLE u REPLICA IDENTITY FULL',
    ],
    found: { 'generated-columns': 'info' },
    until: 17,
  },
  {
    database: 'full_generated',
    setup: [
      'CREATE TABLE t (a int PRIMARY KEY, g int GENERATED ALWAYS AS (a * 2) STORED)',
      'ALTER TABLE t REPLICA IDENTITY FULL',
      'CREATE TABLE u (a int, g int GENERATED ALWAYS AS (a * 2) VIRTUAL)',
      'ALTER TABLE u REPLICA IDENTITY FULL',
    ],
    found: { 'replica-identity': 'warn', 'generated-columns': 'info' },
    since: 18,
  },
  {
    database: 'full_json',
    setup: ['CREATE TABLE t (a int, "the doc" json)', 'ALTER TABLE t REPLICA IDENTITY FULL'],
    found: { 'full-without-eq': blocked },
  },
  ...['xml', 'json[]', 'point', 'polygon', 'box[]', 'json_word', 'pair', 'jsonpath', 'refcursor', 'pair_word'].map(
    (type, at) => ({
      database: `full_${at}`,
      setup: [
        'CREATE DOMAIN json_word AS json',
        'CREATE TYPE pair AS (a int, b json_word[])',
        'CREATE DOMAIN pair_word AS pair',
        `CREATE TABLE t (a int, b ${type})`,
        'ALTER TABLE t REPLICA IDENTITY FULL',
      ],
      found: { 'full-without-eq': blocked },
    }),
  ),
  {
    database: 'keyless_json',
    setup: ['CREATE TABLE t (a int, doc json)'],
    found: { 'replica-identity': 'warn' },
  },
  {
    database: 'unlogged',
    setup: [
      'CREATE UNLOGGED TABLE a (id int PRIMARY KEY)',
      'CREATE UNLOGGED TABLE "B ""c" (id int PRIMARY KEY REFERENCES a)',
      'CREATE UNLOGGED TABLE a0 (id int REFERENCES "B ""c")',
    ],
    found: { unlogged: 'warn' },
  },
  {
    database: 'foreign',
    setup: [
      'CREATE EXTENSION postgres_fdw',
      'CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw',
      'CREATE FOREIGN TABLE t (a int) SERVER far',
    ],
    found: { 'foreign-tables': 'info', extensions: 'unknown' },
  },
  { database: 'temporary', setup: [], found: { 'temp-tables': 'info' } },
  {
    database: 'partitioned',
    setup: [
      'CREATE TABLE t (a int PRIMARY KEY) PARTITION BY LIST (a)',
      'CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (1)',
      'CREATE TABLE t_rest PARTITION OF t DEFAULT',
    ],
    found: { partitions: 'warn' },
  },
  {
    database: 'closed_list',
    setup: [
      'CREATE TABLE t (a boolean PRIMARY KEY) PARTITION BY LIST (a)',
      'CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (true)',
      'CREATE TABLE t_2 PARTITION OF t FOR VALUES IN (false)',
    ],
    found: {},
  },
  {
    database: 'open_list',
    setup: [
      'CREATE TABLE t (a boolean PRIMARY KEY) PARTITION BY LIST (a)',
      'CREATE TABLE t_1 PARTITION OF t FOR VALUES IN (true)',
    ],
    found: { partitions: 'warn' },
  },
  {
    database: 'hashed_tables',
    setup: [
      'CREATE DOMAIN "a Table" AS regclass',
      'CREATE TABLE "T t" ("the T" "a Table" PRIMARY KEY) PARTITION BY HASH ("the T")',
      'CREATE TABLE t_1 PARTITION OF "T t" FOR VALUES WITH (MODULUS 2, REMAINDER 0)',
      'CREATE TABLE t_2 PARTITION OF "T t" FOR VALUES WITH (MODULUS 2, REMAINDER 1)',
      ...Array.from({ length: 12 }, (_, at) => `CREATE TABLE other_${at} (id int PRIMARY KEY)`),
      ...Array.from({ length: 12 }, (_, at) => `INSERT INTO "T t" VALUES ('other_${at}')`),
    ],
    found: { partitions: 'fail continuous+dump' },
  },
  {
    database: 'hashed_types',
    setup: [
      'CREATE TABLE t (a regtype PRIMARY KEY) PARTITION BY HASH (a)',
      'CREATE TABLE t_1 PARTITION OF t FOR VALUES WITH (MODULUS 1, REMAINDER 0)',
      "INSERT INTO t VALUES ('int'), ('text')",
    ],
    found: {},
  },
  {
    database: 'own_view',
    setup: [
      'CREATE VIEW "The V" AS SELECT 1 AS a',
      'CREATE OR REPLACE VIEW "The V" AS SELECT a FROM "The V"',
      'CREATE VIEW fine AS SELECT 1 AS a',
      "CREATE FUNCTION f(fine) RETURNS int LANGUAGE sql AS 'SELECT 1'",
      'CREATE OR REPLACE VIEW fine AS SELECT f(NULL::fine) AS a',
    ],
    found: { 'removed-types': 'fail continuous+dump' },
  },
  {
    database: 'ambiguous_calls',
    setup: [
      "CREATE FUNCTION price(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'",
      'CREATE TABLE t (id int PRIMARY KEY, c int DEFAULT price(1))',
      "CREATE FUNCTION price(int, vat int DEFAULT 0) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + vat'",
    ],
    found: { 'removed-types': 'fail continuous+dump' },
  },
  {
    database: 'overloads_before_use',
    setup: [
      "CREATE FUNCTION price(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'",
      "CREATE FUNCTION price(int, vat int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + vat'",
      "CREATE FUNCTION price(numeric, vat int DEFAULT 0) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT vat'",
      'CREATE TABLE t (id int PRIMARY KEY, c int DEFAULT price(1), d int CHECK (price(d, 2) > price(d)))',
      'INSERT INTO t VALUES (1, 1, 1)',
    ],
    found: {},
  },
  {
    database: 'support_functions',
    setup: [
      'CREATE FUNCTION len(text) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT length($1)$$',
      'CREATE FUNCTION compared(text, text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN len($1) - len($2); END$$',
      'CREATE OPERATOR CLASS by_length FOR TYPE text USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compared(text, text)',
      'CREATE TABLE t (id int PRIMARY KEY, w text)',
      // In this order: since 17 an index is made with an empty search_path here as well.
      'CREATE INDEX ON t (w by_length)',
      "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
    ],
    found: { 'search-path': 'fail continuous+dump' },
  },
  {
    database: 'support_functions_unused',
    setup: [
      'CREATE FUNCTION len(text) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT length($1)$$',
      'CREATE FUNCTION compared(text, text) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT len($1) - len($2)$$',
      'CREATE OPERATOR CLASS by_length FOR TYPE text USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compared(text, text)',
      'CREATE TABLE t (id int PRIMARY KEY, w text)',
      'CREATE INDEX ON t (w by_length)',
    ],
    found: { 'search-path': 'warn' },
  },
  {
    database: 'range_difference',
    setup: [
      'CREATE FUNCTION len(text) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$SELECT length($1)::float8$$',
      'CREATE FUNCTION apart(text, text) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN len($1) - len($2); END$$',
      'CREATE TYPE words AS RANGE (SUBTYPE = text, SUBTYPE_DIFF = apart)',
      'CREATE TABLE t (id int PRIMARY KEY, r words)',
      'CREATE INDEX ON t USING gist (r)',
      "INSERT INTO t SELECT i, words(i::text, i::text || 'x') FROM generate_series(1, 3000) i",
    ],
    found: { 'search-path': 'fail continuous+dump' },
  },
  {
    database: 'large_objects',
    setup: ['SELECT lo_create(0)', 'SELECT lo_create(0)'],
    found: { 'large-objects': 'warn' },
  },
  {
    database: 'sequences',
    setup: ['CREATE TABLE t (a serial PRIMARY KEY)', 'CREATE SEQUENCE own'],
    found: { sequences: 'warn' },
  },
  {
    database: 'identity',
    setup: ['CREATE TABLE t (a int GENERATED ALWAYS AS IDENTITY PRIMARY KEY)'],
    found: { sequences: 'warn', 'identity-columns': 'info' },
  },
  {
    database: 'grants',
    setup: [
      'CREATE TABLE t (a int PRIMARY KEY)',
      'GRANT SELECT ON t TO PUBLIC',
      'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$SELECT 1$$',
      'REVOKE EXECUTE ON FUNCTION f() FROM PUBLIC',
    ],
    found: { grants: 'warn' },
  },
  {
    database: 'matviews',
    setup: [
      'CREATE MATERIALIZED VIEW filled AS SELECT 1 AS a',
      'CREATE MATERIALIZED VIEW bare AS SELECT 1 AS a WITH NO DATA',
    ],
    found: { matviews: 'warn' },
  },
  {
    database: 'generated',
    setup: ['CREATE TABLE t (a int PRIMARY KEY, g int GENERATED ALWAYS AS (a * 2) STORED)'],
    found: { 'generated-columns': 'info' },
  },
  {
    database: 'virtual',
    setup: ['CREATE TABLE t (a int PRIMARY KEY, g int GENERATED ALWAYS AS (a * 2) VIRTUAL)'],
    found: { 'generated-columns': 'info' },
    since: 18,
  },
  {
    database: 'extended',
    setup: [
      'CREATE EXTENSION hstore',
      'CREATE EXTENSION citext',
      // Only a superuser can create this one.
      'CREATE EXTENSION pgrowlocks',
      'CREATE TABLE t (h hstore, c citext)',
      'ALTER TABLE t REPLICA IDENTITY FULL',
    ],
    found: { extensions: 'unknown', 'full-without-eq': 'unknown' },
  },
  {
    database: 'filled',
    setup: [
      'CREATE EXTENSION hstore',
      'CREATE TABLE spatial (id int PRIMARY KEY)',
      'INSERT INTO spatial VALUES (1)',
      'CREATE TABLE vacant (id int PRIMARY KEY)',
      'CREATE TABLE config (id int PRIMARY KEY)',
      'INSERT INTO config VALUES (1)',
      'ALTER EXTENSION hstore ADD TABLE spatial',
      'ALTER EXTENSION hstore ADD TABLE vacant',
      'ALTER EXTENSION hstore ADD TABLE config',
      "UPDATE pg_extension SET extconfig = ARRAY['config'::regclass::oid], extcondition = ARRAY[''] WHERE extname = 'hstore'",
    ],
    found: { 'ext-tables': blocked },
  },
  {
    database: 'system_tables',
    setup: [
      'CREATE TABLE information_schema."The Bookings" (a int PRIMARY KEY)',
      'INSERT INTO information_schema."The Bookings" VALUES (1)',
      'CREATE TABLE plain (a int PRIMARY KEY)',
      'ALTER TABLE plain SET SCHEMA pg_catalog',
    ],
    found: { 'system-tables': blocked },
  },
  {
    database: 'dictionaries',
    setup: [
      "CREATE TEXT SEARCH DICTIONARY shop (TEMPLATE = simple, StopWords = 'english')",
      "BEGIN; SET LOCAL allow_system_table_mods = on; UPDATE pg_ts_dict SET dictinitoption = 'stopwords = ''shop''' WHERE dictname = 'shop'; COMMIT",
    ],
    found: { dictionaries: 'fail continuous+dump' },
  },
  {
    database: 'triggers',
    setup: [
      'CREATE TABLE t (a int PRIMARY KEY)',
      'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'CREATE TRIGGER "The Audit" AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()',
      'CREATE TRIGGER mirror AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()',
      'ALTER TABLE t ENABLE ALWAYS TRIGGER "The Audit"',
      'ALTER TABLE t ENABLE REPLICA TRIGGER mirror',
    ],
    found: { 'always-triggers': 'warn' },
  },
  {
    database: 'triggers_withholding',
    setup: [
      'CREATE TABLE t (a int PRIMARY KEY)',
      'CREATE TABLE u (a int PRIMARY KEY)',
      'INSERT INTO t VALUES (1), (2)',
      'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN OLD; END$$',
      'CREATE TRIGGER keeping BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION f()',
      'CREATE TRIGGER leaving BEFORE DELETE ON u FOR EACH ROW EXECUTE FUNCTION g()',
      'ALTER TABLE t ENABLE REPLICA TRIGGER keeping',
      'ALTER TABLE u ENABLE REPLICA TRIGGER leaving',
    ],
    found: { 'always-triggers': blocked },
  },
  {
    database: 'triggers_deaf',
    setup: [
      'CREATE TABLE audit (a int PRIMARY KEY)',
      'CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.audit VALUES (1); RETURN NULL; END$$',
      'CREATE TABLE t (a int PRIMARY KEY)',
      'CREATE TRIGGER after_all AFTER UPDATE OR DELETE ON t FOR EACH STATEMENT EXECUTE FUNCTION note()',
      'ALTER TABLE t ENABLE ALWAYS TRIGGER after_all',
    ],
    found: {},
  },
  {
    database: 'triggers_unlogged',
    setup: [
      'CREATE TABLE audit (a int PRIMARY KEY)',
      'CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.audit VALUES (1); RETURN NULL; END$$',
      'CREATE UNLOGGED TABLE t (a int PRIMARY KEY)',
      'CREATE TRIGGER noting AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note()',
      'ALTER TABLE t ENABLE ALWAYS TRIGGER noting',
    ],
    found: { unlogged: 'warn', 'always-triggers': 'warn' },
  },
  {
    database: 'triggers_foreign',
    setup: [
      'CREATE EXTENSION postgres_fdw',
      'CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw',
      'CREATE FOREIGN TABLE t (a int) SERVER far',
      'CREATE TABLE audit (a int PRIMARY KEY)',
      'CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.audit VALUES (1); RETURN NULL; END$$',
      'CREATE TRIGGER noting AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note()',
      'ALTER TABLE t ENABLE ALWAYS TRIGGER noting',
    ],
    found: { 'foreign-tables': 'info', extensions: 'unknown' },
  },
  {
    database: 'triggers_statement',
    setup: [
      'CREATE TABLE audit (a int PRIMARY KEY)',
      'CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.audit VALUES (1); RETURN NULL; END$$',
      'CREATE TABLE t (a int PRIMARY KEY)',
      'INSERT INTO t VALUES (1)',
      'INSERT INTO audit VALUES (1)',
      'CREATE TRIGGER noting AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION note()',
      'ALTER TABLE t ENABLE ALWAYS TRIGGER noting',
    ],
    found: { 'always-triggers': blocked },
  },
  {
    database: 'events',
    setup: [
      'CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN END$$',
      'CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION f()',
    ],
    found: { 'event-triggers': 'warn' },
  },
  {
    database: 'reading_checks',
    setup: [
      'CREATE TABLE tree (id int PRIMARY KEY)',
      'CREATE FUNCTION is_single(int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$BEGIN RETURN NOT EXISTS (SELECT FROM public.tree WHERE id = -$1); END$$',
      'ALTER TABLE tree ADD CONSTRAINT single CHECK (is_single(id))',
      'INSERT INTO tree VALUES (1), (2)',
    ],
    found: { 'reading-checks': 'unknown' },
  },
  {
    database: 'domains_inside',
    setup: [
      'CREATE DOMAIN small AS int',
      'CREATE DOMAIN smaller AS small',
      'CREATE TYPE pair AS (one smaller, other int)',
      'CREATE TABLE t (id int PRIMARY KEY, a smaller, p pair[])',
      'INSERT INTO t VALUES (1, 100, ARRAY[(1, 1)::pair])',
      'ALTER DOMAIN small ADD CONSTRAINT less CHECK (value < 10) NOT VALID',
      'CREATE DOMAIN early AS timestamptz CHECK (extract(hour FROM value) <> 23)',
      'CREATE DOMAIN earlier AS early',
      "CREATE TABLE times (id int PRIMARY KEY, at earlier DEFAULT '2026-01-01 01:00')",
      'INSERT INTO times VALUES (1)',
      "ALTER DATABASE domains_inside SET timezone = 'Asia/Tokyo'",
      "CREATE DOMAIN mine AS text CHECK (value = current_setting('app.tenant'))",
      'CREATE TYPE tenants AS (tenant mine)',
      'CREATE TABLE tenancy (id int PRIMARY KEY, t tenants)',
      "DO $$BEGIN SET LOCAL app.tenant = 'a'; INSERT INTO tenancy VALUES (1, ROW('a')); END$$",
      'CREATE DOMAIN soon AS timestamptz CONSTRAINT later CHECK (value > now())',
      'CREATE TABLE offers (id int PRIMARY KEY, until soon[])',
      "INSERT INTO offers VALUES (1, ARRAY[now() + interval '1 hour']::soon[])",
    ],
    found: {
      grants: 'warn',
      'not-valid': 'unknown',
      'setting-checks': 'unknown',
      'session-checks': 'fail continuous+dump',
      'time-checks': 'fail continuous+dump',
    },
  },
  {
    database: 'aggregates',
    setup: [
      'CREATE FUNCTION joined(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT $1 || $2$$',
      "CREATE AGGREGATE all_joined(text) (SFUNC = joined, STYPE = text, INITCOND = '')",
      'CREATE TYPE hours AS RANGE (subtype = time)',
    ],
    found: {},
  },
  {
    database: 'untrusted',
    setup: [
      'CREATE LANGUAGE plwild HANDLER plpgsql_call_handler',
      "CREATE FUNCTION deep(int) RETURNS int LANGUAGE internal AS 'int4abs'",
    ],
    found: { 'untrusted-lang': 'fail continuous+dump' },
  },
  {
    database: 'definer',
    setup: [
      'CREATE FUNCTION "Root" (text, int[]) RETURNS int LANGUAGE sql SECURITY DEFINER AS $$SELECT 1$$',
      'CREATE FUNCTION plain() RETURNS int LANGUAGE sql SECURITY DEFINER AS $$SELECT 1$$',
      'ALTER FUNCTION plain() OWNER TO bare',
    ],
    found: { secdef: 'warn', grants: 'warn' },
  },
  {
    database: 'search_path',
    setup: [
      'CREATE SCHEMA "Other One"',
      'CREATE TABLE "Other One"."The Kinds" (kind text PRIMARY KEY)',
      'ALTER DATABASE search_path SET search_path = public, "Other One"',
      'SET search_path = public, "Other One"',
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN NOT EXISTS (SELECT 1 FROM "The Kinds" k WHERE k.kind = $1); END$$',
      'CREATE FUNCTION "Is Kind"(text) RETURNS boolean LANGUAGE sql AS $$SELECT public.is_kind($1)$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK ("Is Kind"(kind)))',
      "INSERT INTO things VALUES (1, 'a')",
    ],
    found: { grants: 'warn', 'reading-checks': 'unknown', 'search-path': 'fail continuous+dump' },
  },
  {
    database: 'search_path_made',
    setup: [
      "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT replace($1, 'x', 'y')$$",
      'CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT lower(plain($1))$$',
      'CREATE TABLE words (id int PRIMARY KEY, word text)',
      'CREATE INDEX folding ON words (folded(word))',
    ],
    found: { 'search-path': 'fail continuous+dump' },
    until: 16,
  },
  {
    database: 'search_path_generated',
    setup: [
      "CREATE TYPE mood AS ENUM ('good', 'bad')",
      "CREATE FUNCTION is_good(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$DECLARE m mood := 'good'; BEGIN RETURN $1 = m::text; END$$",
      'CREATE TABLE people (id int PRIMARY KEY, mood text, good boolean GENERATED ALWAYS AS (is_good(mood)) STORED)',
      "INSERT INTO people (id, mood) VALUES (1, 'good')",
    ],
    found: { 'search-path': 'fail continuous+dump', 'generated-columns': 'info' },
  },
  {
    database: 'search_path_domain',
    setup: [
      'CREATE TABLE kinds (kind text PRIMARY KEY)',
      "INSERT INTO kinds VALUES ('a')",
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE sql AS $$SELECT count(*) > 0 FROM kinds WHERE kind = $1$$',
      'CREATE DOMAIN kind AS text CHECK (is_kind(value))',
      'CREATE TABLE things (id int PRIMARY KEY, kind kind)',
      "INSERT INTO things VALUES (1, 'a')",
    ],
    found: { 'search-path': 'fail continuous+dump' },
  },
  {
    database: 'search_path_quiet',
    setup: [
      'CREATE TABLE kinds (kind text PRIMARY KEY)',
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN EXISTS (SELECT 1 FROM kinds WHERE kind = $1); END$$',
      "CREATE FUNCTION is_rare(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN IF $1 = 'rare' THEN RETURN EXISTS (SELECT 1 FROM kinds); END IF; RETURN true; END$$",
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK (is_kind(kind)))',
      'CREATE TABLE others (id int PRIMARY KEY, kind text CHECK (is_rare(kind)))',
      "INSERT INTO others VALUES (1, 'common')",
    ],
    found: { 'reading-checks': 'unknown', 'search-path': 'warn' },
  },
  {
    database: 'search_path_operator',
    setup: [
      'CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT $1 + $2$$',
      'CREATE FUNCTION twice(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$BEGIN RETURN plus($1, $1); END$$',
      'CREATE OPERATOR <+> (FUNCTION = twice, LEFTARG = int, RIGHTARG = int)',
      'CREATE TABLE numbers (id int PRIMARY KEY, CHECK (id <+> 1 > 0))',
      'INSERT INTO numbers VALUES (1)',
    ],
    found: { 'search-path': 'fail continuous+dump' },
  },
  {
    database: 'search_path_needless',
    setup: [
      'CREATE TABLE kinds (kind text PRIMARY KEY)',
      "INSERT INTO kinds VALUES ('a'), ('b')",
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN EXISTS (SELECT 1 FROM public.kinds k WHERE k.kind = $1); END$$',
      'CREATE FUNCTION "Has Path"(kinds text) RETURNS boolean LANGUAGE sql SET search_path = public, pg_temp AS $$SELECT EXISTS (SELECT 1 FROM kinds WHERE kind = $1)$$',
      "CREATE FUNCTION folded(text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT lower(replace($1, 'from kinds', '')) -- is_kind(1)$$",
      'CREATE FUNCTION uncalled() RETURNS bigint LANGUAGE sql AS $$SELECT count(*) FROM kinds$$',
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK (is_kind(kind)) CHECK ("Has Path"(kind)))',
      'CREATE INDEX ON things (folded(kind))',
      "INSERT INTO things VALUES (1, 'a'), (2, 'b')",
    ],
    found: { 'reading-checks': 'unknown' },
  },
  {
    database: 'search_path_bound',
    setup: [
      'CREATE TABLE kinds (kind text PRIMARY KEY)',
      'CREATE FUNCTION deep(text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN NOT EXISTS (SELECT 1 FROM kinds WHERE kind = $1); END$$',
      'CREATE FUNCTION is_kind(text) RETURNS boolean LANGUAGE sql RETURN deep($1)',
      'CREATE TABLE things (id int PRIMARY KEY, kind text CHECK (is_kind(kind)))',
      "INSERT INTO things VALUES (1, 'a')",
    ],
    found: { 'reading-checks': 'unknown', 'search-path': 'fail continuous+dump' },
  },
  {
    database: 'elsewhere',
    setup: ['CREATE TABLE t (a int PRIMARY KEY USING INDEX TABLESPACE "Fast Disk", b text) TABLESPACE "Fast Disk"'],
    found: { tablespaces: 'unknown' },
  },
  {
    database: 'subscribed',
    setup: ["CREATE SUBSCRIPTION in_flow CONNECTION 'dbname=none' PUBLICATION p WITH (connect = false)"],
    found: { 'subs-existing': 'warn' },
  },
  {
    database: 'publishing',
    setup: ['CREATE PUBLICATION one', 'CREATE PUBLICATION every FOR ALL TABLES'],
    found: { 'pub-existing': 'info' },
  },
  {
    database: 'constraints',
    setup: [
      'CREATE TABLE t (a int PRIMARY KEY CHECK (a < 0), b int)',
      'ALTER TABLE t ADD CONSTRAINT "too big" CHECK (b < 10) NOT VALID',
      'CREATE DOMAIN d AS int',
      'ALTER DOMAIN d ADD CONSTRAINT c CHECK (value > 0) NOT VALID',
    ],
    found: { 'not-valid': 'info' },
  },
  {
    database: 'unenforced',
    setup: ['CREATE TABLE t (a int PRIMARY KEY, CHECK (a > 0) NOT ENFORCED)'],
    found: {},
    since: 18,
  },
];

/** Of those, the ones of a version. */
export function brokenOn(version: number): readonly BrokenDatabase[] {
  return brokenDatabases.filter(({ since = 0, until = 99 }) => version >= since && version <= until);
}
