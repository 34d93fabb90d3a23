import { expect, test } from 'vitest';
import { roleTimeoutsCheck } from '../../../../../src/db/preflight/postgresql/checks/role-timeouts.ts';
import { copy, preflightOptions, role, settings, short, sourceFacts } from '../facts.ts';

test.each([
  { what: 'none', value: '0', bytes: 1e9, verdict: 'pass' },
  { what: 'one that the biggest table outlasts', value: '10s', bytes: 1e9, verdict: 'fail continuous' },
  { what: 'one longer than the biggest table', value: '60s', bytes: 1e9, verdict: 'warn' },
  { what: 'one with nothing to copy', value: '1ms', bytes: 0, verdict: 'warn' },
])('statement_timeout of the role, $what: $verdict', ({ value, bytes, verdict }) => {
  const facts = {
    settings: settings({ statement_timeout: { value: '0', unit: 'ms', context: 'user' } }),
    roleSettings: [{ role: 'migrator', database: undefined, name: 'statement_timeout', value }],
    role: role(),
  };
  expect(short(roleTimeoutsCheck.evaluate(facts, sourceFacts({ copy: copy(bytes) }), preflightOptions()))).toBe(
    verdict,
  );
});

test('a timeout that ends a waiting connection only warns, however short', () => {
  const facts = {
    settings: settings({ idle_session_timeout: { value: '1000', unit: 'ms', context: 'user' } }),
    roleSettings: [],
    role: role(),
  };
  expect(short(roleTimeoutsCheck.evaluate(facts, sourceFacts({ copy: copy(1e12) }), preflightOptions()))).toBe('warn');
});

test.each([
  { what: 'of a millisecond', value: '1', verdict: 'fail continuous' },
  { what: 'of a second', value: '1000', verdict: 'warn' },
])('a transaction timeout $what where nothing is to be copied: $verdict', ({ value, verdict }) => {
  const facts = {
    settings: settings({ transaction_timeout: { value, unit: 'ms', context: 'user' } }),
    roleSettings: [],
    role: role(),
  };
  expect(short(roleTimeoutsCheck.evaluate(facts, sourceFacts({ copy: copy(0) }), preflightOptions()))).toBe(verdict);
});
