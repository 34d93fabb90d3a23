import { expect, test } from 'vitest';
import { walSendersCheck } from '../../../../../src/db/preflight/postgresql/checks/wal-senders.ts';
import type { WalSender } from '../../../../../src/db/preflight/postgresql/queries/replication.ts';
import { expectText } from '../expect-text.ts';
import { preflightOptions, settings, short, slot, sourceFacts } from '../facts.ts';

const three = sourceFacts({ databases: ['a', 'b', 'c'] });

const quiet = { activity: [] };

const sender: WalSender = { user: 'standby', application: 'walreceiver', syncState: 'async' };

test.each([
  { max: 1, used: 0, verdict: 'fail continuous' },
  { max: 4, used: 0, verdict: 'warn' },
  { max: 12, used: 1, verdict: 'pass' },
  { max: 11, used: 1, verdict: 'warn' },
  { max: 4, used: 1, verdict: 'fail continuous' },
])('three databases with $used of $max WAL senders used: $verdict', ({ max, used, verdict }) => {
  const facts = {
    settings: settings({ max_wal_senders: String(max) }),
    senders: Array.from({ length: used }, () => sender),
    slots: [],
    ...quiet,
  };
  expect(short(walSendersCheck.evaluate(facts, three, preflightOptions()))).toBe(verdict);
});

test('what does not pass names the numbers and the setting', () => {
  for (const max of [1, 4]) {
    const facts = { settings: settings({ max_wal_senders: String(max) }), senders: [], slots: [], ...quiet };
    expectText(walSendersCheck.evaluate(facts, three, preflightOptions()).headline);
  }
});

test('a disconnected standby counts as one that reconnects', () => {
  const facts = {
    settings: settings({ max_wal_senders: '20' }),
    senders: [],
    slots: [slot({ kind: 'physical', active: false, database: undefined })],
    ...quiet,
  };
  expectText(walSendersCheck.evaluate(facts, three, preflightOptions()).detail);
});
