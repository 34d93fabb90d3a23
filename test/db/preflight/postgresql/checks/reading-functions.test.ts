import { describe, expect, test } from 'vitest';
import { tableReadingFunctionsCheck } from '../../../../../src/db/preflight/postgresql/checks/reading-functions.ts';
import type { ObjectBody } from '../../../../../src/db/preflight/postgresql/queries/function-bodies.ts';
import type { FunctionUse } from '../../../../../src/db/preflight/postgresql/queries/function-uses.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const both = 'fail continuous+dump';

function body(text: string, more: Partial<ObjectBody> = {}): ObjectBody {
  const where = { oid: '1', schema: 'public', name: 'f1', signature: 'public.f1(int)', isView: false };
  const how = { hasPath: false, hasZone: false, hasRole: false, inlined: false, calls: [], types: [], names: [] };
  return { ...where, ...how, language: 'plpgsql', text, bound: '', ...more };
}

function evaluate(kind: FunctionUse['kind'], bodies: readonly ObjectBody[], filled = true) {
  const name = kind === 'unique' ? 'index public.i on public.t' : 'column public.t.g';
  const functionUses = [{ calls: '1', kind, name, filled }];
  const values = { functionUses, functionBodies: bodies };
  return tableReadingFunctionsCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions());
}

const reading = 'BEGIN RETURN (SELECT name FROM public.kinds WHERE id = $1); END';

test.each([
  { what: 'reads a table', text: reading, verdict: both },
  { what: 'reads nothing', text: 'BEGIN RETURN $1 + 1; END', verdict: 'pass' },
  {
    what: 'reads a table in a branch',
    text: 'BEGIN IF $1 = 1 THEN RETURN (SELECT name FROM public.kinds); END IF; RETURN 1; END',
    verdict: 'unknown',
  },
  {
    what: 'reads the catalogs',
    text: 'BEGIN RETURN (SELECT count(*) FROM pg_catalog.pg_class); END',
    verdict: 'unknown',
  },
  {
    what: 'composes its query',
    text: "BEGIN EXECUTE format('SELECT %I', $1) INTO r; RETURN r; END",
    verdict: 'unknown',
  },
  {
    what: 'has the word EXECUTE in a message or a comment only',
    text: "BEGIN -- execute\n IF $1 IS NULL THEN RAISE EXCEPTION 'cannot execute'; END IF; RETURN 1; END",
    verdict: 'pass',
  },
  {
    what: 'has a variable of a row type',
    text: 'DECLARE r public.kinds%ROWTYPE; BEGIN RETURN 1; END',
    verdict: 'pass',
  },
])('a generated column whose function $what: $verdict', ({ text, verdict }) => {
  expect(short(evaluate('generated', [body(text)]))).toBe(verdict);
});

test('the name of a table as a value reads nothing, in a SQL-standard body too', () => {
  const named = body('', { language: 'sql', bound: "RETURN ('public.kinds'::regclass IS NOT NULL)" });
  expect(short(evaluate('generated', [named]))).toBe('pass');
});

test('a query that a called function composes counts too', () => {
  const composing = body("BEGIN EXECUTE 'SELECT 1' INTO r; RETURN r; END", { oid: '2', name: 'f2' });
  const calling = body('SELECT public.f2($1)', { language: 'sql' });
  expect(short(evaluate('generated', [calling, composing]))).toBe('unknown');
});

test.each([
  { kind: 'index', verdict: 'unknown' },
  { kind: 'unique', verdict: 'unknown' },
  { kind: 'partition', verdict: 'unknown' },
  { kind: 'domain', verdict: 'unknown' },
  { kind: 'support', verdict: 'unknown' },
  // reading-checks decides about these.
  { kind: 'check', verdict: 'pass' },
  { kind: 'trigger', verdict: 'pass' },
] as const)('$kind whose function reads a table: $verdict', ({ kind, verdict }) => {
  expect(short(evaluate(kind, [body(reading)]))).toBe(verdict);
});

test('it is found through another function, in a SQL-standard body, and not in a table without rows', () => {
  const through = [body('SELECT public.f2($1)', { language: 'sql' }), body(reading, { oid: '2', name: 'f2' })];
  expect(short(evaluate('generated', through))).toBe(both);
  const bound = body('', { language: 'sql', bound: 'RETURN (SELECT k.name FROM public.kinds k)' });
  expect(short(evaluate('generated', [bound]))).toBe(both);
  expect(short(evaluate('generated', [body(reading)], false))).toBe('pass');
});

test('the texts say what is wrong and which index to rebuild', () => {
  expectOutcomeText(evaluate('generated', [body(reading)]));
  const unique = evaluate('unique', [body(reading)]);
  expectOutcomeText(unique);
  expect(unique.detail).toContain('REINDEX INDEX public.i');
});

describe.each([14, 18] as const)('on PostgreSQL %i', (version) => {
  test('they are found, and a column without the function passes', async () => {
    const server = await startPostgres({
      version,
      settings: ready,
      setup: [
        'CREATE TABLE kinds (id int PRIMARY KEY, name text)',
        "CREATE FUNCTION kind_name(int) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT name FROM public.kinds WHERE id = $1); END'",
        'CREATE TABLE things (id int PRIMARY KEY, kind text GENERATED ALWAYS AS (kind_name(id)) STORED)',
        'INSERT INTO things VALUES (1)',
        'CREATE INDEX things_known ON things (id) WHERE kind_name(id) IS NOT NULL',
      ],
    });
    const report = await preflightServer(server);
    expect(report.verdict).toBe('blocked');
    expect(found(report, 'reading-functions').objects).toEqual([
      'column public.things.kind (public.kind_name(integer))',
    ]);
    await server.query('ALTER TABLE things DROP COLUMN kind');
    const later = await preflightServer(server);
    expect(later).toMatchObject({ verdict: 'continuous', proven: false });
    expect(found(later, 'reading-functions').status).toBe('unknown');
  }, 60_000);
});
