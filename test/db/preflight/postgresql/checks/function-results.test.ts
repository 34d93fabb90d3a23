import { expect, test } from 'vitest';
import { functionResultsCheck } from '../../../../../src/db/preflight/postgresql/checks/function-results.ts';
import type { ObjectBody } from '../../../../../src/db/preflight/postgresql/queries/function-bodies.ts';
import type { FunctionUse } from '../../../../../src/db/preflight/postgresql/queries/function-uses.ts';
import type { RoleSetting } from '../../../../../src/db/preflight/postgresql/queries/roles.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

function body(text: string, more: Partial<ObjectBody> = {}): ObjectBody {
  const where = { oid: '1', schema: 'public', name: 'f1', signature: 'public.f1(int)', isView: false };
  const how = { hasPath: false, hasZone: false, hasRole: false, inlined: false, calls: [], types: [], names: [] };
  return { ...where, ...how, language: 'plpgsql', text, bound: '', ...more };
}

function evaluate(
  bodies: readonly ObjectBody[],
  more: Partial<FunctionUse> = {},
  textSettings: readonly RoleSetting[] = [],
) {
  const functionUses = [{ calls: '1', kind: 'generated', name: 'column public.t.g', filled: true, ...more }] as const;
  const meanings = [{ kind: 'function', schema: 'public', name: 'helper', isReplaced: false, types: [] }] as const;
  const values = { functionUses, functionBodies: bodies, meanings, lostOperators: [], textSettings };
  return functionResultsCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions());
}

test.each([
  ["length(current_setting('app.name', true))", 'unknown'],
  ['length(CURRENT_USER)', 'unknown'],
  // As the server prints a SQL-standard body.
  ['length("current_schema"())', 'unknown'],
  ['(random() * 10)::int', 'unknown'],
  ["nextval('public.s')", 'unknown'],
  ["('public.t'::regclass::oid)::int", 'unknown'],
  ["length('public.f(int)'::regprocedure::text)", 'unknown'],
  ["extract(year FROM 'today'::date)::int", 'unknown'],
  ['(SELECT count(*) FROM pg_catalog.pg_class)', 'unknown'],
  ['(SELECT last_value FROM public.s)', 'unknown'],
  ['length(system_user)', 'unknown'],
  ['length(getpgusername())', 'unknown'],
  ['(SELECT last_value(x) OVER () FROM unnest(ARRAY[$1]) x)', 'pass'],
  ["length('current_user, now() and random()')", 'pass'],
  ["length(to_tsvector('english'::regconfig, $1)::text)", 'pass'],
  ['pg_catalog.int4pl($1, 1)', 'pass'],
  ['pg_typeof((x).a)::text', 'unknown'],
  ['CAST(pg_typeof($1) AS text)', 'unknown'],
  ["'type ' || pg_typeof($1)", 'unknown'],
  ['pg_typeof(v)', 'unknown'],
  ["jsonb_build_object('t', pg_typeof(coalesce(a, g(b))))", 'unknown'],
  ["pg_typeof($1) = 'status'", 'unknown'],
  ["pg_typeof($1) = 'numeric'", 'pass'],
  ['pg_typeof(a) IS DISTINCT FROM pg_typeof(coalesce(a, g(b)))', 'pass'],
  ["1; RAISE EXCEPTION 'no %', pg_typeof(a)::text", 'pass'],
  ['public.version + now', 'pass'],
] as const)('%s: %s', (expression, verdict) => {
  expect(short(evaluate([body(`BEGIN RETURN ${expression}; END`)]))).toBe(verdict);
});

test('functions that it calls count, and uses without rows do not', () => {
  const bodies = [
    body('BEGIN RETURN public.f2($1); END'),
    body('SELECT random()', { oid: '2', name: 'f2', language: 'sql' }),
  ];
  const outcome = evaluate(bodies);
  expect(short(outcome)).toBe('unknown');
  expectOutcomeText(outcome);
  expect(short(evaluate(bodies, { filled: false }))).toBe('pass');
  expect(short(evaluate(bodies, { kind: 'index' }))).toBe('pass');
  expect(short(evaluate(bodies, { kind: 'trigger', filled: false }))).toBe('unknown');
});

test('a function that changes its role counts', () => {
  expect(short(evaluate([body('BEGIN RETURN 1; END', { hasRole: true })]))).toBe('unknown');
});

test('operators of citext, which without a search_path are those of text', () => {
  const text = "BEGIN RETURN ('A'::public.citext = 'a'::public.citext)::int; END";
  expect(short(evaluate([body(text)]))).toBe('unknown');
  expect(short(evaluate([body('BEGIN RETURN $1 = $1; END', { types: ['citext'] })]))).toBe('unknown');
  expect(short(evaluate([body(text, { hasPath: true })]))).toBe('pass');
  expect(short(evaluate([body('BEGIN RETURN length($1::public.citext::text); END')]))).toBe('pass');
});

test.each([
  ['bytea_output', "length('\\x00ff'::bytea::text)", 'unknown'],
  ['intervalstyle', "length(INTERVAL '26 hours'::text)", 'unknown'],
  ['extra_float_digits', 'length((1 / 3::float8)::text)', 'unknown'],
  ['timezone', 'extract(hour FROM to_timestamp($1))::int', 'unknown'],
  ['bytea_output', 'length($1::text)', 'pass'],
] as const)('with the setting %s of any role, %s: %s', (name, expression, verdict) => {
  const bodies = [body(`BEGIN RETURN ${expression}; END`)];
  const setting = { database: undefined, role: 'shop', name, value: 'other' };
  expect(short(evaluate(bodies))).toBe('pass');
  expect(short(evaluate(bodies, {}, [setting]))).toBe(verdict);
  expect(short(evaluate(bodies, {}, [{ ...setting, database: 'd2' }]))).toBe('pass');
});

test('a name that is not found counts where an exception handler returns something else', () => {
  const caught = 'BEGIN RETURN helper($1); EXCEPTION WHEN OTHERS THEN RETURN 0; END';
  expect(short(evaluate([body(caught)]))).toBe('unknown');
  expect(short(evaluate([body('BEGIN RETURN helper($1); END')]))).toBe('pass');
});

test('a stored column whose function reads a setting is named', async () => {
  const server = await startPostgres({
    version: 17,
    settings: ready,
    setup: [
      "CREATE FUNCTION f(int) RETURNS int IMMUTABLE LANGUAGE sql RETURN length(current_setting('work_mem'))",
      'CREATE FUNCTION g(int) RETURNS int IMMUTABLE LANGUAGE sql RETURN public.f($1) + 1',
      'CREATE TABLE t (id int PRIMARY KEY, stored int GENERATED ALWAYS AS (g(id)) STORED)',
      'INSERT INTO t VALUES (1)',
    ],
  });
  const { objects = [] } = found(await preflightServer(server), 'function-results');
  expect(objects).toEqual([expect.stringContaining('public.t.stored')]);
}, 60_000);

test.each([
  { text: 'SELECT regexp_like($1, $2)', targetVersion: '17', verdict: 'unknown' },
  { text: 'SELECT regexp_like($1, $2)', targetVersion: undefined, verdict: 'unknown' },
  { text: 'SELECT regexp_like($1, $2)', targetVersion: '14', verdict: 'pass' },
  { text: 'SELECT public.regexp_like($1, $2)', targetVersion: '17', verdict: 'pass' },
  { text: 'SELECT lower($1)', targetVersion: '17', verdict: 'pass' },
])('$text, to $targetVersion: $verdict', ({ text, targetVersion, verdict }) => {
  const functionUses = [{ calls: '1', kind: 'generated', name: 'column public.t.g', filled: true }] as const;
  const meanings = [{ kind: 'function', schema: 'public', name: 'regexp_like', isReplaced: false, types: [] }] as const;
  const functionBodies = [body(text, { language: 'sql', hasPath: true })];
  const values = { functionUses, functionBodies, meanings, lostOperators: [], textSettings: [] };
  const outcome = functionResultsCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions({ targetVersion }));
  expect(short(outcome)).toBe(verdict);
});
