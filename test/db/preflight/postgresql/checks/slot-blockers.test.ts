import { expect, test } from 'vitest';
import { slotBlockersCheck } from '../../../../../src/db/preflight/postgresql/checks/slot-blockers.ts';
import type { OpenTransaction } from '../../../../../src/db/preflight/postgresql/queries/activity.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

function open(more: Partial<OpenTransaction> = {}): OpenTransaction {
  return { kind: 'session', id: '42', database: 'd1', owner: 'app', state: 'active', seconds: 10, ...more };
}

test.each([
  { what: 'none', transactions: [], verdict: 'pass' },
  { what: 'a young one', transactions: [open()], verdict: 'warn' },
  { what: 'five minutes', transactions: [open({ seconds: 300 })], verdict: 'warn' },
  { what: 'more than five minutes', transactions: [open(), open({ seconds: 301 })], verdict: 'fail continuous' },
  { what: 'of hidden age', transactions: [open({ seconds: undefined })], verdict: 'warn' },
  { what: 'a prepared one, which is another check', transactions: [open({ kind: 'prepared' })], verdict: 'pass' },
])('an open transaction that wrote, $what: $verdict', ({ transactions, verdict }) => {
  expect(short(slotBlockersCheck.evaluate({ transactions }, sourceFacts(), preflightOptions()))).toBe(verdict);
});
