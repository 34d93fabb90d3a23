import { expect, test } from 'vitest';
import { unreadTablesCheck } from '../../../../../src/db/preflight/postgresql/checks/unread-tables.ts';
import type { UnreadReason } from '../../../../../src/db/preflight/postgresql/deep/rows.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { deepRun, preflightOptions, short, sourceFacts } from '../facts.ts';

const unread = (...reasons: readonly UnreadReason[]) =>
  reasons.map((reason, at) => ({ table: `public.t${at}`, reason, message: 'message of the server' }));

test.each([
  { what: 'every table', scan: {}, verdict: 'pass' },
  { what: 'no list of tables', scan: { failure: 'permission denied' }, verdict: 'unknown' },
  {
    what: 'tables that others keep from being read',
    scan: { unread: unread('locked', 'no_privilege', 'locked', 'row_security') },
    verdict: 'unknown',
  },
  {
    what: 'tables that may be read later',
    scan: { unread: unread('dropped_or_changed', 'recovery_conflict', 'connection_ended', 'time_limit') },
    verdict: 'unknown',
  },
  { what: 'damaged tables and a locked one', scan: { unread: unread('damaged', 'locked') }, verdict: 'unknown' },
  {
    what: 'damaged tables, which have a finding',
    scan: { unread: unread('damaged', 'row_too_large') },
    verdict: 'skip',
  },
])('$what: $verdict', ({ scan, verdict }) => {
  const outcome = unreadTablesCheck.evaluate({}, 'd1', ...deepRun(scan));
  expect(short(outcome)).toBe(verdict);
  expectOutcomeText(outcome);
});

test('without --deep it is skipped, as for a database that was not reached', () => {
  expect(unreadTablesCheck.evaluate({}, 'd1', sourceFacts(), preflightOptions()).status).toBe('skip');
  const [facts, options] = deepRun();
  expect(unreadTablesCheck.evaluate({}, 'd1', facts, options).status).toBe('unknown');
  const closed = { ...facts, access: new Map([['d1', { kind: 'closed' } as const]]) };
  expect(unreadTablesCheck.evaluate({}, 'd1', closed, options).status).toBe('skip');
});
