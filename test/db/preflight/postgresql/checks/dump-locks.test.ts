import { expect, test } from 'vitest';
import { dumpLocksCheck } from '../../../../../src/db/preflight/postgresql/checks/dump-locks.ts';
import { preflightOptions, settings, short, sourceFacts } from '../facts.ts';

/** Room for 7808 locks, as a server has it that nobody tuned. */
const usual = {
  max_locks_per_transaction: '64',
  max_connections: '100',
  max_prepared_transactions: '0',
  max_worker_processes: '8',
  max_wal_senders: '10',
  autovacuum_max_workers: '3',
};

function judge(tables: number, more: Record<string, string> = {}) {
  const perDatabase = new Map([
    ['d1', { bytes: 0, tables, largest: undefined }],
    ['d2', { bytes: 0, tables: 10, largest: undefined }],
  ]);
  const copy = { bytes: 0, tables, largest: undefined, perDatabase, unseen: [] };
  return dumpLocksCheck.evaluate(
    { settings: settings({ ...usual, ...more }) },
    sourceFacts({ copy }),
    preflightOptions(),
  );
}

test.each([
  { tables: 7000, verdict: 'pass' },
  { tables: 9000, verdict: 'warn' },
  { tables: 12_000, verdict: 'fail continuous+dump' },
])('$tables tables, where there is room for 7808 locks: $verdict', ({ tables, verdict }) => {
  expect(short(judge(tables))).toBe(verdict);
});

test('only the database with too many tables is blocked, and the fix sets a sufficient value', () => {
  const found = judge(12_000);
  expect(found.only).toEqual(['d1']);
  expect(found.detail).toContain('12000 tables');
  expect(found.fix).toMatchObject({ sql: ["ALTER SYSTEM SET max_locks_per_transaction = '148'"], restart: true });
  expect(short(judge(12_000, { max_locks_per_transaction: '148' }))).toBe('pass');
});

test('huge pages leave more room than is counted', () => {
  expect(short(judge(12_000, { huge_pages: 'on' }))).toBe('warn');
});
