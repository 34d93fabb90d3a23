import { expect, test } from 'vitest';
import { detectTimeDependence } from '../../../../src/db/preflight/postgresql/checks/generated-columns.ts';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { found, preflightServer } from './preflight.ts';

test.each([12, 18] as const)(
  'what no dump has is named as it is written, on PostgreSQL %i',
  async (version) => {
    const server = await startPostgres({ version, settings: { ...ready, allow_system_table_mods: 'on' } });
    for (const statement of [
      'CREATE DATABASE d1',
      'ALTER FUNCTION pg_catalog.to_char(timestamp, text) IMMUTABLE',
      `CREATE TABLE "The T" (id int PRIMARY KEY, "The Time" timestamp)`,
      `CREATE INDEX "The I" ON "The T" (to_char("The Time", 'YYYY'))`,
      "CREATE TYPE pg_catalog.mood AS ENUM ('good')",
      'CREATE TABLE moods (id int PRIMARY KEY, m mood)',
      "CREATE FUNCTION pg_catalog.alone() RETURNS int LANGUAGE sql AS 'SELECT 1'",
      'CREATE TEXT SEARCH DICTIONARY "Mine" (TEMPLATE = simple, STOPWORDS = english)',
      `UPDATE pg_ts_dict SET dictinitoption = 'stopwords = ''mine''' WHERE dictname = 'Mine'`,
      "INSERT INTO pg_seclabel VALUES ('moods'::regclass, 'pg_class'::regclass, 0, 'anon', 'MASKED')",
      'CREATE TABLE "Whole" ("The A" int, b int)',
      'CREATE INDEX "Hashed" ON "Whole" USING hash ("The A")',
      'ALTER TABLE "Whole" REPLICA IDENTITY FULL',
      'INSERT INTO "Whole" VALUES (NULL, 1)',
    ]) {
      await server.query(statement);
    }
    const told = async (id: string, targetVersion = '18', targetExtensions?: readonly string[]) =>
      found(
        await preflightServer({
          port: server.port,
          options: { targetVersion, ...(targetExtensions === undefined ? {} : { targetExtensions }) },
        }),
        id,
        'postgres',
      );
    const calls = await told('mutable-calls');
    expect(calls).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
    expect(calls.objects).toEqual(['index public."The I" (to_char(timestamp without time zone,text))']);
    const system = await told('system-tables');
    expect(system).toMatchObject({
      status: 'fail',
      objects: [expect.stringMatching(/^type (pg_catalog\.)?mood \(column m of table public\.moods\)$/)],
    });
    expect((await told('dictionaries')).objects).toEqual(['public."Mine" (simple; mine.stop)']);
    expect((await told('security-labels', '18', ['plpgsql'])).status).toBe('unknown');
    expect((await told('security-labels', '18', ['anon'])).status).toBe('warn');
    const whole = await told('full-without-eq');
    expect(whole).toMatchObject({ status: 'fail', objects: ['public."Whole" ("The A", public."Hashed")'] });
    if (version === 12) expect((await told('full-without-eq', '16')).status).toBe('pass');
    await server.query('DROP INDEX public."Hashed"; DROP TABLE moods; DROP TYPE pg_catalog.mood');
    expect((await told('full-without-eq')).status).toBe('pass');
    expect(await told('system-tables')).toMatchObject({ status: 'warn', objects: ['function alone()'] });
  },
  60_000,
);

test('FULL is no fix for a table with NULL in a hash index', async () => {
  const server = await startPostgres({ version: 17, settings: ready });
  for (const statement of ['CREATE TABLE t (a int)', 'CREATE INDEX ON t USING hash (a)', 'CREATE TABLE u (a int)'])
    await server.query(statement);
  const { fix } = found(
    await preflightServer({ port: server.port, options: { targetVersion: '17' } }),
    'replica-identity',
    'postgres',
  );
  expect(fix?.sql).toEqual(['ALTER TABLE "public"."u" REPLICA IDENTITY FULL']);
  expect(fix?.text).toContain('public.t');
}, 60_000);

test('a function is volatile if it uses the current time, and possibly if it uses a part of it', () => {
  expect(detectTimeDependence('SELECT now()')).toBe('surely');
  expect(detectTimeDependence('BEGIN RETURN CURRENT_TIMESTAMP; END')).toBe('surely');
  expect(detectTimeDependence('SELECT gen_random_uuid()')).toBe('surely');
  expect(detectTimeDependence('SELECT extract(year FROM age(now(), $1))')).toBe('perhaps');
  expect(detectTimeDependence('SELECT current_date - $1')).toBe('perhaps');
  expect(detectTimeDependence("SELECT 'now()' /* random() */ -- now()\n")).toBeUndefined();
  expect(detectTimeDependence('SELECT known($1)')).toBeUndefined();
});
