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
    ...{ hasPath: false, bound: '', hasZone: false, inlined: true, calls: [], types: [], names: [], ...more },
  };
}

function check(relation: string, calls: string) {
  const name = `${relation}_check`;
  return { calls, name, table: `public.${relation}`, schema: 'public', relation, definition: `CHECK (f${calls}(id))` };
}

const reads = (table: string): string => `SELECT EXISTS (SELECT FROM ${table} WHERE id = $1)`;

test.each([
  { what: 'its own table', checks: [check('a', '1')], bodies: [body('1', reads('public.a'))], verdict: 'unknown' },
  { what: 'its own, without a schema', checks: [check('a', '1')], bodies: [body('1', reads('a'))], verdict: 'unknown' },
  { what: 'one of that name', checks: [check('a', '1')], bodies: [body('1', reads('other.a'))], verdict: 'pass' },
  { what: 'another', checks: [check('a', '1')], bodies: [body('1', reads('public.b'))], verdict: 'pass' },
  { what: 'nothing', checks: [check('a', '1')], bodies: [body('1', 'SELECT $1 > 0')], verdict: 'pass' },
  {
    what: 'its own, through another function',
    checks: [check('a', '1')],
    bodies: [body('1', 'SELECT public.f2($1)'), body('2', reads('public.a'))],
    verdict: 'unknown',
  },
  {
    what: "its own, in the SQL standard's way",
    checks: [check('a', '1')],
    bodies: [body('1', '', { bound: `BEGIN ATOMIC ${reads('public.a')}; END` })],
    verdict: 'unknown',
  },
  {
    what: 'another, whose CHECK reads this one',
    checks: [check('a', '1'), check('b', '2')],
    bodies: [body('1', reads('public.b')), body('2', reads('public.a'))],
    verdict: 'unknown',
  },
  {
    what: 'another, whose CHECK reads a third',
    checks: [check('a', '1'), check('b', '2')],
    bodies: [body('1', reads('public.b')), body('2', reads('public.c'))],
    verdict: 'pass',
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
