import { expect, test } from 'vitest';
import { listenAddressesCheck } from '../../../../src/preflight/postgresql/checks/listen-addresses.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';

const quiet = { activity: [] };

test.each([
  { value: '*', asPublic: true, verdict: 'pass' },
  { value: '0.0.0.0', asPublic: true, verdict: 'pass' },
  { value: '198.51.100.7, localhost', asPublic: true, verdict: 'pass' },
  { value: '10.0.0.5', asPublic: true, verdict: 'warn' },
  { value: 'localhost', asPublic: true, verdict: 'fail continuous+dump' },
  { value: '127.0.0.1, ::1', asPublic: true, verdict: 'fail continuous+dump' },
  { value: '', asPublic: true, verdict: 'fail continuous+dump' },
  { value: 'localhost', asPublic: false, verdict: 'warn' },
  { value: '*', asPublic: false, verdict: 'pass' },
])('listen_addresses "$value", judged for the internet $asPublic: $verdict', ({ value, asPublic, verdict }) => {
  const facts = { settings: settings({ listen_addresses: value }), ...quiet };
  expect(short(listenAddressesCheck.evaluate(facts, sourceFacts(), preflightOptions({ asPublic })))).toBe(verdict);
});
