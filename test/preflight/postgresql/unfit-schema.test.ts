import { expect, test } from 'vitest';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { preflight } from './preflight.ts';

const asked = ['not-valid', 'time-checks', 'event-triggers', 'db-noconnect'];

test('what a schema holds that no target takes is blocked, the fixes pasted in cure it, and undo brings it back', async () => {
  const server = await startPostgres({ version: 18, settings: ready });
  const setup = [
    'CREATE TABLE "The Table" (id int PRIMARY KEY, b int, until timestamptz, since date CHECK (since <= CURRENT_DATE))',
    'CREATE DOMAIN "A Word" AS text',
    'CREATE DOMAIN "Words" AS text',
    'CREATE TABLE words (id int PRIMARY KEY, word "A Word", all_of_them "Words"[])',
    `INSERT INTO "The Table" VALUES (1, 2, now() + interval '1 hour', '2020-01-01')`,
    `INSERT INTO words VALUES (1, 'a', '{a}')`,
    'ALTER TABLE "The Table" ADD CONSTRAINT "too big" CHECK (b < 10) NOT VALID',
    'ALTER TABLE "The Table" ADD CONSTRAINT there NOT NULL b NOT VALID',
    'ALTER TABLE "The Table" ADD CONSTRAINT "in time" CHECK (until > now())',
    `ALTER DOMAIN "A Word" ADD CONSTRAINT short CHECK (length(value) < 10) NOT VALID`,
    `ALTER DOMAIN "Words" ADD CONSTRAINT brief CHECK (length(value) < 10) NOT VALID`,
    `CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'no DDL'; END$$`,
    'CREATE EVENT TRIGGER "No DDL" ON ddl_command_start WHEN TAG IN (\'CREATE PUBLICATION\') EXECUTE FUNCTION no()',
  ];
  await server.query('CREATE DATABASE d1');
  for (const statement of setup) await server.query(statement, 'd1');
  await server.query('ALTER DATABASE d1 IS_TEMPLATE true');

  const before = await preflight(server);
  const fixes = before.findings.filter(({ id, status }) => asked.includes(id) && status === 'fail');
  expect(fixes.map(({ id, objects }) => [id, objects])).toEqual([
    ['db-noconnect', undefined],
    ['event-triggers', ['No DDL']],
    [
      'not-valid',
      [
        'short on public."A Word"',
        '"too big" on public."The Table"',
        'there on public."The Table"',
        'brief on public."Words"',
      ],
    ],
    ['time-checks', ['"in time" on public."The Table" CHECK ((until > now()))']],
  ]);
  await expect(server.query('CREATE PUBLICATION p FOR ALL TABLES', 'd1')).rejects.toThrow('no DDL');

  // Twice: a script that broke off is run again.
  for (const _ of [1, 2])
    await say(
      server,
      fixes.flatMap(({ fix }) => fix?.sql ?? []),
    );
  // What is in arrays is in words.
  const drop = 'ALTER DOMAIN public."Words" DROP CONSTRAINT brief';
  expect(fixes[2]?.fix?.text).toContain(`${drop}.`);
  await say(server, [drop]);
  expect(failed(await preflight(server))).toEqual([]);
  await server.query('CREATE PUBLICATION p FOR ALL TABLES', 'd1');

  await say(
    server,
    fixes.flatMap(({ fix }) => fix?.undo ?? []),
  );
  // The constraint that is back is NOT VALID, which is no less true of the rows.
  expect(failed(await preflight(server))).toEqual(['db-noconnect', 'event-triggers', 'not-valid', 'time-checks']);
}, 60_000);

test('what newer releases do not make is gone when the statements of the hint are pasted in', async () => {
  const server = await startPostgres({ version: 13, settings: ready });
  const setup = [
    `CREATE AGGREGATE "Arr"(anyelement) (SFUNC = array_append, STYPE = anyarray, INITCOND = '{}')`,
    'CREATE FUNCTION fac(int) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$SELECT $1::numeric$$',
    'CREATE OPERATOR !!! (LEFTARG = int, FUNCTION = fac)',
    'CREATE MATERIALIZED VIEW "M v" AS SELECT buffers_backend FROM pg_stat_bgwriter',
  ];
  await server.query('CREATE DATABASE d1');
  for (const statement of setup) await server.query(statement, 'd1');
  const judged = async () => (await preflight(server)).findings.find(({ id }) => id === 'removed-types');
  const before = await judged();
  expect(before?.objects).toEqual([
    'aggregate public."Arr"(anyelement) (anycompatible instead of anyarray, since 14)',
    'operator public.!!!(integer,NONE) (an operand on the right, since 14)',
    'materialized view public."M v" (column pg_stat_bgwriter.buffers_backend, since 17)',
  ]);
  const [, drops = ''] = /\((DROP .*)\), and make/.exec(before?.fix?.text ?? '') ?? [];
  await say(server, drops.split('; '));
  expect((await judged())?.status).toBe('pass');
}, 60_000);

async function say(server: Postgres, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await server.query(statement, 'd1');
}

function failed(report: Awaited<ReturnType<typeof preflight>>): readonly string[] {
  return report.findings.filter(({ id, status }) => asked.includes(id) && status === 'fail').map(({ id }) => id);
}
