import { expect, test } from 'vitest';
import { mutableCallsCheck } from '../../../../../src/db/preflight/postgresql/checks/mutable-calls.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

function evaluate(
  mutableCalls: Parameters<typeof mutableCallsCheck.evaluate>[0]['mutableCalls'],
  targetVersion = '17',
) {
  return mutableCallsCheck.evaluate({ mutableCalls }, 'd1', sourceFacts(), preflightOptions({ targetVersion }));
}

test('the text of an interval is immutable before PostgreSQL 15', () => {
  const rows = [{ object: 'index public.i', calls: 'interval_out(interval)', where: 'release' }] as const;
  expect(short(evaluate(rows, '14'))).toBe('pass');
  const outcome = evaluate(rows, '15');
  expect(short(outcome)).toBe('fail continuous+dump');
  expect(outcome.detail).toContain('PostgreSQL 15');
});

test('without a call of a function that is not immutable it passes', () => {
  expect(short(evaluate([]))).toBe('pass');
});

test('an object counts once, however many such functions it calls', () => {
  const outcome = evaluate([
    { object: 'index public.i', calls: 'public.f()', where: 'here' },
    { object: 'index public.i', calls: 'pg_catalog.lower(text)', where: 'system' },
  ]);
  expect(outcome).toMatchObject({
    status: 'fail',
    blocks: ['continuous', 'dump'],
    objects: ['index public.i (public.f())', 'index public.i (pg_catalog.lower(text))'],
  });
  expect(outcome.observed).toMatch(/^1 /);
});
