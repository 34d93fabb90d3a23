import { expect, test } from 'vitest';
import {
  type SessionConstraint,
  sessionChecksCheck,
} from '../../../../../src/db/preflight/postgresql/checks/session-checks.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const both = 'fail continuous+dump';
const tenant = "CHECK ((tenant = current_setting('app.tenant'::text)))";
const zone = "CHECK ((zone = current_setting('TimeZone'::text)))";
const who = 'CHECK ((who = CURRENT_USER))';
const named = 'CHECK ((to_regclass(tbl) IS NOT NULL))';
const cast = 'CHECK (((tbl)::regclass IS NOT NULL))';

test.each([
  { definition: tenant, filled: true, verdict: both },
  { definition: tenant, filled: false, verdict: 'pass' },
  { definition: zone, filled: true, verdict: 'unknown' },
  {
    definition: "CHECK ((current_setting('server_version_num'::text)::integer < 160000))",
    filled: true,
    verdict: 'unknown',
  },
  { definition: 'CHECK ((lsn <= pg_current_wal_lsn()))', filled: true, verdict: 'unknown' },
  { definition: who, filled: true, verdict: 'unknown' },
  { definition: who, filled: false, verdict: 'pass' },
  { definition: named, filled: true, verdict: 'unknown' },
  { definition: cast, filled: true, verdict: 'unknown' },
] as const)('$definition, with rows $filled: $verdict', ({ definition, filled, verdict }) => {
  const one: SessionConstraint = { name: 'k', owner: 'public.t', ofDomain: false, definition, filled };
  expect(short(sessionChecksCheck.evaluate({ sessionChecks: [one] }, 'd1', sourceFacts(), preflightOptions()))).toBe(
    verdict,
  );
});

test('they are found on a real server, the fix removes them, and undo restores them', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  for (const statement of [
    'CREATE TABLE base (id int PRIMARY KEY)',
    'CREATE DOMAIN "The Name" AS text CHECK (to_regclass(value) IS NOT NULL)',
    `CREATE TABLE t (id int PRIMARY KEY, who text CHECK (who = current_user OR who = 'x'), tbl "The Name",
       fine text CHECK (to_regclass(fine) IS NOT NULL), old text CHECK (length(old) < 9))`,
    "INSERT INTO t VALUES (1, 'postgres', 'base', 'public.base', 'a')",
    `ALTER TABLE t ADD CONSTRAINT "its tenant" CHECK (old = coalesce(nullif(current_setting('app.tenant', true), ''), 'a'))`,
  ]) {
    await server.query(statement);
  }
  const before = found(await preflightServer(server), 'session-checks', 'postgres');
  expect(before.status).toBe('unknown');
  expect(before.objects?.map((one) => one.split(' CHECK')[0])).toEqual([
    '"The Name_check" on public."The Name"',
    '"its tenant" on public.t',
    't_fine_check on public.t',
    't_who_check on public.t',
  ]);
  // The owner of the table learns it from the query in the finding.
  const [query] =
    /SELECT EXISTS \(SELECT FROM ONLY "public"\."t" WHERE NOT \(\(to_regclass.*?\)\)\)/.exec(before.detail ?? '') ?? [];
  expect(await server.query(query ?? '')).toEqual([{ exists: false }]);
  for (const statement of before.fix?.sql ?? []) await server.query(statement);
  expect(found(await preflightServer(server), 'session-checks', 'postgres').status).toBe('pass');
  for (const statement of before.fix?.undoReview ?? []) await server.query(statement);
  expect(found(await preflightServer(server), 'session-checks', 'postgres').status).toBe('unknown');
});

test('a value of the server itself is known on the target only, and the report says how to see it', () => {
  const constraint = { name: 'k', owner: 'public.t', ofDomain: false, filled: true };
  const one = { ...constraint, definition: 'CHECK ((lsn <= pg_current_wal_lsn()))' };
  const outcome = sessionChecksCheck.evaluate({ sessionChecks: [one] }, 'd1', sourceFacts(), preflightOptions());
  expectOutcomeText(outcome);
});

test('the size of a value is measured before it is compressed', () => {
  const constraint = { name: 'k', owner: 'public.t', ofDomain: false, filled: true };
  const one = { ...constraint, definition: 'CHECK ((pg_column_size(doc) < 8000))' };
  expectOutcomeText(sessionChecksCheck.evaluate({ sessionChecks: [one] }, 'd1', sourceFacts(), preflightOptions()));
});

test('names of types count where the search_path decides', async () => {
  const server = await startPostgres({
    version: 16,
    settings: ready,
    setup: [
      "CREATE TYPE mood AS ENUM ('a')",
      'CREATE TABLE t (id int PRIMARY KEY, m mood, w text)',
      "ALTER TABLE t ADD CONSTRAINT a_text CHECK (pg_typeof(m)::text = 'mood')",
      "ALTER TABLE t ADD CONSTRAINT b_input CHECK (pg_input_is_valid(w, 'mood'))",
      'ALTER TABLE t ADD CONSTRAINT c_variable CHECK (pg_input_is_valid(w, coalesce(w)) OR true)',
      'ALTER TABLE t ADD CONSTRAINT d_size CHECK (pg_column_size(w) < 8000)',
      "ALTER TABLE t ADD CONSTRAINT fine_type CHECK (pg_typeof(m) = 'mood'::regtype)",
      "ALTER TABLE t ADD CONSTRAINT fine_input CHECK (pg_input_is_valid(id::text, 'integer') AND pg_input_is_valid(w, 'public.mood'))",
      'ALTER TABLE t ADD CONSTRAINT fine_length CHECK (octet_length(w) < 8000)',
      "INSERT INTO t VALUES (1, 'a', 'a')",
    ],
  });
  const { objects } = found(await preflightServer(server), 'session-checks', 'postgres');
  expect(objects?.map((one) => one.split(' ')[0])).toEqual(['a_text', 'b_input', 'c_variable', 'd_size']);
});

test('of the functions that are not IMMUTABLE only those count that depend on more than arguments and settings', async () => {
  const server = await startPostgres({
    version: 15,
    settings: ready,
    setup: [
      "CREATE TYPE mood AS ENUM ('a')",
      'CREATE SEQUENCE s',
      'CREATE TABLE t (id int PRIMARY KEY, at timestamptz, m mood, w text)',
      "ALTER TABLE t ADD CONSTRAINT a_right CHECK (has_table_privilege('postgres', 'public.t', 'SELECT'))",
      "ALTER TABLE t ADD CONSTRAINT b_sequence CHECK (id <= coalesce(pg_sequence_last_value('s'), id))",
      "ALTER TABLE t ADD CONSTRAINT c_file CHECK (pg_read_file('PG_VERSION') <> w)",
      'ALTER TABLE t ADD CONSTRAINT d_comment CHECK (obj_description(id::oid) IS NULL)',
      'ALTER TABLE t ADD CONSTRAINT e_query CHECK (current_query() <> w)',
      'ALTER TABLE t ADD CONSTRAINT fine_clock CHECK (at < now())',
      "ALTER TABLE t ADD CONSTRAINT fine_day CHECK (at::date > date '2000-01-01')",
      'ALTER TABLE t ADD CONSTRAINT fine_label CHECK (m = ANY (enum_range(NULL::mood)))',
      "ALTER TABLE t ADD CONSTRAINT fine_json CHECK (to_jsonb(w) <> 'null' AND length(concat(w, id)) < 99)",
      "ALTER TABLE t ADD CONSTRAINT fine_bytes CHECK (convert_to(w, 'UTF8') <> '')",
      "INSERT INTO t VALUES (1, '2026-01-01', 'a', 'a')",
    ],
  });
  const { objects } = found(await preflightServer(server), 'session-checks', 'postgres');
  expect(objects?.map((one) => one.split(' ')[0])).toEqual(['a_right', 'b_sequence', 'c_file', 'd_comment', 'e_query']);
});

test.each([14, 18] as const)(
  'on PostgreSQL %i, CHECKs of the server are found',
  async (version) => {
    const server = await startPostgres({
      version,
      settings: ready,
      setup: [
        `CREATE TABLE t (id int PRIMARY KEY, lsn pg_lsn DEFAULT pg_current_wal_lsn() CONSTRAINT past CHECK (lsn <= pg_current_wal_lsn()))`,
        `ALTER TABLE t ADD CONSTRAINT release CHECK (current_setting('server_version_num')::int / 10000 = ${version})`,
        "ALTER TABLE t ADD CONSTRAINT product CHECK (version() LIKE 'PostgreSQL %')",
        'ALTER TABLE t ADD CONSTRAINT plain CHECK (id > 0)',
        'INSERT INTO t VALUES (1)',
      ],
    });
    const outcome = found(await preflightServer(server), 'session-checks', 'postgres');
    expect(outcome.status).toBe('unknown');
    expect(outcome.objects?.map((one) => one.split(' ')[0])).toEqual(['past', 'product', 'release']);
  },
  60_000,
);
