import { describe, expect, test } from 'vitest';
import { ownerRightsCheck } from '../../../../../src/db/preflight/postgresql/checks/owner-rights.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const missing = [
  { table: 'public.t', owner: 'My"Role', rights: 'INSERT, DELETE', kind: 'TABLE' as const, on: 'public.t' },
  { table: 'public.t', owner: 'clerk', rights: 'EXECUTE', kind: 'FUNCTION' as const, on: 'public.ok(integer)' },
];
const plain = { host: 't', port: 1, postgresql: postgresqlTarget({ isSuperuser: false }) };

test.each([
  { missing: [], options: {}, verdict: 'pass' },
  { missing, options: {}, verdict: 'unknown' },
  { missing, options: { targetVersion: '15' }, verdict: 'pass' },
  { missing, options: { target: plain }, verdict: 'pass' },
])('$options: $verdict', ({ options, verdict, missing: rights }) => {
  const outcome = ownerRightsCheck.evaluate({ missing: rights }, 'd1', sourceFacts(), preflightOptions(options));
  expect(short(outcome)).toBe(verdict);
  if (verdict === 'pass') return;
  expectOutcomeText(outcome);
  expect(outcome.fix).toMatchObject({
    sql: [
      'GRANT INSERT, DELETE ON TABLE "public"."t" TO "My""Role"',
      'GRANT EXECUTE ON FUNCTION "public"."ok"(integer) TO "clerk"',
    ],
  });
});

describe.each([14, 17] as const)('on PostgreSQL %i', (version) => {
  test('every way to lack a privilege is found, and its fix is sufficient', async () => {
    const server = await startPostgres({
      version,
      settings: ready,
      setup: [
        'CREATE ROLE "My""Clerk"',
        "CREATE FUNCTION ok(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 0'",
        "CREATE FUNCTION free(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 0'",
        'REVOKE EXECUTE ON FUNCTION ok(int) FROM PUBLIC',
        'CREATE DOMAIN num AS int CHECK (ok(VALUE))',
        'CREATE SCHEMA closed',
        'CREATE TABLE in_closed (id int PRIMARY KEY)',
        'ALTER TABLE in_closed SET SCHEMA closed',
        'CREATE TABLE checked (id int PRIMARY KEY CHECK (ok(id)))',
        'CREATE TABLE typed (id int PRIMARY KEY, n num)',
        'CREATE TABLE indexed (id int PRIMARY KEY)',
        'CREATE INDEX ON indexed (ok(id))',
        'CREATE TABLE computed (id int PRIMARY KEY, b boolean GENERATED ALWAYS AS (ok(id)) STORED)',
        'CREATE TABLE ordinary (id int PRIMARY KEY CHECK (free(id)), b boolean DEFAULT ok(1))',
        'CREATE VIEW v AS SELECT ok(id) FROM ordinary',
        'CREATE DOMAIN whole AS num',
        'CREATE TABLE domains (id int PRIMARY KEY, n whole[])',
        'CREATE TABLE parted (id int) PARTITION BY LIST ((ok(id)))',
        "CREATE TABLE part PARTITION OF parted FOR VALUES IN ('t')",
        // Bodies name a schema or a function; of its definer's, the owner needs nothing.
        "CREATE FUNCTION closed.ok(int) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true'",
        "CREATE FUNCTION asks(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN closed.fine($1); END'",
        "CREATE FUNCTION calls(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN ok ($1); END'",
        "CREATE FUNCTION trusted(int) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER IMMUTABLE AS 'BEGIN RETURN closed.ok($1); END'",
        "CREATE FUNCTION similar(int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN enclosed.not_ok($1); END'",
        'CREATE TABLE asking (id int PRIMARY KEY CHECK (asks(id)))',
        'CREATE TABLE calling (id int PRIMARY KEY CHECK (calls(id)))',
        'CREATE TABLE trusting (id int PRIMARY KEY CHECK (trusted(id) OR similar(id)))',
        'CREATE TABLE unread (id int PRIMARY KEY)',
        'CREATE TABLE revoked (id int PRIMARY KEY)',
        ...[
          ...['closed.in_closed', 'checked', 'typed', 'indexed', 'computed', 'ordinary', 'revoked'],
          ...['domains', 'part', 'asking', 'calling', 'trusting', 'unread'],
        ].map((table) => `ALTER TABLE ${table} OWNER TO "My""Clerk"`),
        'REVOKE UPDATE, DELETE ON revoked FROM "My""Clerk"',
        'REVOKE SELECT ON unread FROM "My""Clerk"',
      ],
    });
    const finding = async () =>
      found(await preflightServer({ ...server, options: { targetVersion: '18' } }), 'owner-rights');
    const { objects, fix } = (await finding()) ?? {};
    const clerk = 'My"Clerk has no';
    const execute = `${clerk} EXECUTE on function public.ok(integer)`;
    expect(objects).toEqual([
      ...['calling', 'checked', 'computed', 'domains', 'indexed', 'part', 'typed'].map(
        (table) => `public.${table}: ${execute}`,
      ),
      `closed.in_closed: ${clerk} USAGE on schema closed`,
      `public.asking: ${clerk} USAGE on schema closed`,
      `public.revoked: ${clerk} UPDATE, DELETE`,
      `public.unread: ${clerk} SELECT`,
    ]);
    for (const statement of fix?.sql ?? []) await server.query(statement);
    expect((await finding())?.status).toBe('pass');
  }, 60_000);
});
