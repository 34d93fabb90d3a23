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

function judge(schema: number, more: Record<string, string> = {}, all = schema) {
  const perDatabase = new Map([
    ['d1', { bytes: 0, tables: 5000, largest: undefined, locks: { schema, all } }],
    ['d2', { bytes: 0, tables: 10, largest: undefined, locks: { schema: 10, all: 10 } }],
  ]);
  const copy = { bytes: 0, tables: 5010, largest: undefined, perDatabase, unseen: [] };
  return dumpLocksCheck.evaluate(
    { settings: settings({ ...usual, ...more }) },
    sourceFacts({ copy }),
    preflightOptions(),
  );
}

test.each([
  { schema: 7000, all: 7000, verdict: 'pass' },
  { schema: 9000, all: 9000, verdict: 'warn' },
  { schema: 7000, all: 9000, verdict: 'warn' },
  { schema: 7000, all: 12_000, verdict: 'fail dump' },
  { schema: 12_000, all: 12_000, verdict: 'fail continuous+dump' },
])(
  '$schema locks for the schema and $all for a whole dump, with room for 7808: $verdict',
  ({ schema, all, verdict }) => {
    expect(short(judge(schema, {}, all))).toBe(verdict);
  },
);

test('only the database that needs too many locks is blocked, and the fix sets a sufficient value', () => {
  const found = judge(12_000);
  expect(found.only).toEqual(['d1']);
  expect(found.detail).toContain('12000');
  expect(found.fix).toMatchObject({ sql: ["ALTER SYSTEM SET max_locks_per_transaction = '148'"], restart: true });
  expect(short(judge(12_000, { max_locks_per_transaction: '148' }))).toBe('pass');
});

test('huge pages leave more room than is counted', () => {
  expect(short(judge(12_000, { huge_pages: 'on' }))).toBe('warn');
});
