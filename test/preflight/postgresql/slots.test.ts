import { expect, test } from 'vitest';
import { slotsFreeCheck } from '../../../src/preflight/postgresql/checks/slots-free.ts';
import { slotsVsDbsCheck } from '../../../src/preflight/postgresql/checks/slots-vs-dbs.ts';
import { walSendersCheck } from '../../../src/preflight/postgresql/checks/wal-senders.ts';
import { workerProcessesCheck } from '../../../src/preflight/postgresql/checks/worker-processes.ts';
import type { WalSender } from '../../../src/preflight/postgresql/queries/wal-senders.ts';
import { database, preflightOptions, settings, short, slot, slots, sourceFacts } from './facts.ts';

const three = sourceFacts({ databases: ['a', 'b', 'c'] });
const databases = ['a', 'b', 'c'].map((name) => database(name));
const quiet = { activity: [] };

function free(max: number, used: number) {
  const facts = {
    settings: settings({ max_replication_slots: String(max) }),
    slots: slots(used),
    databases,
    ...quiet,
  };
  return slotsFreeCheck.evaluate(facts, three, preflightOptions());
}

test.each([
  { max: 3, used: 0, verdict: 'fail continuous' },
  { max: 4, used: 0, verdict: 'warn' },
  { max: 10, used: 0, verdict: 'warn' },
  { max: 11, used: 0, verdict: 'pass' },
  { max: 10, used: 8, verdict: 'fail continuous' },
  { max: 0, used: 0, verdict: 'fail continuous' },
])('three databases with $used of $max slots used: $verdict', ({ max, used, verdict }) => {
  expect(short(free(max, used))).toBe(verdict);
});

test('the arithmetic of slots is shown', () => {
  const { detail, fix } = free(10, 8);
  expect(detail).toContain(
    '2 slots free of 10 (8 used); 3 databases + 1 for initial copies = 4 needed; 3x3+2 = 11 for full speed',
  );
  expect(fix).toMatchObject({
    sql: ["ALTER SYSTEM SET max_replication_slots = '19'"],
    undo: ['ALTER SYSTEM RESET max_replication_slots'],
    restart: true,
  });
});

test.each([
  { max: 2, verdict: 'fail continuous' },
  { max: 3, verdict: 'pass' },
])('$max slots for three databases, of which two are ignored: $verdict', ({ max, verdict }) => {
  const facts = { settings: settings({ max_replication_slots: String(max) }), slots: [], databases, ...quiet };
  expect(short(slotsVsDbsCheck.evaluate(facts, sourceFacts({ databases: ['a'] }), preflightOptions()))).toBe(verdict);
});

test('both checks of slots ask for the same number, so that a script sets it once', () => {
  const facts = { settings: settings({ max_replication_slots: '1' }), slots: slots(1), databases, ...quiet };
  const one = sourceFacts({ databases: ['a'] });
  expect(slotsVsDbsCheck.evaluate(facts, one, preflightOptions()).fix?.sql).toEqual(
    slotsFreeCheck.evaluate(facts, one, preflightOptions()).fix?.sql,
  );
});

test('inactive slots are named as a cure without a restart', () => {
  const facts = {
    settings: settings({ max_replication_slots: '4' }),
    slots: [slot({ name: 'old', active: false })],
    databases,
    ...quiet,
  };
  const { fix, objects } = slotsFreeCheck.evaluate(facts, three, preflightOptions());
  expect(fix?.text).toContain('1 slot of those in use is inactive');
  expect(objects).toEqual(['old (logical, d1, inactive)']);
});

test('a restart tells whom it throws out', () => {
  const activity = [
    { user: 'app', sessions: 10, seconds: 180 },
    { user: 'report', sessions: 2, seconds: undefined },
  ];
  const facts = { settings: settings({ max_replication_slots: '1' }), slots: [], databases, activity };
  expect(slotsFreeCheck.evaluate(facts, three, preflightOptions()).detail).toContain(
    'A restart would end 12 sessions (app 10, report 2); the longest transaction has run for 3 min.',
  );
});

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

test('a standby that is away counts as one that comes back', () => {
  const facts = {
    settings: settings({ max_wal_senders: '20' }),
    senders: [],
    slots: [slot({ kind: 'physical', active: false, database: undefined })],
    ...quiet,
  };
  expect(walSendersCheck.evaluate(facts, three, preflightOptions()).detail).toContain(
    '1 standby with an inactive slot may come back',
  );
});

test.each([
  { preloaded: '', max: '1', verdict: 'pass' },
  { preloaded: 'pg_stat_statements, pglogical', max: '3', verdict: 'warn' },
  { preloaded: 'pglogical', max: '4', verdict: 'pass' },
])('$max workers with "$preloaded" preloaded: $verdict', ({ preloaded, max, verdict }) => {
  const facts = { settings: settings({ max_worker_processes: max, shared_preload_libraries: preloaded }) };
  expect(short(workerProcessesCheck.evaluate(facts, three, preflightOptions()))).toBe(verdict);
});
