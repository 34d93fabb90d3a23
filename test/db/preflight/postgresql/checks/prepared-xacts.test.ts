import { expect, test } from 'vitest';
import { preparedXactsCheck } from '../../../../../src/db/preflight/postgresql/checks/prepared-xacts.ts';
import type { OpenTransaction } from '../../../../../src/db/preflight/postgresql/queries/activity.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';

function open(more: Partial<OpenTransaction> = {}): OpenTransaction {
  return { kind: 'session', id: '42', database: 'd1', owner: 'app', state: 'active', seconds: 10, ...more };
}

test('a prepared transaction of any age blocks, and the fix names both statements that end it', () => {
  const prepared = open({ kind: 'prepared', id: "o'clock", seconds: 1 });
  const outcome = preparedXactsCheck.evaluate({ transactions: [prepared, open()] }, sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe('fail continuous');
  expect(outcome.observed).toBe('1 prepared transaction');
  expect(outcome.fix?.text).toContain("COMMIT PREPARED 'o''clock' or ROLLBACK PREPARED 'o''clock'");
  // Which of the two is right is not ours to decide.
  expect(outcome.fix).not.toHaveProperty('sql');
});

test('without a prepared transaction it passes', () => {
  expect(short(preparedXactsCheck.evaluate({ transactions: [open()] }, sourceFacts(), preflightOptions()))).toBe(
    'pass',
  );
});
