import { expect, test } from 'vitest';
import { failOutcome } from '../../../../src/db/preflight/finding.ts';
import { adviseIgnoring } from '../../../../src/db/preflight/postgresql/run.ts';
import {
  estimateCopyTime,
  estimateWalRate,
  largestTables,
  sumSizes,
} from '../../../../src/db/preflight/postgresql/source-facts.ts';

const terabyte = 1e12;

const finding = (id: string, database?: string) => ({
  id,
  title: id,
  headline: id,
  scope: 'server' as const,
  ...(database === undefined ? {} : { database }),
  ...failOutcome(['continuous'], 'no'),
});

test('one large table is a lower bound of the duration, and two workers share many small ones', () => {
  const big = { database: 'd', table: 't', bytes: terabyte };
  expect(estimateCopyTime({ bytes: terabyte, tables: 0, largest: big })).toEqual({
    low: 20_000,
    high: 50_000,
  });
  expect(estimateCopyTime({ bytes: terabyte, tables: 0, largest: undefined })).toEqual({
    low: 10_000,
    high: 25_000,
  });
});

test('every table costs time, also without rows', () => {
  const { low, high } = estimateCopyTime({ bytes: 0, tables: 3000, largest: undefined });
  // Measured: 104 s on one machine.
  expect(low).toBeGreaterThan(30);
  expect(low).toBeLessThan(104);
  expect(high).toBeGreaterThan(200);
});

test('sizes are summed over databases, and databases without a size are named', () => {
  const table = (name: string, bytes: number) => ({ database: '', table: name, bytes, rows: 1 });
  const sizes = new Map([
    [
      'a',
      {
        databaseBytes: 20,
        bytes: 12,
        tables: 2,
        largest: [table('x', 9), table('y', 3)],
        locks: { schema: 2, all: 2 },
      },
    ],
    ['b', { databaseBytes: 30, bytes: 5, tables: 1, largest: [table('z', 5)], locks: { schema: 1, all: 1 } }],
  ]);
  const all = sumSizes(['a', 'b', 'c'], sizes);
  expect(all).toMatchObject({ bytes: 17, tables: 3, largest: { database: 'a', table: 'x', bytes: 9 }, unseen: ['c'] });
  expect(largestTables(sizes).map(({ database, table: name }) => `${database}.${name}`)).toEqual(['a.x', 'b.z', 'a.y']);
});

test('the WAL rate is the higher one of the measured and the average rate', () => {
  expect(estimateWalRate({ bytes: 500, seconds: 5 }, { bytes: 7200, seconds: 3600 })).toBe(100);
  expect(estimateWalRate({ bytes: 0, seconds: 5 }, { bytes: 7200, seconds: 3600 })).toBe(2);
  expect(estimateWalRate({ bytes: 0, seconds: 5 }, { bytes: 7200, seconds: 60 })).toBe(0);
});

test('the advice names the databases that block the method', () => {
  const advice = adviseIgnoring({
    method: 'continuous',
    databases: ['a', 'b', 'c'],
    findings: [finding('replica-identity', 'b')],
    empty: [],
    without: (names) => ({ verdict: 'continuous', possible: names.includes('b') }),
  });
  expect(advice).toEqual({ ignore_dbs: ['b'], verdict: 'continuous' });
});

test('the advice adds as few empty databases as needed', () => {
  const advice = adviseIgnoring({
    method: 'continuous',
    databases: ['a', 'b', 'c'],
    findings: [finding('slots-free')],
    empty: ['c', 'b'],
    without: (names) => ({ verdict: 'continuous', possible: names.length >= 1 }),
  });
  expect(advice?.ignore_dbs).toEqual(['c']);
});

test('there is no advice for a blocker of the whole server', () => {
  const advice = adviseIgnoring({
    method: 'continuous',
    databases: ['a', 'b'],
    findings: [finding('wal-level')],
    empty: ['b'],
    without: () => ({ verdict: 'dump', possible: false }),
  });
  expect(advice).toBeUndefined();
});
