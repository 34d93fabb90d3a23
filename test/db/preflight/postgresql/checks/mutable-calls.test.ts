import { expect, test } from 'vitest';
import { mutableCallsCheck } from '../../../../../src/db/preflight/postgresql/checks/mutable-calls.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

function evaluate(mutableCalls: Parameters<typeof mutableCallsCheck.evaluate>[0]['mutableCalls']) {
  return mutableCallsCheck.evaluate({ mutableCalls }, 'd1', sourceFacts(), preflightOptions());
}

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
