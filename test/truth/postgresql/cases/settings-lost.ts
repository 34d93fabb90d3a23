import { type PostgresCase, unevaluatedExpression } from '../case.ts';

/** Settings of a database do not come along, and the rows were written with them. */
function inTokyo(sql: string, more: string = "timezone = 'Asia/Tokyo'"): Pick<PostgresCase, 'last'> {
  return { last: [`ALTER DATABASE d1 SET ${more}`, { in: 'd1', sql: `SET ${more}; ${sql}` }] };
}

const rows = "(1, '2026-01-01 23:30+00'), (2, '2026-01-01 10:30+00')";
const dayOf = "CREATE FUNCTION day_of(timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS 'SELECT $1::date'";

/** A generated column whose values depend on the settings of the database. */
function computed(setting: string, sql: string): Omit<PostgresCase, 'name'> {
  return {
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: unevaluatedExpression,
    quiet: ['t'],
    ...inTokyo(sql, setting),
  };
}

/** As the tzdata of Debian without the package tzdata-legacy. */
const withoutZones = ['US', 'Canada', 'Brazil', 'Chile', 'Mexico', 'Japan', 'PRC', 'Asia/Calcutta'];

/** The preflight of a case reads its target. */
const namedZone: Pick<PostgresCase, 'verdict' | 'reasons' | 'to' | 'withoutZones'> = {
  verdict: 'blocked',
  reasons: ['time-zones'],
  to: 18,
  withoutZones,
};

/** What a row means to a server with other settings than those that the source has glued to a database. */
export const settingsLostCases: readonly PostgresCase[] = [
  {
    name: 'a CHECK that holds in the time zone of the database alone',
    verdict: 'continuous',
    unproven: ['setting-checks'],
    differs: unevaluatedExpression,
    quick: true,
    ...inTokyo(
      "CREATE TABLE t (id int PRIMARY KEY, at timestamptz, day date, CHECK (at::date = day)); INSERT INTO t VALUES (1, '2026-01-01 23:30+00', '2026-01-02'), (2, '2026-01-01 10:30+00', '2026-01-01')",
    ),
  },
  {
    name: 'a domain that holds in the time zone of the database alone',
    verdict: 'continuous',
    unproven: ['setting-checks'],
    differs: unevaluatedExpression,
    ...inTokyo(
      `CREATE DOMAIN early AS timestamptz CHECK (extract(hour FROM value) <> 23); CREATE TABLE t (id int PRIMARY KEY, at early); INSERT INTO t VALUES ${rows}`,
    ),
  },
  {
    name: 'a CHECK whose function asserts what the source does not ask',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    ...inTokyo(
      'CREATE FUNCTION large(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN ASSERT $1 > 100; RETURN true; END$$; CREATE TABLE t (id int PRIMARY KEY CHECK (large(id))); INSERT INTO t VALUES (1)',
      'plpgsql.check_asserts = off',
    ),
  },
  {
    name: 'CHECKs that add minutes and days to a time',
    verdict: 'continuous',
    unproven: ['setting-checks'],
    ...inTokyo(
      `CREATE TABLE t (id int PRIMARY KEY, at timestamptz CHECK (at < now() + '1 day'), until timestamptz, CHECK (until > at + '1 day 2 hours')); INSERT INTO t SELECT id, at::timestamptz, at::timestamptz + interval '3 days' FROM (VALUES ${rows}) t (id, at)`,
    ),
  },
  {
    name: 'CHECKs that add minutes to a time',
    verdict: 'continuous',
    ...inTokyo(
      `CREATE TABLE t (id int PRIMARY KEY, at timestamptz CHECK (at < now() + '5 minutes'), until timestamptz, CHECK (until > at + interval '-0.5 s' AND until > at - interval '30 hours')); INSERT INTO t SELECT id, at::timestamptz, at::timestamptz + interval '3 days' FROM (VALUES ${rows}) t (id, at)`,
    ),
  },
  {
    name: 'a CHECK that holds in every time zone',
    verdict: 'continuous',
    ...inTokyo(
      `CREATE TABLE t (id int PRIMARY KEY, at timestamptz CHECK (at > date '2020-01-01')); INSERT INTO t VALUES ${rows}`,
    ),
  },
  {
    name: 'partitions by time, made in another time zone',
    verdict: 'continuous',
    ...inTokyo(
      "CREATE TABLE t (id int, at timestamptz, PRIMARY KEY (id, at)) PARTITION BY RANGE (at); CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM ('2026-01-01') TO ('2026-02-01'); INSERT INTO t VALUES (1, '2026-01-01 00:30+09'), (2, '2026-01-31 23:30+09')",
    ),
  },
  {
    name: 'a generated column that goes by the time zone',
    verdict: 'blocked',
    reasons: ['setting-checks'],
    ...inTokyo(
      `${dayOf}; CREATE TABLE t (id int PRIMARY KEY, at timestamptz, day date GENERATED ALWAYS AS (day_of(at)) STORED); INSERT INTO t VALUES ${rows}`,
    ),
  },
  {
    name: "a generated column that goes by the time zone, in the SQL standard's way",
    verdict: 'blocked',
    reasons: ['setting-checks'],
    ...inTokyo(
      `CREATE FUNCTION day_of(x timestamptz) RETURNS date IMMUTABLE BEGIN ATOMIC SELECT x::date; END; CREATE TABLE t (id int PRIMARY KEY, at timestamptz, day date GENERATED ALWAYS AS (day_of(at)) STORED); INSERT INTO t VALUES ${rows}`,
    ),
  },
  {
    name: "a generated column that names its time zone, in the SQL standard's way",
    verdict: 'continuous',
    ...inTokyo(
      `CREATE FUNCTION day_of(x timestamptz) RETURNS date IMMUTABLE BEGIN ATOMIC SELECT (x AT TIME ZONE 'UTC')::date; END; CREATE TABLE t (id int PRIMARY KEY, at timestamptz, day date GENERATED ALWAYS AS (day_of(at)) STORED); INSERT INTO t VALUES ${rows}`,
    ),
  },
  {
    name: 'a generated column by a function that asks for the time',
    verdict: 'blocked',
    reasons: ['generated-columns'],
    setup: [
      'CREATE FUNCTION stamp() RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$SELECT now()$$',
      'CREATE TABLE t (id int PRIMARY KEY, at timestamptz GENERATED ALWAYS AS (stamp()) STORED)',
      'INSERT INTO t VALUES (1), (2)',
    ],
  },
  {
    name: 'a generated column by a function that speaks of the time',
    verdict: 'continuous',
    setup: [
      "CREATE FUNCTION told(int) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT 'now() ' || $1 /* random() */$$",
      'CREATE TABLE t (id int PRIMARY KEY, told text GENERATED ALWAYS AS (told(id)) STORED)',
      'INSERT INTO t VALUES (1), (2)',
    ],
  },
  {
    name: 'a unique index that goes by the time zone',
    verdict: 'blocked',
    reasons: ['setting-checks'],
    ...inTokyo(
      `${dayOf}; CREATE TABLE t (id int PRIMARY KEY, at timestamptz); CREATE UNIQUE INDEX ON t (day_of(at)); INSERT INTO t VALUES ${rows}`,
    ),
  },
  {
    name: 'a key of partitions that goes by the time zone',
    verdict: 'blocked',
    reasons: ['setting-checks'],
    ...inTokyo(
      `${dayOf}; CREATE TABLE t (id int, at timestamptz) PARTITION BY RANGE (day_of(at)); CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM ('2026-01-01') TO ('2026-02-01'); INSERT INTO t VALUES (1, '2026-01-01 00:30+09'), (2, '2026-01-31 23:30+09')`,
    ),
    quiet: ['t_1'],
  },
  {
    name: 'an index that goes by the time zone, and a function that names one',
    verdict: 'continuous',
    ...inTokyo(
      `${dayOf}; CREATE FUNCTION there(timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS $$SELECT ($1 AT TIME ZONE 'Asia/Tokyo')::date$$; CREATE TABLE t (id int PRIMARY KEY, at timestamptz, day date GENERATED ALWAYS AS (there(at)) STORED); CREATE INDEX ON t (day_of(at)); INSERT INTO t VALUES ${rows}`,
    ),
  },
  {
    name: 'a CHECK of how the database writes dates',
    verdict: 'continuous',
    unproven: ['setting-checks'],
    differs: unevaluatedExpression,
    ...inTokyo(
      "CREATE TABLE t (id int PRIMARY KEY, day date CHECK (day::text LIKE '__.__.____')); INSERT INTO t VALUES (1, '2026-01-02'), (2, '2026-01-01')",
      "datestyle = 'German'",
    ),
  },
  {
    name: 'a generated column whose function goes by the time zone of the role of the application',
    verdict: 'continuous',
    unproven: ['function-results'],
    differs: unevaluatedExpression,
    last: [
      'CREATE ROLE shop',
      "ALTER ROLE shop IN DATABASE d1 SET timezone = 'Asia/Tokyo'",
      {
        in: 'd1',
        sql: `SET timezone = 'Asia/Tokyo'; ${dayOf}; CREATE TABLE t (id int PRIMARY KEY, at timestamptz, day date GENERATED ALWAYS AS (day_of(at)) STORED); INSERT INTO t VALUES ${rows}`,
      },
    ],
  },
  {
    name: 'a CHECK that reads dates as the database does',
    verdict: 'continuous',
    unproven: ['setting-checks'],
    differs: unevaluatedExpression,
    ...inTokyo(
      "CREATE TABLE t (id int PRIMARY KEY, day text CHECK (day::date > '2000-01-01')); INSERT INTO t VALUES (1, '25/12/2026'), (2, '01.01.2026')",
      "datestyle = 'ISO, DMY'",
    ),
  },
  {
    name: 'a generated column of a float as a text of 15 digits',
    ...computed(
      'extra_float_digits = 0',
      'CREATE TABLE t (id int PRIMARY KEY, f float8, s text GENERATED ALWAYS AS (f::text) STORED); INSERT INTO t VALUES (1, 0.1::float8 + 0.2::float8)',
    ),
  },
  {
    name: 'a generated column of bytes as an escaped text',
    ...computed(
      "bytea_output = 'escape'",
      "CREATE TABLE t (id int PRIMARY KEY, b bytea, s text GENERATED ALWAYS AS (b::text) STORED); INSERT INTO t VALUES (1, 'abc')",
    ),
  },
  {
    name: 'a generated column of a function that writes dates as the database does',
    quick: true,
    ...computed(
      "datestyle = 'German'",
      "CREATE FUNCTION d(date) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT $1::text$$; CREATE TABLE t (id int PRIMARY KEY, day date, s text GENERATED ALWAYS AS (d(day)) STORED); INSERT INTO t VALUES (1, '2026-01-02')",
    ),
  },
  {
    name: 'a generated column in the default text search configuration of the database',
    ...computed(
      "default_text_search_config = 'pg_catalog.german'",
      "CREATE FUNCTION tsv(text) RETURNS tsvector LANGUAGE sql IMMUTABLE AS 'SELECT to_tsvector($1)'; CREATE TABLE t (id int PRIMARY KEY, body text, words tsvector GENERATED ALWAYS AS (tsv(body)) STORED); INSERT INTO t VALUES (1, 'die laufenden Hunde und the running dogs')",
    ),
  },
  {
    name: 'a CHECK of bytes as an escaped text',
    verdict: 'continuous',
    unproven: ['checked-again'],
    differs: unevaluatedExpression,
    ...inTokyo(
      "CREATE TABLE t (id int PRIMARY KEY, b bytea CHECK (length(b::text) < 5)); INSERT INTO t VALUES (1, 'abcd')",
      "bytea_output = 'escape'",
    ),
  },
  {
    name: 'a text search configuration of the server that was altered',
    verdict: 'continuous',
    unproven: ['computed-again'],
    differs: unevaluatedExpression,
    quiet: ['t'],
    setup: [
      'ALTER TEXT SEARCH CONFIGURATION pg_catalog.english ALTER MAPPING FOR asciiword WITH simple',
      "CREATE TABLE t (id int PRIMARY KEY, body text, words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED)",
      "INSERT INTO t VALUES (1, 'the running dogs')",
    ],
  },
  {
    name: 'names of tables in a column, quoted by a setting of the database',
    verdict: 'continuous',
    to: 18,
    setup: ['CREATE TABLE t (id int PRIMARY KEY, r regclass)', "INSERT INTO t VALUES (1, 't')"],
    last: ['ALTER DATABASE d1 SET quote_all_identifiers = on'],
    app: ["INSERT INTO public.t VALUES (2, 'pg_class')"],
  },
  {
    name: 'a generated column in a time zone that the tzdata of the target lacks',
    ...namedZone,
    quick: true,
    setup: [
      "CREATE TABLE ev (id int PRIMARY KEY, ts timestamptz, local timestamp GENERATED ALWAYS AS (ts AT TIME ZONE 'US/Pacific') STORED)",
      'INSERT INTO ev VALUES (1, now())',
    ],
    app: ['INSERT INTO ev VALUES (2, now())'],
  },
  {
    name: 'an index in a time zone that the tzdata of the target lacks',
    ...namedZone,
    setup: [
      "CREATE TABLE ev (id int PRIMARY KEY, ts timestamptz); CREATE INDEX ON ev ((timezone('Japan', ts)))",
      'INSERT INTO ev VALUES (1, now())',
    ],
  },
  {
    name: 'a function with a time zone that the tzdata of the target lacks',
    ...namedZone,
    setup: ["CREATE FUNCTION f() RETURNS text LANGUAGE sql SET timezone = 'Canada/Eastern' AS 'SELECT now()::text'"],
  },
  {
    name: 'settings, a view and a default with a time zone that the tzdata of the target lacks',
    verdict: 'continuous',
    to: 18,
    withoutZones,
    setup: [
      "CREATE TABLE ev (id int PRIMARY KEY, ts timestamptz, at timestamp DEFAULT timezone('Japan', now()))",
      "CREATE VIEW v AS SELECT ts AT TIME ZONE 'US/Pacific' AS at FROM ev",
      'INSERT INTO ev (id) VALUES (1)',
    ],
    last: ["ALTER DATABASE d1 SET timezone = 'US/Pacific'", "ALTER ROLE postgres SET timezone = 'US/Pacific'"],
    app: ['INSERT INTO ev (id) VALUES (2)'],
  },
  {
    name: 'a generated column in the time zone of another column',
    verdict: 'continuous',
    unproven: ['time-zones'],
    to: 18,
    withoutZones,
    differs: { truth: 'blocked', why: 'the names of time zones in the rows are not read' },
    setup: [
      'CREATE TABLE ev (id int PRIMARY KEY, ts timestamptz, tz text, local timestamp GENERATED ALWAYS AS (ts AT TIME ZONE tz) STORED)',
      "INSERT INTO ev VALUES (1, now(), 'US/Pacific')",
    ],
  },
  {
    name: 'names of time zones as words',
    verdict: 'continuous',
    to: 18,
    withoutZones,
    setup: [
      "CREATE TABLE ev (id int PRIMARY KEY, country text DEFAULT 'Japan' CHECK (country IN ('Japan', 'PRC', 'US/Pacific')), ts timestamptz DEFAULT timezone('utc', now()))",
      'INSERT INTO ev VALUES (1)',
    ],
  },
  {
    name: 'a generated column that reads an abbreviation of a time zone',
    ...computed(
      "timezone_abbreviations = 'Australia'",
      "CREATE FUNCTION f(text) RETURNS timestamp LANGUAGE sql IMMUTABLE AS $$SELECT ($1::timestamptz) AT TIME ZONE 'UTC'$$; CREATE TABLE t (id int PRIMARY KEY, a text, g timestamp GENERATED ALWAYS AS (f(a)) STORED); INSERT INTO t VALUES (1, '2026-01-01 00:00 EST'), (2, '2026-01-01 00:00 UTC')",
    ),
  },
  {
    name: 'a generated column at a time zone with an abbreviation',
    ...computed(
      "timezone_abbreviations = 'India'",
      "CREATE TABLE t (id int PRIMARY KEY, at timestamptz, g timestamp GENERATED ALWAYS AS (at AT TIME ZONE 'IST') STORED); INSERT INTO t VALUES (1, '2026-01-01 00:00+00'), (2, '2026-01-02 00:00+00')",
    ),
  },
];
