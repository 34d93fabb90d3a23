import { expect, test } from 'vitest';
import { connHeadroomCheck } from '../../../../../src/db/preflight/postgresql/checks/conn-headroom.ts';
import { expectText } from '../expect-text.ts';
import { connected, preflightOptions, role, settings, short, sourceFacts } from '../facts.ts';

test.each([
  { used: 90, is: {}, version: 170_000, verdict: 'pass' },
  { used: 97, is: {}, version: 170_000, verdict: 'warn' },
  { used: 94, is: { superuser: false }, version: 170_000, verdict: 'warn' },
  { used: 90, is: {}, version: 110_000, verdict: 'warn' },
])('$used of 100 connections used, version $version: $verdict', ({ used, is, version, verdict }) => {
  const facts = {
    capacity: { max: 100, reserved: 3, used },
    settings: settings({ max_connections: '100' }),
    role: role(is),
  };
  expect(
    short(connHeadroomCheck.evaluate(facts, sourceFacts({ connection: connected({ version }) }), preflightOptions())),
  ).toBe(verdict);
});

test('too few names the numbers and the setting', () => {
  const facts = {
    capacity: { max: 100, reserved: 3, used: 97 },
    settings: settings({ max_connections: '100' }),
    role: role({}),
  };
  expectText(connHeadroomCheck.evaluate(facts, sourceFacts({}), preflightOptions()).headline);
});
