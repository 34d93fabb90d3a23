import { type PostgresCase, unevaluatedExpression } from '../case.ts';
import { resetControlData } from './server-history.ts';

/** Ten rows that a function looks up, after so many that their copy ends last. */
const kinds = [
  'CREATE TABLE kinds (id int PRIMARY KEY, name text)',
  "INSERT INTO kinds SELECT n, 'kind ' || n FROM generate_series(1, 300000) n",
  "CREATE FUNCTION kind_name(int) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT name FROM public.kinds WHERE id = $1); END'",
];

const own =
  "CREATE FUNCTION things_before(int) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM public.things WHERE id < $1); END'";

const tenThings = 'INSERT INTO things (id) SELECT n FROM generate_series(1, 10) n';

const unevaluatedFunction = {
  truth: 'blocked',
  why: 'a function of a user could run any code, so it is not called on the source; the report names it, and a rehearsal finds it',
} as const;

const changesUnseen = {
  truth: 'blocked',
  why: 'which rows have a declaration, or refer to an object that has another id on the target, is seen only by the expression; the report has the query that compares its results',
} as const;

const declared = `'<?xml version="1.0" encoding="UTF-8"?><a n="1"/>'`;
const statuses = "CREATE TYPE status AS ENUM ('new', 'open', 'done')";

/** What the target computes again from other rows or other object ids, so that it differs from what the source stored. */
export const derivedValueCases: readonly PostgresCase[] = [
  {
    name: 'computed again: a generated column whose function reads another table',
    verdict: 'blocked',
    reasons: ['reading-functions'],
    quick: true,
    setup: [
      ...kinds,
      'CREATE TABLE a_things (id int PRIMARY KEY, kind text GENERATED ALWAYS AS (kind_name(id)) STORED)',
      'INSERT INTO a_things SELECT n FROM generate_series(1, 10) n',
    ],
  },
  {
    name: 'computed again: a generated column whose function reads its own table',
    verdict: 'blocked',
    reasons: ['reading-functions'],
    setup: [
      'CREATE TABLE things (id int PRIMARY KEY)',
      own,
      'ALTER TABLE things ADD before bigint GENERATED ALWAYS AS (things_before(id)) STORED',
      ...Array.from({ length: 10 }, (_, at) => `INSERT INTO things VALUES (${at})`),
    ],
  },
  {
    name: 'computed again: the key of a partition whose function reads its own table',
    verdict: 'continuous',
    unproven: ['reading-functions'],
    quiet: ['things_0', 'things_1'],
    setup: [
      own,
      'CREATE TABLE things (id int) PARTITION BY LIST (things_before(id))',
      'CREATE TABLE things_0 PARTITION OF things FOR VALUES IN (0)',
      'CREATE TABLE things_1 PARTITION OF things FOR VALUES IN (1, 2, 3, 4, 5)',
      'ALTER TABLE things_0 REPLICA IDENTITY FULL',
      'ALTER TABLE things_1 REPLICA IDENTITY FULL',
      ...Array.from({ length: 5 }, (_, at) => `INSERT INTO things VALUES (${at})`),
    ],
  },
  {
    name: 'computed again: a unique index whose function reads another table',
    verdict: 'continuous',
    unproven: ['reading-functions'],
    setup: [
      ...kinds,
      'CREATE TABLE things (id int PRIMARY KEY)',
      "CREATE UNIQUE INDEX things_kind ON things (coalesce(kind_name(id), 'none'))",
      tenThings,
    ],
  },
  {
    name: 'computed again: the predicate of an index whose function reads another table',
    verdict: 'continuous',
    unproven: ['reading-functions'],
    setup: [
      ...kinds,
      'CREATE TABLE things (id int PRIMARY KEY)',
      'CREATE INDEX things_known ON things (id) WHERE kind_name(id) IS NOT NULL',
      tenThings,
    ],
  },
  {
    name: 'computed again: a domain whose function reads its own table',
    verdict: 'continuous',
    unproven: ['reading-functions'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TABLE things (id int PRIMARY KEY)',
      'INSERT INTO things VALUES (1)',
      "CREATE FUNCTION is_thing(int) RETURNS boolean LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM public.things WHERE id = $1)'",
      'CREATE DOMAIN thing AS int CHECK (is_thing(VALUE))',
      'ALTER TABLE things ADD parent int',
      'UPDATE things SET parent = 1',
      'ALTER TABLE things ALTER parent TYPE thing',
      ...Array.from({ length: 5 }, (_, at) => `INSERT INTO things VALUES (${at + 2}, ${at + 1})`),
    ],
  },
  {
    name: 'computed again: a generated column with the object id of its table',
    verdict: 'blocked',
    reasons: ['table-oids'],
    setup: [
      // As a source has that is older than its target.
      ...Array.from({ length: 5 }, (_, at) => `CREATE TABLE old_${at} (id int PRIMARY KEY)`),
      'CREATE TABLE things (id int PRIMARY KEY, home bigint GENERATED ALWAYS AS (tableoid::bigint) STORED)',
      tenThings,
    ],
  },
  {
    name: 'computed again: a generated column with the object id of another table',
    verdict: 'blocked',
    reasons: ['table-oids'],
    setup: [
      "CREATE TABLE things (id int PRIMARY KEY, home bigint GENERATED ALWAYS AS (('public.base'::regclass)::oid::bigint) STORED)",
      tenThings,
    ],
  },
  {
    name: 'computed again: a CHECK of the name of a table as the search_path shows it',
    verdict: 'continuous',
    unproven: ['table-oids'],
    differs: unevaluatedExpression,
    setup: [
      "CREATE TABLE things (id int PRIMARY KEY, home text DEFAULT 'base' CHECK (home = 'base'::regclass::text))",
      tenThings,
    ],
  },
  {
    name: 'computed again: a generated column that compares the table with a name',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE things (id int PRIMARY KEY)',
      "ALTER TABLE things ADD mine boolean GENERATED ALWAYS AS (tableoid = 'things'::regclass) STORED",
      tenThings,
    ],
  },
  {
    name: 'computed again: a CHECK of the object id of its table',
    verdict: 'continuous',
    unproven: ['table-oids'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TABLE things (id int PRIMARY KEY)',
      "DO $$ BEGIN EXECUTE format('ALTER TABLE things ADD CHECK (tableoid::bigint = %s)', 'things'::regclass::oid); END $$",
      tenThings,
    ],
  },
  {
    name: 'computed again: a CHECK of the version of the server',
    verdict: 'continuous',
    unproven: ['session-checks'],
    differs: unevaluatedExpression,
    setup: [
      "CREATE TABLE things (id int PRIMARY KEY, CHECK (current_setting('server_version_num')::int < 160000))",
      tenThings,
    ],
  },
  {
    name: 'computed again: a CHECK of the position in the WAL',
    verdict: 'continuous',
    unproven: ['session-checks'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TABLE things (id int PRIMARY KEY, lsn pg_lsn DEFAULT pg_current_wal_lsn() CHECK (lsn <= pg_current_wal_lsn()))',
      tenThings,
    ],
    // Rows that a source has written after more WAL than its target ever had.
    before: async (source) => {
      await resetControlData(source, ['-l', '000000010000FF0000000001']);
      await source.query('INSERT INTO things VALUES (1000)', 'd1');
      return {};
    },
  },
  {
    name: 'computed again: a generated column whose function returns an object id',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: unevaluatedFunction,
    quick: true,
    setup: [
      ...Array.from({ length: 5 }, (_, at) => `CREATE TABLE old_${at} (id int PRIMARY KEY)`),
      "CREATE FUNCTION home(int) RETURNS int IMMUTABLE LANGUAGE sql AS $$SELECT ('public.base'::regclass::oid::bigint % 100000)::int$$",
      'CREATE TABLE things (id int PRIMARY KEY, home int GENERATED ALWAYS AS (home(id)) STORED)',
      tenThings,
    ],
  },
  {
    name: 'computed again: a generated column whose function writes the name of a type',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: unevaluatedFunction,
    setup: [
      "CREATE TYPE mood AS ENUM ('sad', 'ok')",
      "CREATE FUNCTION mood_name(int) RETURNS text IMMUTABLE LANGUAGE sql RETURN 'public.mood'::regtype::text",
      'CREATE TABLE things (id int PRIMARY KEY, mood text GENERATED ALWAYS AS (mood_name(id)) STORED)',
      tenThings,
    ],
  },
  {
    name: 'computed again: a generated column whose function calls one that returns random values',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: unevaluatedFunction,
    setup: [
      'CREATE FUNCTION dice(int) RETURNS int IMMUTABLE LANGUAGE sql AS $$SELECT (random() * 1000000)::int$$',
      'CREATE FUNCTION thrown(int) RETURNS int IMMUTABLE LANGUAGE sql AS $$SELECT public.dice($1)$$',
      'CREATE TABLE things (id int PRIMARY KEY, thrown int GENERATED ALWAYS AS (thrown(id)) STORED)',
      tenThings,
    ],
  },
  ...(
    [
      [
        'rows that are gone',
        ['CREATE TABLE codes (id int PRIMARY KEY)', 'INSERT INTO codes VALUES (1)'],
        ['DELETE FROM codes'],
        'blocked',
      ],
      ['a materialized view', ['CREATE MATERIALIZED VIEW codes AS SELECT id FROM base'], [], 'blocked'],
      [
        'an unlogged table',
        ['CREATE UNLOGGED TABLE codes (id int PRIMARY KEY)', 'INSERT INTO codes VALUES (1)'],
        [],
        'dump',
      ],
    ] as const
  ).map(
    ([what, before, after, truth]): PostgresCase => ({
      name: `computed again: a CHECK whose function reads ${what}`,
      verdict: 'continuous',
      unproven: ['reading-checks'],
      differs: { ...unevaluatedExpression, truth },
      setup: [
        ...before,
        "CREATE FUNCTION is_code(int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT EXISTS (SELECT FROM public.codes WHERE id = $1)'",
        'CREATE TABLE things (id int PRIMARY KEY CHECK (is_code(id)))',
        'INSERT INTO things VALUES (1)',
      ],
      last: after.map((sql) => ({ in: 'd1', sql })),
      quiet: ['things', 'codes'],
    }),
  ),
  ...(
    [
      [
        'selects a column named like a cursor command',
        '',
        'SELECT EXISTS (SELECT move FROM public.codes WHERE id = $1)',
      ],
      [
        'reads a table after WITH ORDINALITY',
        '',
        'SELECT count(*) = 1 FROM unnest(ARRAY[$1]) WITH ORDINALITY u(id, n), public.codes c WHERE c.id = u.id',
      ],
      [
        'reads a table that a query of WITH has the name of',
        'SET search_path = public',
        'WITH codes AS (SELECT * FROM codes WHERE move > 0) SELECT count(*) = 1 FROM codes WHERE id = $1',
      ],
      ['reads a table in parentheses', '', 'SELECT EXISTS (SELECT FROM ONLY (public.codes) WHERE id = $1)'],
    ] as const
  ).map(
    ([what, set, body]): PostgresCase => ({
      name: `computed again: a CHECK whose function ${what}`,
      verdict: 'continuous',
      unproven: ['reading-checks'],
      differs: unevaluatedExpression,
      setup: [
        'CREATE TABLE codes (id int PRIMARY KEY, move int)',
        'INSERT INTO codes VALUES (1, 1)',
        `CREATE FUNCTION is_code(int) RETURNS boolean LANGUAGE sql STABLE ${set} AS '${body}'`,
        'CREATE TABLE things (id int PRIMARY KEY CHECK (is_code(id)))',
        'INSERT INTO things VALUES (1)',
      ],
      last: [{ in: 'd1', sql: 'DELETE FROM codes' }],
      quiet: ['things', 'codes'],
    }),
  ),
  {
    name: 'computed again: a CHECK that casts to a domain, and so reads a table',
    verdict: 'continuous',
    unproven: ['reading-checks'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TABLE codes (id int PRIMARY KEY)',
      'INSERT INTO codes VALUES (1)',
      "CREATE FUNCTION is_code(int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT EXISTS (SELECT FROM public.codes WHERE id = $1)'",
      'CREATE DOMAIN code AS int CHECK (is_code(VALUE))',
      'CREATE TABLE things (id int PRIMARY KEY CHECK (id::code > 0))',
      'INSERT INTO things VALUES (1)',
    ],
    last: [{ in: 'd1', sql: 'DELETE FROM codes' }],
    quiet: ['things', 'codes'],
  },
  {
    name: 'computed again: a generated column of a domain whose function reads a table',
    verdict: 'continuous',
    unproven: ['reading-functions'],
    setup: [
      'CREATE TABLE codes (id int PRIMARY KEY)',
      'INSERT INTO codes SELECT generate_series(1, 9)',
      "CREATE FUNCTION is_code(int) RETURNS boolean LANGUAGE sql STABLE AS 'SELECT EXISTS (SELECT FROM public.codes WHERE id = $1)'",
      'CREATE DOMAIN code AS int CHECK (is_code(VALUE))',
      'CREATE TABLE things (id int PRIMARY KEY, c code GENERATED ALWAYS AS (id % 9 + 1) STORED)',
      'INSERT INTO things VALUES (1)',
    ],
    quiet: ['codes'],
  },
  {
    name: 'computed again: a generated column whose function writes the name of the type of its argument',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: unevaluatedExpression,
    setup: [
      statuses,
      'CREATE FUNCTION name_of(anyelement) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT pg_typeof($1)::text$$',
      'CREATE TABLE a_things (id int PRIMARY KEY, s status, n text GENERATED ALWAYS AS (name_of(s)) STORED)',
      "INSERT INTO a_things (id, s) VALUES (1, 'new'), (2, 'open')",
    ],
  },
  {
    name: 'computed again: functions that read queries in parentheses, and no table',
    verdict: 'continuous',
    quick: true,
    setup: [
      "CREATE FUNCTION digits(text) RETURNS int LANGUAGE sql IMMUTABLE AS $$SELECT coalesce(sum(d), 0)::int FROM (SELECT c::int AS d FROM regexp_split_to_table($1, '') c) x, (WITH q AS (SELECT 1) SELECT * FROM q) y$$",
      'CREATE FUNCTION sorted(int[]) RETURNS int[] LANGUAGE sql IMMUTABLE AS $$SELECT array_agg(v) FROM (SELECT v FROM unnest($1) v ORDER BY v) s CROSS JOIN (VALUES (1)) w$$',
      'CREATE TABLE cards (id int PRIMARY KEY, n text CHECK (digits(n) > 0), s int GENERATED ALWAYS AS (digits(n)) STORED, a int[])',
      'CREATE UNIQUE INDEX ON cards (sorted(a))',
      "INSERT INTO cards VALUES (1, '12', DEFAULT, '{2,1}'), (2, '34', DEFAULT, '{3}')",
    ],
    quiet: ['cards'],
  },
  ...(
    [
      [
        'asks for a privilege',
        ['session-checks'],
        ['CREATE ROLE app', 'GRANT SELECT ON base TO app'],
        "has_table_privilege('app', 'public.base', 'SELECT')",
      ],
      [
        'reads the last value of a sequence',
        ['session-checks'],
        ['CREATE SEQUENCE s', "SELECT setval('s', 5)"],
        "id <= coalesce(pg_sequence_last_value('s'), 0)",
      ],
      [
        'reads a large object',
        ['session-checks'],
        ["SELECT lo_from_bytea(424242, 'abc')"],
        'lo_get(424242) IS NOT NULL',
      ],
      [
        'selects the last value of a sequence',
        ['reading-checks', 'function-results'],
        [
          'CREATE SEQUENCE s',
          "SELECT setval('s', 5)",
          "CREATE FUNCTION last_of() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT last_value FROM public.s'",
        ],
        'id < last_of()',
      ],
      [
        'calls a function with SET role',
        ['function-results'],
        [
          'CREATE ROLE app',
          "CREATE FUNCTION ok(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE SET role = 'app' AS 'BEGIN RETURN true; END'",
        ],
        'ok(id)',
        'dump',
      ],
    ] as const
  ).map(
    ([what, unproven, before, condition, truth = 'blocked' as const]): PostgresCase => ({
      name: `computed again: a CHECK that ${what}`,
      verdict: 'continuous',
      unproven,
      differs: { ...unevaluatedExpression, truth },
      setup: [
        ...before,
        `CREATE TABLE things (id int PRIMARY KEY, CHECK (${condition}))`,
        'INSERT INTO things VALUES (1)',
      ],
      quiet: ['things'],
    }),
  ),
  {
    name: 'computed again: a generated column whose function runs the text of ts_stat()',
    verdict: 'continuous',
    unproven: ['reading-functions'],
    differs: unevaluatedExpression,
    setup: [
      'CREATE TABLE words (id int PRIMARY KEY, w text)',
      "INSERT INTO words VALUES (1, 'one')",
      "CREATE FUNCTION count_of(int) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$SELECT count(*) FROM ts_stat('SELECT to_tsvector(''simple'', w) FROM public.words')$$",
      'CREATE TABLE a_things (id int PRIMARY KEY, n bigint GENERATED ALWAYS AS (count_of(id)) STORED)',
      'INSERT INTO a_things VALUES (1)',
    ],
    quiet: ['a_things', 'words'],
  },
  {
    name: 'computed again: a CHECK whose function composes the name of a table',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: unevaluatedFunction,
    setup: [
      "CREATE FUNCTION has_rows(text) RETURNS boolean STABLE LANGUAGE plpgsql AS $$DECLARE r int; BEGIN EXECUTE format('SELECT count(*)::int FROM %I', $1) INTO r; RETURN r > 0; END$$",
      "CREATE TABLE things (id int PRIMARY KEY, source text DEFAULT 'base' CHECK (has_rows(source)))",
      tenThings,
    ],
  },
  {
    name: 'computed again: a CHECK whose function compares citext by an operator of the search_path',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: unevaluatedFunction,
    setup: [
      'CREATE EXTENSION citext',
      "CREATE FUNCTION same(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN ('A'::public.citext = 'a'::public.citext)::int; END$$",
      'CREATE TABLE things (id int PRIMARY KEY, n int DEFAULT 1, CHECK (n = same(id)))',
      tenThings,
    ],
  },
  {
    name: 'computed again: a trigger that always fires, whose condition composes the name of a table',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: { ...unevaluatedFunction, truth: 'dump' },
    setup: [
      "CREATE FUNCTION rows_of(int) RETURNS int LANGUAGE plpgsql AS $$DECLARE r int; BEGIN EXECUTE format('SELECT count(*)::int FROM %I', 'base') INTO r; RETURN r; END$$",
      'CREATE FUNCTION give() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'CREATE TABLE things (id int PRIMARY KEY)',
      'CREATE TRIGGER giving BEFORE INSERT OR UPDATE ON things FOR EACH ROW WHEN (rows_of(NEW.id) IS NOT NULL) EXECUTE FUNCTION give()',
      'ALTER TABLE things ENABLE ALWAYS TRIGGER giving',
      tenThings,
    ],
  },
  {
    name: 'computed again: an index whose function calls one that composes the name of a table',
    verdict: 'continuous',
    unproven: ['reading-functions'],
    differs: unevaluatedFunction,
    setup: [
      "CREATE FUNCTION rows_of(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$DECLARE r int; BEGIN EXECUTE format('SELECT count(*)::int FROM %I', 'base') INTO r; RETURN r; END$$",
      'CREATE FUNCTION rows_in(int) RETURNS int IMMUTABLE LANGUAGE sql AS $$SELECT public.rows_of($1)$$',
      'CREATE TABLE things (id int PRIMARY KEY)',
      tenThings,
      'CREATE INDEX ON things (rows_in(id))',
    ],
  },
  {
    name: 'computed again: a generated column whose function hides that it does not find a name',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: unevaluatedFunction,
    setup: [
      'CREATE FUNCTION twice(int) RETURNS int IMMUTABLE LANGUAGE sql RETURN $1 * 2',
      'CREATE FUNCTION safe(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN twice($1); EXCEPTION WHEN OTHERS THEN RETURN 0; END$$',
      'CREATE TABLE things (id int PRIMARY KEY, safe int GENERATED ALWAYS AS (safe(id)) STORED)',
      tenThings,
    ],
  },
  {
    name: 'computed again: a CHECK that compares a comparison with the clock',
    verdict: 'continuous',
    setup: ['CREATE TABLE things (id int PRIMARY KEY CHECK ((id < extract(epoch FROM now()))::int < 2))', tenThings],
  },
  {
    name: 'computed again: a CHECK that compares the clock with a constant',
    verdict: 'continuous',
    unproven: ['time-checks'],
    setup: ["CREATE TABLE things (id int PRIMARY KEY CHECK (now() < '2099-01-01'))", tenThings],
  },
  {
    name: 'computed again: a trigger for replicas that writes what is there',
    verdict: 'dump',
    reasons: ['always-triggers'],
    differs: {
      truth: 'continuous',
      why: 'what the function of a trigger does is not analysed, unless it only returns the row',
    },
    setup: [
      'CREATE TABLE things (id int PRIMARY KEY, twice int)',
      'CREATE FUNCTION doubled() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN NEW.twice := NEW.id * 2; RETURN NEW; END$$',
      'CREATE TRIGGER doubled BEFORE INSERT OR UPDATE ON things FOR EACH ROW EXECUTE FUNCTION doubled()',
      'ALTER TABLE things ENABLE ALWAYS TRIGGER doubled',
      tenThings,
    ],
  },
  {
    name: 'computed again: an index whose function passes the name of a table to pg_relation_size',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      "CREATE FUNCTION pages(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$BEGIN RETURN (pg_relation_size('base') / 8192)::int; END$$",
      'CREATE TABLE things (id int PRIMARY KEY)',
      'CREATE INDEX ON things (id) WHERE pages(id) IS NOT NULL',
      tenThings,
    ],
  },
  {
    name: 'computed again: an index whose function has a variable of type regclass',
    verdict: 'blocked',
    reasons: ['search-path'],
    setup: [
      "CREATE FUNCTION named(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$DECLARE r regclass := 'base'; BEGIN RETURN (r IS NOT NULL)::int; END$$",
      'CREATE TABLE things (id int PRIMARY KEY)',
      'CREATE INDEX ON things (id) WHERE named(id) IS NOT NULL',
      tenThings,
    ],
  },
  {
    name: 'computed again: an operator class whose function looks for a table by the search_path',
    verdict: 'blocked',
    reasons: ['search-path'],
    differs: {
      truth: 'continuous',
      why: 'the function to_regclass returns NULL for a name that is not found; whether the result matters is not evaluated',
    },
    setup: [
      "CREATE FUNCTION compare(int, int) RETURNS int IMMUTABLE LANGUAGE sql AS $$SELECT btint4cmp($1, $2) + 0 * coalesce((to_regclass('base') IS NULL)::int, 0)$$",
      'CREATE OPERATOR CLASS by_base FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 compare(int, int)',
      'CREATE TABLE things (id int PRIMARY KEY)',
      'CREATE INDEX ON things (id by_base)',
      tenThings,
    ],
  },
  {
    name: 'computed again: a hash of the text of an XML document, in a generated column',
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: changesUnseen,
    setup: [
      'CREATE TABLE docs (id int PRIMARY KEY, x xml, h text GENERATED ALWAYS AS (md5(x::text)) STORED)',
      `INSERT INTO docs (id, x) VALUES (1, ${declared}), (2, ${declared}), (3, ${declared})`,
    ],
    quiet: ['docs'],
  },
  {
    name: 'computed again: a hash of an XML document by a function',
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: changesUnseen,
    setup: [
      'CREATE FUNCTION xml_hash(xml) RETURNS text IMMUTABLE LANGUAGE sql AS $$SELECT md5($1::text)$$',
      'CREATE TABLE docs (id int PRIMARY KEY, x xml, h text GENERATED ALWAYS AS (xml_hash(x)) STORED)',
      `INSERT INTO docs (id, x) VALUES (1, ${declared}), (2, ${declared}), (3, ${declared})`,
    ],
    quiet: ['docs'],
  },
  {
    name: 'computed again: a unique index over the text of an XML document',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: changesUnseen,
    setup: [
      'CREATE TABLE docs (id int PRIMARY KEY, x xml)',
      'CREATE UNIQUE INDEX docs_x ON docs ((md5(x::text)))',
      `INSERT INTO docs VALUES (1, ${declared}), (2, '<a n="1"/>')`,
    ],
    quiet: ['docs'],
  },
  {
    name: 'computed again: a CHECK and a domain that require an XML declaration',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: changesUnseen,
    setup: [
      "CREATE DOMAIN doc AS xml CHECK (XMLSERIALIZE(CONTENT VALUE AS text) LIKE '<?xml%')",
      "CREATE TABLE docs (id int PRIMARY KEY, x xml CHECK (x::text LIKE '<?xml%'), y doc)",
      `INSERT INTO docs VALUES (1, ${declared}, ${declared})`,
    ],
    quiet: ['docs'],
  },
  {
    name: 'computed again: parts of XML documents, and whether it is one',
    verdict: 'continuous',
    setup: [
      "CREATE FUNCTION n_of(xml) RETURNS text IMMUTABLE LANGUAGE sql AS $$SELECT (xpath('/a/@n', $1))[1]::text$$",
      `CREATE TABLE docs (
        id int PRIMARY KEY,
        x xml CHECK (x IS DOCUMENT),
        n text GENERATED ALWAYS AS ((xpath('/a/@n', x))[1]::text) STORED,
        m text GENERATED ALWAYS AS (n_of(x)) STORED
      )`,
      'CREATE UNIQUE INDEX docs_id ON docs ((n_of(x)), id)',
      `INSERT INTO docs (id, x) VALUES (1, ${declared}), (2, ${declared}), (3, '<a/>')`,
    ],
    quiet: ['docs'],
  },
  {
    name: 'computed again: hashes of an enum and of an array of them, in generated columns',
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: changesUnseen,
    setup: [
      statuses,
      `CREATE TABLE things (
        id int PRIMARY KEY,
        s status,
        k int GENERATED ALWAYS AS (hashenum(s)) STORED,
        l int GENERATED ALWAYS AS (hash_array(ARRAY[s])) STORED
      )`,
      "INSERT INTO things (id, s) VALUES (1, 'new'), (2, 'open'), (3, 'done')",
    ],
    quiet: ['things'],
  },
  {
    name: 'computed again: a hash of an enum by a function',
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: changesUnseen,
    setup: [
      statuses,
      'CREATE FUNCTION bucket(status) RETURNS int IMMUTABLE LANGUAGE sql AS $$SELECT abs(hashenum($1) % 64)$$',
      'CREATE TABLE things (id int PRIMARY KEY, s status, k int GENERATED ALWAYS AS (bucket(s)) STORED)',
      "INSERT INTO things (id, s) VALUES (1, 'new'), (2, 'open'), (3, 'done')",
    ],
    quiet: ['things'],
  },
  {
    name: 'computed again: a CHECK on the object id of a type',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: changesUnseen,
    setup: [
      statuses,
      'CREATE TABLE things (id int PRIMARY KEY, r regtype)',
      "INSERT INTO things VALUES (1, 'status'), (2, 'status')",
      "DO $$BEGIN EXECUTE format('ALTER TABLE things ADD CHECK (r::oid = %s)', 'status'::regtype::oid); END$$",
    ],
    quiet: ['things'],
  },
  {
    name: 'computed again: labels of an enum, names of types, and hashes of other arrays',
    verdict: 'continuous',
    setup: [
      statuses,
      `CREATE TABLE things (
        id int PRIMARY KEY,
        s status CHECK (s >= 'new'),
        r regtype CHECK (r IS NOT NULL),
        a int[],
        o boolean GENERATED ALWAYS AS (s = 'open') STORED,
        h int GENERATED ALWAYS AS (hash_array(a)) STORED
      )`,
      "INSERT INTO things (id, s, r, a) VALUES (1, 'new', 'status', '{1}'), (2, 'open', 'int4', '{1,2}')",
    ],
    quiet: ['things'],
  },
];
