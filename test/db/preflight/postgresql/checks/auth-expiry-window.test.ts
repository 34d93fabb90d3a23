import { expect, test } from 'vitest';
import { authExpiryWindowCheck } from '../../../../../src/db/preflight/postgresql/checks/auth-expiry-window.ts';
import { copy, preflightOptions, role, short, sourceFacts } from '../facts.ts';

const day = 86_400;

test.each([
  { left: undefined, verdict: 'pass' },
  { left: 15 * day, verdict: 'pass' },
  { left: 14 * day, verdict: 'pass' },
  { left: 14 * day - 1, verdict: 'warn' },
  { left: 60, verdict: 'warn' },
  { left: 59, verdict: 'fail continuous+dump' },
  // Whom a host rule lets in without a password.
  { left: -1, verdict: 'warn' },
])('a password that lives for $left more seconds: $verdict', ({ left, verdict }) => {
  const facts = { role: role({ secondsLeft: left, validUntil: '2026-11-30 00:00:00+00' }) };
  expect(short(authExpiryWindowCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('the expiry observed comes back', () => {
  const facts = { role: role({ secondsLeft: day, validUntil: '2026-11-21 00:00:00+00' }) };
  expect(authExpiryWindowCheck.evaluate(facts, sourceFacts(), preflightOptions()).fix?.undo).toEqual([
    `ALTER ROLE "migrator" VALID UNTIL '2026-11-21 00:00:00+00'`,
  ]);
});

test('a password that is over before the fastest copy is blocks both methods', () => {
  const facts = { role: role({ secondsLeft: 3600 }) };
  expect(
    short(authExpiryWindowCheck.evaluate(facts, sourceFacts({ copy: copy(3599 * 50e6) }), preflightOptions())),
  ).toBe('warn');
  expect(
    short(authExpiryWindowCheck.evaluate(facts, sourceFacts({ copy: copy(3601 * 50e6) }), preflightOptions())),
  ).toBe('fail continuous+dump');
});
