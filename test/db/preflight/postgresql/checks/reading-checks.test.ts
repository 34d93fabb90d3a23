import { expect, test } from 'vitest';
import { readingChecksCheck } from '../../../../../src/db/preflight/postgresql/checks/reading-checks.ts';
import type { ObjectBody } from '../../../../../src/db/preflight/postgresql/queries/function-bodies.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

function body(oid: string, text: string, more: Partial<ObjectBody> = {}): ObjectBody {
  return {
    ...{
      oid,
      schema: 'public',
      name: `f${oid}`,
      signature: `public.f${oid}(int)`,
      isView: false,
      language: 'sql',
      text,
    },
    ...{
      hasPath: false,
      bound: '',
      hasZone: false,
      hasRole: false,
      inlined: true,
      calls: [],
      types: [],
      names: [],
      ...more,
    },
  };
}

function check(relation: string, calls: string) {
  const name = `${relation}_check`;
  return { calls: [calls], name, table: `public.${relation}`, inherited: false, definition: `CHECK (f${calls}(id))` };
}

const reads = (table: string): string => `SELECT EXISTS (SELECT FROM ${table} WHERE id = $1)`;

test.each([
  { what: 'its own table', checks: [check('a', '1')], bodies: [body('1', reads('public.a'))], verdict: 'unknown' },
  { what: 'its own, without a schema', checks: [check('a', '1')], bodies: [body('1', reads('a'))], verdict: 'unknown' },
  { what: 'another', checks: [check('a', '1')], bodies: [body('1', reads('public.b'))], verdict: 'unknown' },
  { what: 'nothing', checks: [check('a', '1')], bodies: [body('1', 'SELECT $1 > 0')], verdict: 'pass' },
  {
    what: 'a name of a type',
    checks: [check('a', '1')],
    bodies: [body('1', 'DECLARE r public.b%ROWTYPE; BEGIN RETURN $1 > 0; END', { language: 'plpgsql' })],
    verdict: 'pass',
  },
  {
    what: 'a catalog, of which function-results tells',
    checks: [check('a', '1')],
    bodies: [body('1', reads('pg_catalog.pg_class'))],
    verdict: 'pass',
  },
  {
    what: 'functions in ROWS FROM',
    checks: [check('a', '1')],
    bodies: [body('1', 'SELECT count(*) > 0 FROM ROWS FROM (unnest(ARRAY[$1]), unnest(ARRAY[$1])) AS x(a, b)')],
    verdict: 'pass',
  },
  {
    what: 'another, in the text of ts_stat()',
    checks: [check('a', '1')],
    bodies: [body('1', "SELECT count(*) > 0 FROM ts_stat('SELECT w FROM public.b')")],
    verdict: 'unknown',
  },
  {
    what: 'another, through another function',
    checks: [check('a', '1')],
    bodies: [body('1', 'SELECT public.f2($1)'), body('2', reads('public.b'))],
    verdict: 'unknown',
  },
  {
    what: "another, in the SQL standard's way",
    checks: [check('a', '1')],
    bodies: [body('1', '', { bound: `BEGIN ATOMIC ${reads('public.b')}; END` })],
    verdict: 'unknown',
  },
])('a CHECK whose function reads $what: $verdict', ({ checks, bodies, verdict }) => {
  const outcome = readingChecksCheck.evaluate(
    { callingChecks: checks, functionBodies: bodies },
    'd1',
    sourceFacts(),
    preflightOptions(),
  );
  expect(short(outcome)).toBe(verdict);
});

test('the constraint of a partition is dropped on the parent', () => {
  const one = { ...check('a', '1'), definition: 'CHECK (f1(id) AND f2(id))' };
  const callingChecks = [
    { ...one, calls: ['1', '2'] },
    { ...check('b', '1'), inherited: true },
  ];
  const facts = { callingChecks, functionBodies: [body('1', reads('public.c')), body('2', reads('public.c'))] };
  const outcome = readingChecksCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions());
  expect(outcome.objects).toHaveLength(2);
  expect(outcome.fix?.sql).toEqual(['ALTER TABLE "public"."a" DROP CONSTRAINT IF EXISTS "a_check"']);
});

test('the fix drops the constraint, and undo adds it NOT VALID', () => {
  const facts = { callingChecks: [check('a', '1')], functionBodies: [body('1', reads('public.a'))] };
  const outcome = readingChecksCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions());
  expect(outcome).toMatchObject({
    objects: ['a_check on public.a CHECK (f1(id))'],
    fix: {
      sql: ['ALTER TABLE "public"."a" DROP CONSTRAINT IF EXISTS "a_check"'],
      undoReview: ['ALTER TABLE "public"."a" ADD CONSTRAINT "a_check" CHECK (f1(id)) NOT VALID'],
    },
  });
});
