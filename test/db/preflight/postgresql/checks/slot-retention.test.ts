import { expect, test } from 'vitest';
import { slotRetentionCheck } from '../../../../../src/db/preflight/postgresql/checks/slot-retention.ts';
import { copy, preflightOptions, settings, short, sourceFacts } from '../facts.ts';

const megabyte = 1024 ** 2;

test.each([
  { what: 'without a limit', keep: '-1', rate: 1e9, verdict: 'pass' },
  { what: 'less than one checkpoint', keep: '64', rate: 0, verdict: 'warn' },
  { what: 'an idle source', keep: '2048', rate: 0, verdict: 'pass' },
  { what: 'less than two days of WAL', keep: '2048', rate: 100_000, verdict: 'warn' },
  { what: 'more than two days of WAL', keep: '20480', rate: 100_000, verdict: 'pass' },
  { what: 'nothing kept, and nothing written', keep: '0', rate: 0, verdict: 'warn' },
  { what: 'nothing kept, and little written', keep: '0', rate: 100_000, verdict: 'warn' },
  { what: 'nothing kept, and much written', keep: '0', rate: 2e6, verdict: 'fail continuous' },
  { what: 'as much kept as is written in a minute', keep: '120', rate: 2e6, verdict: 'warn' },
])('max_slot_wal_keep_size $keep MB, $what: $verdict', ({ keep, rate, verdict }) => {
  const facts = {
    settings: settings({
      max_slot_wal_keep_size: { value: keep, unit: 'MB', context: 'sighup' },
      max_wal_size: { value: '1024', unit: 'MB', context: 'sighup' },
    }),
    walHistory: undefined,
  };
  const busy = sourceFacts({ walRate: { bytes: rate * 5, seconds: 5 } });
  expect(short(slotRetentionCheck.evaluate(facts, busy, preflightOptions()))).toBe(verdict);
});

test('the copy has to fit three times into what a slot keeps', () => {
  const facts = {
    settings: settings({ max_slot_wal_keep_size: { value: '1024', unit: 'MB', context: 'sighup' } }),
    walHistory: undefined,
  };
  const long = sourceFacts({ copy: copy(100e12), walRate: { bytes: megabyte, seconds: 1 } });
  expect(slotRetentionCheck.evaluate(facts, long, preflightOptions()).fix?.sql?.[0]).toMatch(
    /max_slot_wal_keep_size = '\d+GB'/,
  );
});

test('the detail of an invalidated slot contains the measured values', () => {
  const facts = {
    settings: settings({
      max_slot_wal_keep_size: { value: '0', unit: 'MB', context: 'sighup' },
      wal_keep_size: { value: '0', unit: 'MB', context: 'sighup' },
    }),
    walHistory: undefined,
  };
  const busy = sourceFacts({ copy: copy(5e9), walRate: { bytes: 10 * megabyte, seconds: 5 } });
  expect(slotRetentionCheck.evaluate(facts, busy, preflightOptions())).toMatchObject({
    status: 'fail',
    observed: 'max_slot_wal_keep_size 0 B',
    detail: expect.stringContaining('200 MB behind after 1 min 40 s'),
  });
  const kept = {
    ...facts,
    settings: new Map([...facts.settings, ...settings({ wal_keep_size: { value: '4096', unit: 'MB' } })]),
  };
  expect(slotRetentionCheck.evaluate(kept, busy, preflightOptions()).status).toBe('warn');
});

test('a slot that idles longer than a copy allows blocks', () => {
  const facts = {
    settings: settings({ idle_replication_slot_timeout: { value: '60', unit: 's', context: 'sighup' } }),
    walHistory: undefined,
  };
  const verdict = (bytes: number) =>
    short(slotRetentionCheck.evaluate(facts, sourceFacts({ copy: copy(bytes) }), preflightOptions()));
  expect([verdict(1e9), verdict(2e9)]).toEqual(['warn', 'fail continuous']);
});

test('a slot that is dropped for idling warns (18)', () => {
  const facts = {
    settings: settings({ idle_replication_slot_timeout: { value: '3600', unit: 's', context: 'sighup' } }),
    walHistory: undefined,
  };
  expect(slotRetentionCheck.evaluate(facts, sourceFacts(), preflightOptions())).toMatchObject({
    status: 'warn',
    observed: 'idle_replication_slot_timeout 1 h',
  });
});
