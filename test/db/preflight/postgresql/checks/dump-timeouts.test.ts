import { expect, test } from 'vitest';
import { dumpTimeoutsCheck } from '../../../../../src/db/preflight/postgresql/checks/dump-timeouts.ts';
import { preflightOptions, role, settings, short, sourceFacts } from '../facts.ts';

const both = 'fail continuous+dump';

test.each([
  { name: 'statement_timeout', value: '0', verdict: 'pass' },
  { name: 'statement_timeout', value: '1', verdict: both },
  { name: 'statement_timeout', value: '20', verdict: 'pass' },
  { name: 'transaction_timeout', value: '1', verdict: both },
  { name: 'transaction_timeout', value: '5', verdict: 'pass' },
  { name: 'lock_timeout', value: '1', verdict: 'pass' },
  { name: 'idle_session_timeout', value: '1', verdict: 'pass' },
])('$name $value ms: $verdict', ({ name, value, verdict }) => {
  const facts = { settings: settings({ [name]: { value, unit: 'ms' } }), roleSettings: [], role: role() };
  expect(short(dumpTimeoutsCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('the timeout of one database stops that one alone, and the fix is for the role there', () => {
  const facts = {
    settings: settings({ statement_timeout: { value: '0', unit: 'ms' } }),
    roleSettings: [{ database: 'postgres', role: 'migrator', name: 'statement_timeout', value: '1ms' }],
    role: role(),
  };
  expect(dumpTimeoutsCheck.evaluate(facts, sourceFacts(), preflightOptions())).toMatchObject({
    status: 'fail',
    only: ['postgres'],
    observed: 'statement_timeout 1 ms',
    fix: { sql: ['ALTER ROLE "migrator" IN DATABASE "postgres" SET statement_timeout = \'0\''] },
  });
});
