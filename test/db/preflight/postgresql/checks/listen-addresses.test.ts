import { expect, test } from 'vitest';
import { listenAddressesCheck } from '../../../../../src/db/preflight/postgresql/checks/listen-addresses.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';

const quiet = { activity: [] };

test.each([
  { value: '*', isOverInternet: true, verdict: 'pass' },
  { value: '0.0.0.0', isOverInternet: true, verdict: 'pass' },
  { value: '198.51.100.7, localhost', isOverInternet: true, verdict: 'pass' },
  { value: '10.0.0.5', isOverInternet: true, verdict: 'warn' },
  { value: 'localhost', isOverInternet: true, verdict: 'fail continuous+dump' },
  { value: '127.0.0.1, ::1', isOverInternet: true, verdict: 'fail continuous+dump' },
  { value: '', isOverInternet: true, verdict: 'fail continuous+dump' },
  { value: 'localhost', isOverInternet: false, verdict: 'warn' },
  { value: '*', isOverInternet: false, verdict: 'pass' },
])(
  'listen_addresses "$value", judged for the internet $isOverInternet: $verdict',
  ({ value, isOverInternet, verdict }) => {
    const facts = { settings: settings({ listen_addresses: value }), ...quiet };
    expect(short(listenAddressesCheck.evaluate(facts, sourceFacts(), preflightOptions({ isOverInternet })))).toBe(
      verdict,
    );
  },
);
