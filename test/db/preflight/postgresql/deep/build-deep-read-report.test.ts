import { expect, test } from 'vitest';
import { combineScans, failedScan } from '../../../../../src/db/preflight/postgresql/deep/results.ts';
import { deepReport } from '../../../../../src/db/preflight/postgresql/run.ts';
import { scannedDatabase } from '../facts.ts';

test('without --deep nothing is claimed of the rows', () => {
  expect(deepReport(undefined, ['d1'])).toEqual({ state: 'not_read' });
});

test('the report adds the databases up', () => {
  const other = scannedDatabase({ longestSnapshot: { table: 'public.big', milliseconds: 4000.5 } });
  const scans = new Map([
    ['d1', scannedDatabase()],
    ['d2', other],
  ]);
  expect(deepReport(scans, ['d1', 'd2'])).toEqual({
    state: 'read',
    ...{ tables: 24, rows: 6000, bytes: 2_469_134 },
    longest_snapshot: { database: 'd2', table: 'public.big', milliseconds: 4001 },
    ...{ not_read: [], keys_not_compared: [] },
  });
});

test('what was not read has its reason: tables, lists of tables, and databases', () => {
  const unread = [{ table: 'public.t', reason: 'row_security', message: 'm' }] as const;
  const unchecked = [{ table: 'public.t', index: 'public.i', reason: 'partial_index' }] as const;
  const scans = new Map([
    ['d1', scannedDatabase({ unread, unchecked })],
    ['d2', failedScan('UTF8', 'denied')],
  ]);
  expect(deepReport(scans, ['d1', 'd2', 'd3'])).toMatchObject({
    state: 'partly_read',
    not_read: [
      { database: 'd1', table: 'public.t', reason: 'row_security', message: 'm' },
      { database: 'd2', reason: 'not_listed', message: 'denied' },
      { database: 'd3', reason: 'not_reached' },
    ],
    keys_not_compared: [{ database: 'd1', table: 'public.t', index: 'public.i', reason: 'partial_index' }],
  });
});

test('a database without tables is read', () => {
  const scans = new Map([['d1', combineScans('UTF8', [])]]);
  expect(deepReport(scans, ['d1'])).toEqual({
    ...{ state: 'read', tables: 0, rows: 0, bytes: 0, not_read: [], keys_not_compared: [] },
  });
});
