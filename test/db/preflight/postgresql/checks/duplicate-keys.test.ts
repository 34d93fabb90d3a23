import { expect, test } from 'vitest';
import { duplicateKeysCheck } from '../../../../../src/db/preflight/postgresql/checks/duplicate-keys.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { deepRun, preflightOptions, short, sourceFacts } from '../facts.ts';

const duplicates = [{ index: 'public.t_pkey', table: 'public.t', columns: ['a', 'The "b'], keys: 2, rows: 5 }];
const unchecked = [
  { index: 'public.t_f_key', table: 'public.t', reason: 'type' },
  { index: 'public.t_expr_idx', table: 'public.t', reason: 'expression' },
] as const;
const unread = [{ table: 'public.u', reason: 'locked', message: '' }] as const;

test.each([
  { what: 'different keys', scan: {}, verdict: 'pass' },
  { what: 'equal keys', scan: { duplicates }, verdict: 'fail continuous+dump' },
  {
    what: 'equal keys, and some not compared',
    scan: { duplicates, unchecked, unread },
    verdict: 'fail continuous+dump',
  },
  { what: 'keys that are not compared', scan: { unchecked }, verdict: 'info' },
  { what: 'an unread table', scan: { unread }, verdict: 'skip' },
])('$what: $verdict', ({ scan, verdict }) => {
  const outcome = duplicateKeysCheck.evaluate({}, 'd1', ...deepRun(scan));
  expect(short(outcome)).toBe(verdict);
  expectOutcomeText(outcome);
});

test('an unread table does not hide the keys that are not compared', () => {
  const outcome = duplicateKeysCheck.evaluate({}, 'd1', ...deepRun({ unread, unchecked }));
  expect(outcome.status).toBe('skip');
  for (const { index } of unchecked) expect(outcome.detail).toContain(index);
});

test('without --deep it is skipped', () => {
  expect(duplicateKeysCheck.evaluate({}, 'd1', sourceFacts(), preflightOptions()).status).toBe('skip');
});
