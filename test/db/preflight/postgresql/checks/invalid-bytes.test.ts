import { expect, test } from 'vitest';
import { invalidBytesCheck } from '../../../../../src/db/preflight/postgresql/checks/invalid-bytes.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { deepRun, preflightOptions, short, sourceFacts } from '../facts.ts';

const invalid = [
  { table: 'public.t', column: 'a', rows: 1 },
  { table: 'public.t', column: 'b', rows: 20 },
];
const unread = [{ table: 'public.u', reason: 'locked', message: '' }] as const;

test.each([
  { what: 'valid rows', scan: {}, verdict: 'pass' },
  { what: 'invalid rows', scan: { invalid }, verdict: 'fail continuous+dump' },
  { what: 'invalid rows beside an unread table', scan: { invalid, unread }, verdict: 'fail continuous+dump' },
  { what: 'valid rows beside an unread table', scan: { unread }, verdict: 'skip' },
  { what: 'no list of tables', scan: { failure: 'denied' }, verdict: 'skip' },
  { what: 'other bytes in SQL_ASCII', scan: { invalid, encoding: 'SQL_ASCII' }, verdict: 'pass' },
  { what: 'LATIN1', scan: { encoding: 'LATIN1' }, verdict: 'pass' },
  { what: 'an encoding without rules', scan: { encoding: 'MULE_INTERNAL' }, verdict: 'info' },
])('$what: $verdict', ({ scan, verdict }) => {
  const outcome = invalidBytesCheck.evaluate({}, 'd1', ...deepRun(scan));
  expect(short(outcome)).toBe(verdict);
  expectOutcomeText(outcome);
});

test('without --deep it is skipped', () => {
  expect(invalidBytesCheck.evaluate({}, 'd1', sourceFacts(), preflightOptions()).status).toBe('skip');
});
