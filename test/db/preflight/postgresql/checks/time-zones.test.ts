import { expect, test } from 'vitest';
import { timeZonesCheck } from '../../../../../src/db/preflight/postgresql/checks/time-zones.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const use = (legacy: readonly string[], need: 'rows' | 'if called' | 'later' = 'rows') => ({
  ...{ place: 'index public.i', isVariable: true, legacy, need },
});

test.each([
  { what: 'no use', zoneUses: [], verdict: 'pass' },
  { what: 'a name that is a link', zoneUses: [use(['Japan'])], verdict: 'unknown' },
  { what: 'a name in a column', zoneUses: [use([])], verdict: 'unknown' },
])('$what: $verdict', ({ zoneUses, verdict }) => {
  const outcome = timeZonesCheck.evaluate(
    { expressions: zoneUses, definitions: [], settings: [] },
    'd1',
    sourceFacts(),
    preflightOptions(),
  );
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectOutcomeText(outcome);
});

const lacking = { zones: ['asia/tokyo'], legacy: ['Japan'] };

test.each([
  { what: 'a target that knows the name', zones: ['japan'], legacy: ['Japan'], verdict: 'pass' },
  { what: 'a target that lacks the name', ...lacking, verdict: 'fail continuous+dump' },
  { what: 'the same, in the body of a function', ...lacking, need: 'if called', verdict: 'unknown' },
  { what: 'the same, in a view or a setting', ...lacking, need: 'later', verdict: 'warn' },
  { what: 'a target that was read, and a name in a column', zones: ['japan'], legacy: [], verdict: 'unknown' },
] as const)('$what: $verdict', ({ zones, legacy, verdict, ...more }) => {
  const postgresql = postgresqlTarget({ timeZones: new Set(zones) });
  const outcome = timeZonesCheck.evaluate(
    { expressions: [use(legacy, 'need' in more ? more.need : 'rows')], definitions: [], settings: [] },
    'd1',
    sourceFacts(),
    preflightOptions({ target: { host: 't', port: 5432, postgresql } }),
  );
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectOutcomeText(outcome);
});

/** Every place of a name, and words that are no time zone. */
const schema = [
  `CREATE TABLE ev (id int PRIMARY KEY, ts timestamptz, country text CHECK (country IN ('Japan', 'PRC', 'US/Pacific')),
     local timestamp GENERATED ALWAYS AS (ts AT TIME ZONE 'US/Pacific') STORED,
     made timestamp DEFAULT timezone('Asia/Calcutta', now()), utc timestamp DEFAULT timezone('utc', now()),
     CHECK (ts AT TIME ZONE 'Japan' > '2000-01-01'), CHECK (ts AT TIME ZONE 'Europe/Berlin' > '2000-01-01'))`,
  `CREATE INDEX "The Index" ON ev ((ts AT TIME ZONE 'GB'))`,
  `CREATE INDEX part ON ev (id) WHERE (ts AT TIME ZONE 'NZ') > '2000-01-01'`,
  `CREATE VIEW v AS SELECT ts AT TIME ZONE 'Brazil/East' AS at FROM ev`,
  `CREATE MATERIALIZED VIEW m AS SELECT date_trunc('day', ts, 'Canada/Eastern') AS at FROM ev`,
  `CREATE VIEW fine AS SELECT 'US/Pacific' AS name, ts AT TIME ZONE 'UTC' AS at FROM ev`,
  `CREATE POLICY p ON ev USING (ts AT TIME ZONE 'Eire' > '2000-01-01')`,
  'CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$',
  `CREATE TRIGGER tr AFTER UPDATE ON ev FOR EACH ROW WHEN (new.ts AT TIME ZONE 'Cuba' > '2000-01-01') EXECUTE FUNCTION nothing()`,
  `CREATE TABLE parts (ts timestamptz) PARTITION BY RANGE ((ts AT TIME ZONE 'Turkey'))`,
  `CREATE DOMAIN word AS timestamptz CHECK (value AT TIME ZONE 'Iran' > '2000-01-01')`,
  `CREATE STATISTICS st ON (ts AT TIME ZONE 'Egypt'), id FROM ev`,
  `CREATE FUNCTION one(timestamptz) RETURNS timestamp LANGUAGE sql AS $$SELECT $1 AT TIME ZONE 'Hongkong'$$`,
  `CREATE FUNCTION two() RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'SET LOCAL timezone TO ''Poland'''; END$$`,
  `CREATE FUNCTION three(x timestamptz) RETURNS timestamp IMMUTABLE BEGIN ATOMIC SELECT x AT TIME ZONE 'ROK'; END`,
  `CREATE FUNCTION four() RETURNS text LANGUAGE sql SET timezone = 'Navajo' AS $$SELECT 'Japan'$$`,
  `CREATE PROCEDURE five() LANGUAGE plpgsql AS $$BEGIN PERFORM 'Japan' /* at time zone 'PRC' */; END$$`,
  'CREATE ROLE reader',
  `ALTER ROLE reader SET timezone = 'Israel'`,
  `ALTER DATABASE d1 SET timezone = 'Iceland'`,
];

test.each([14, 18] as const)('every place that names a time zone of old is found on PostgreSQL %i', async (version) => {
  const server = await startPostgres({ version, settings: ready });
  await server.query('CREATE DATABASE d1');
  for (const statement of schema) await server.query(statement, 'd1');
  const report = await preflightServer({ ...server, options: { targetVersion: '18' } });
  const finding = found(report, 'time-zones', 'd1');
  expect(finding.status).toBe('unknown');
  expect(finding.objects?.toSorted()).toEqual([
    'column local of public.ev: US/Pacific',
    'column made of public.ev: Asia/Calcutta',
    'constraint ev_ts_check on public.ev: Japan',
    'constraint word_check on public.word: Iran',
    'database d1: Iceland',
    'function public.four(): Navajo',
    'function public.one(timestamp with time zone): Hongkong',
    'function public.three(timestamp with time zone): ROK',
    'function public.two(): Poland',
    'index public."The Index": GB',
    'index public.part: NZ',
    'materialized view public.m: Canada/Eastern',
    'partition key of public.parts: Turkey',
    'policy p on public.ev: Eire',
    'role reader: Israel',
    'statistics st on public.ev: Egypt',
    'trigger tr on public.ev: Cuba',
    'view public.v: Brazil/East',
  ]);
  expect(found(report, 'time-zones', 'postgres').objects).toEqual(['role reader: Israel']);
  expect(report.premises.map(({ id }) => id)).toContain('time-zones');
});

test('the zone of a column leaves the verdict open where the target evaluates it, and names in present use do not', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  await server.query(
    `CREATE TABLE ev (id int PRIMARY KEY, ts timestamptz, tz text, at timestamp GENERATED ALWAYS AS (ts AT TIME ZONE tz) STORED,
       ok timestamp GENERATED ALWAYS AS (ts AT TIME ZONE 'America/New_York') STORED, more timestamp GENERATED ALWAYS AS (ts AT TIME ZONE interval '-08:00') STORED,
       abb timestamp GENERATED ALWAYS AS (ts AT TIME ZONE 'EST') STORED, rule timestamp GENERATED ALWAYS AS (ts AT TIME ZONE 'EST5EDT') STORED)`,
  );
  expect(found(await preflightServer(server), 'time-zones')).toMatchObject({
    status: 'unknown',
    objects: ['column at of public.ev'],
  });
  await server.query('ALTER TABLE ev DROP COLUMN at');
  expect(found(await preflightServer(server), 'time-zones').status).toBe('pass');
});
