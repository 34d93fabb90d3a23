import type { PostgresCase } from '../case.ts';

const endpoint = { username: 'someone' };
const plain = "CREATE ROLE someone LOGIN PASSWORD 'secret'";
const half = 'CREATE TABLE half (a int PRIMARY KEY, b int, c text)';

/** Problems that are easily overlooked: locks, rights that are there and do not count, files that do not load, lost rows. */
export const unusualServerCases: readonly PostgresCase[] = [
  {
    name: 'a prepared transaction that holds a table',
    verdict: 'blocked',
    reasons: ['prepared-xacts', 'locked-tables'],
    last: [
      {
        in: 'd1',
        sql: "BEGIN; LOCK TABLE base IN ACCESS EXCLUSIVE MODE; INSERT INTO base VALUES (90, 'x'); PREPARE TRANSACTION 'held'",
      },
    ],
  },
  {
    name: 'a member of pg_read_all_data that does not inherit',
    verdict: 'blocked',
    reasons: ['dump-privs'],
    first: [`${plain} NOINHERIT`, 'GRANT pg_read_all_data TO someone'],
    connection: endpoint,
  },
  {
    name: 'a member of a superuser',
    verdict: 'dump',
    reasons: ['superuser'],
    first: [plain, 'GRANT postgres TO someone'],
    connection: endpoint,
  },
  {
    name: 'event triggers are off on the source alone',
    verdict: 'dump',
    from: 17,
    to: 18,
    settings: { event_triggers: 'off' },
    setup: [
      "CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no ddl'; END$$",
      'CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION f()',
    ],
  },
  {
    name: 'gone from the catalogue: table',
    verdict: 'continuous',
    setup: [half, "DELETE FROM pg_class WHERE relname = 'half'"],
  },
  {
    name: 'gone from the catalogue: role of a policy',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    first: ['CREATE ROLE ghost'],
    setup: ['CREATE POLICY p ON base TO ghost USING (true)', "DELETE FROM pg_authid WHERE rolname = 'ghost'"],
  },
  {
    name: 'gone from the catalogue: index',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    setup: [half, 'CREATE INDEX halfi ON half(b)'],
    last: [{ in: 'd1', sql: "DELETE FROM pg_class WHERE relname = 'halfi'" }],
  },
  {
    name: 'gone from the catalogue: column',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    setup: [half],
    last: [{ in: 'd1', sql: "DELETE FROM pg_attribute WHERE attrelid = 'half'::regclass AND attname = 'b'" }],
  },
  {
    name: 'gone from the catalogue: type',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    setup: [
      "CREATE TYPE mood AS ENUM ('a')",
      'CREATE TABLE half (a int PRIMARY KEY, b mood)',
      "DELETE FROM pg_type WHERE typname = 'mood'",
    ],
  },
  {
    name: 'gone from the catalogue: schema',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    setup: [
      'CREATE SCHEMA gone',
      'CREATE TABLE gone.half (a int PRIMARY KEY)',
      "DELETE FROM pg_namespace WHERE nspname = 'gone'",
    ],
  },
  {
    name: 'gone from the catalogue: owner',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    first: ['CREATE ROLE owner'],
    setup: [
      'CREATE TABLE half (a int PRIMARY KEY)',
      'ALTER TABLE half OWNER TO owner',
      "DELETE FROM pg_authid WHERE rolname = 'owner'",
    ],
  },
  {
    name: 'gone from the catalogue: owner of a function',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    first: ['CREATE ROLE owner'],
    setup: [
      'CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $$SELECT 1$$',
      'ALTER FUNCTION f() OWNER TO owner',
      "DELETE FROM pg_authid WHERE rolname = 'owner'",
    ],
  },
  {
    name: 'gone from the catalogue: constraint',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    setup: [
      'CREATE TABLE half (a int PRIMARY KEY, b int CHECK (b > 0))',
      "DELETE FROM pg_constraint WHERE conname = 'half_b_check'",
    ],
  },
  {
    name: 'gone from the catalogue: default',
    verdict: 'continuous',
    setup: [
      'CREATE TABLE half (a int PRIMARY KEY, b int DEFAULT 5)',
      "DELETE FROM pg_attrdef WHERE adrelid = 'half'::regclass",
    ],
  },
  {
    name: 'gone from the catalogue: function of a trigger',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    setup: [
      half,
      'CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$',
      'CREATE TRIGGER tr BEFORE INSERT ON half FOR EACH ROW EXECUTE FUNCTION tf()',
      "DELETE FROM pg_proc WHERE proname = 'tf'",
    ],
  },
  {
    name: 'gone from the catalogue: rule of a view',
    verdict: 'blocked',
    reasons: ['lost-rows'],
    setup: ['CREATE VIEW v AS SELECT 1 AS a', "DELETE FROM pg_rewrite WHERE ev_class = 'v'::regclass"],
  },
  {
    name: 'an index as identity that is invalid',
    verdict: 'dump',
    reasons: ['replica-identity'],
    setup: [
      'CREATE TABLE t (a int NOT NULL, b int)',
      'CREATE UNIQUE INDEX ti ON t (a)',
      'ALTER TABLE t REPLICA IDENTITY USING INDEX ti',
      'INSERT INTO t VALUES (1, 1)',
      'UPDATE t SET b = 2',
      "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'ti'::regclass",
    ],
  },
  {
    name: 'a primary key whose index is not ready',
    verdict: 'dump',
    reasons: ['replica-identity'],
    setup: [
      'CREATE TABLE t (a int PRIMARY KEY, b int)',
      'INSERT INTO t VALUES (1, 1)',
      'UPDATE t SET b = 2',
      "UPDATE pg_index SET indisvalid = false, indisready = false WHERE indexrelid = 't_pkey'::regclass",
    ],
  },
];
