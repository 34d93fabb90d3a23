import type { PostgresCase } from '../case.ts';

/** What the engine of the sandbox avoids, and a service that runs pg_dump with other options need not. */
const otherOptions = {
  truth: 'blocked',
  why: 'the engine of the sandbox quotes all names and leaves out privileges; whether the service does is not known, and the report says so',
} as const;

const systemUser = "CREATE TABLE logins (id int PRIMARY KEY, system_user text NOT NULL DEFAULT 'root'";

export const dumpOptionsCases: readonly PostgresCase[] = [
  {
    name: 'options of pg_dump: a column named system_user in a CHECK',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    quick: true,
    setup: [`${systemUser} CHECK (system_user IS NOT NULL))`, 'INSERT INTO logins VALUES (1), (2)'],
  },
  {
    name: 'options of pg_dump: a column named system_user in an index',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    setup: [`${systemUser})`, 'CREATE INDEX ON logins (system_user)'],
  },
  {
    name: 'options of pg_dump: a column named system_user in a view and a foreign key',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    setup: [
      `${systemUser} UNIQUE)`,
      'CREATE TABLE jobs (id int PRIMARY KEY, system_user text REFERENCES logins (system_user))',
      'CREATE VIEW names AS SELECT lower(system_user) AS name FROM logins',
    ],
  },
  {
    name: 'options of pg_dump: an argument named system_user',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    setup: ["CREATE FUNCTION home(system_user text) RETURNS text LANGUAGE sql AS $$SELECT '/home/' || $1$$"],
  },
  {
    name: 'options of pg_dump: arguments named json and merge_action, keywords since 17',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    quick: true,
    setup: [
      'CREATE FUNCTION put(json json) RETURNS text LANGUAGE sql AS $$SELECT $1::text$$',
      "CREATE FUNCTION rows() RETURNS TABLE (merge_action text) LANGUAGE sql AS $$SELECT 'a'$$",
    ],
  },
  {
    name: 'options of pg_dump: a type in a schema named json',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    to: 18,
    setup: [
      'CREATE SCHEMA json',
      "CREATE TYPE json.mood AS ENUM ('a')",
      'CREATE TABLE t (id int PRIMARY KEY, m json.mood)',
      "INSERT INTO t VALUES (1, 'a')",
    ],
  },
  {
    name: 'options of pg_dump: an argument named normalize, a keyword since 13',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    from: 12,
    setup: ['CREATE FUNCTION put(normalize text) RETURNS text LANGUAGE sql AS $$SELECT $1::text$$'],
  },
  {
    name: 'options of pg_dump: columns, aliases and schemas named as keywords since 17, without a type',
    verdict: 'continuous',
    setup: [
      'CREATE SCHEMA json',
      "CREATE TABLE json.json_value (id int PRIMARY KEY, json json, merge_action text CHECK (merge_action <> 'x'))",
      'CREATE INDEX json_table ON json.json_value (merge_action, lower(merge_action))',
      'CREATE VIEW json.json_query AS SELECT json, json_scalar.merge_action AS json_exists FROM json.json_value json_scalar',
      'CREATE FUNCTION json.json_serialize(path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT $1$$',
      "CREATE VIEW json.v AS SELECT json.json_serialize('a') AS x",
    ],
  },
  {
    // Of both engines, none takes the pg_dump of the source; pgcopydb does, and fails.
    name: 'options of pg_dump: a column named system_user that only its table and its key name',
    verdict: 'continuous',
    unproven: ['dump-options'],
    setup: [
      "CREATE TABLE logins (system_user text PRIMARY KEY, note text DEFAULT 'no system_user here')",
      'CREATE VIEW names AS SELECT l.system_user FROM logins l JOIN base b ON b.t = l.system_user',
    ],
  },
  {
    name: 'options of pg_dump: a column named system_user, and both releases reserve the word',
    verdict: 'continuous',
    from: 16,
    setup: ['CREATE TABLE logins (id int PRIMARY KEY, "system_user" text CHECK ("system_user" <> \'x\'))'],
  },
  {
    name: 'options of pg_dump: a grant on a function that has other arguments there',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    quick: true,
    setup: ['CREATE ROLE emitter', 'GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) TO emitter'],
  },
  {
    name: 'options of pg_dump: a grant on a function of an extension that has other arguments there',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    setup: [
      'CREATE EXTENSION pg_stat_statements',
      'CREATE ROLE monitor_x',
      'GRANT EXECUTE ON FUNCTION pg_stat_statements_reset TO monitor_x',
    ],
  },
  {
    name: 'options of pg_dump: an extension whose creator was dropped',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    first: ['CREATE ROLE boss SUPERUSER LOGIN'],
    setup: [
      'SET SESSION AUTHORIZATION boss; CREATE EXTENSION pgstattuple; RESET SESSION AUTHORIZATION',
      'REASSIGN OWNED BY boss TO postgres',
      'DROP OWNED BY boss',
    ],
    last: ['DROP ROLE boss'],
  },
  {
    name: 'options of pg_dump: privileges that were taken from PUBLIC on every function',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: otherOptions,
    from: 17,
    to: 18,
    setup: ['REVOKE EXECUTE ON FUNCTION jsonb_strip_nulls(jsonb) FROM PUBLIC'],
  },
  {
    name: 'options of pg_dump: a grant on a function that is the same there',
    verdict: 'continuous',
    setup: [
      'CREATE ROLE rotator',
      'GRANT EXECUTE ON FUNCTION pg_switch_wal() TO rotator',
      'GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) TO PUBLIC',
    ],
  },
  {
    name: 'options of pg_dump: tables of other owners, and grants on all that has privileges',
    verdict: 'continuous',
    setup: [
      'CREATE ROLE clerk',
      'CREATE ROLE "the reader"',
      'GRANT clerk TO "the reader"',
      'CREATE SCHEMA office AUTHORIZATION clerk',
      'CREATE TABLE office.papers (id int PRIMARY KEY, t text)',
      'ALTER TABLE office.papers OWNER TO clerk',
      "CREATE TYPE office.color AS ENUM ('red')",
      'CREATE SEQUENCE office.numbers',
      'GRANT SELECT ON office.papers TO "the reader" WITH GRANT OPTION',
      'GRANT UPDATE (t) ON office.papers TO "the reader"',
      'GRANT USAGE ON TYPE office.color TO "the reader"',
      'GRANT USAGE ON SEQUENCE office.numbers TO "the reader"',
      'ALTER DEFAULT PRIVILEGES FOR ROLE clerk IN SCHEMA office GRANT SELECT ON TABLES TO "the reader"',
    ],
  },
  {
    name: 'options of pg_dump: names that the client_encoding of the database has not',
    verdict: 'continuous',
    unproven: ['dump-options'],
    differs: {
      truth: 'blocked',
      why: 'the engine of the sandbox reads names as UTF8; whether the service does is not known, and the report says so',
    },
    setup: [
      'CREATE TABLE t (id int PRIMARY KEY, "preis€" int)',
      "COMMENT ON TABLE t IS 'Ж'",
      'INSERT INTO t VALUES (1, 1), (2, 2)',
    ],
    last: ["ALTER DATABASE d1 SET client_encoding = 'LATIN1'"],
  },
  {
    name: 'options of pg_dump: names of ASCII, and a client_encoding of the database',
    verdict: 'continuous',
    setup: ['CREATE TABLE t (id int PRIMARY KEY, price int)', 'INSERT INTO t VALUES (1, 1), (2, 2)'],
    last: ["ALTER DATABASE d1 SET client_encoding = 'LATIN1'"],
  },
];
