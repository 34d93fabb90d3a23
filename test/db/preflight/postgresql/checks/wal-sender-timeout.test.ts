import { expect, test } from 'vitest';
import { walSenderTimeoutCheck } from '../../../../../src/db/preflight/postgresql/checks/wal-sender-timeout.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';

test.each([
  { value: '0', verdict: 'pass' },
  { value: '1000', verdict: 'warn' },
  { value: '29999', verdict: 'warn' },
  { value: '30000', verdict: 'pass' },
])('wal_sender_timeout $value ms: $verdict', ({ value, verdict }) => {
  const facts = {
    settings: settings({ wal_sender_timeout: { value, unit: 'ms', context: 'user' } }),
    roleSettings: [],
  };
  expect(short(walSenderTimeoutCheck.evaluate(facts, sourceFacts(), preflightOptions()))).toBe(verdict);
});

test('a wal_sender_timeout of the role counts before the one of the server', () => {
  const facts = {
    settings: settings({ wal_sender_timeout: { value: '60000', unit: 'ms', context: 'user' } }),
    roleSettings: [{ role: 'migrator', database: undefined, name: 'wal_sender_timeout', value: '1s' }],
  };
  expect(walSenderTimeoutCheck.evaluate(facts, sourceFacts(), preflightOptions())).toMatchObject({
    status: 'warn',
    observed: '1 s',
  });
});
