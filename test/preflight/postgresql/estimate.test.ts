import { expect, test } from 'vitest';
import { fail } from '../../../src/preflight/finding.ts';
import { adviseIgnoring } from '../../../src/preflight/postgresql/advice.ts';
import { copyOf, copyTime, largestTables } from '../../../src/preflight/postgresql/estimate.ts';
import { sizeEstimate } from '../../../src/preflight/postgresql/size-estimate.ts';
import { dumpQuiesced, walPerSecond, walRate } from '../../../src/preflight/postgresql/wal-rate.ts';
import { copy, ground, short, wish } from './facts.ts';

const terabyte = 1e12;

test('one big table bounds the duration, many small ones share two workers', () => {
  const big = { database: 'd', table: 't', bytes: terabyte };
  expect(copyTime({ bytes: terabyte, largest: big })).toEqual({ low: 20_000, high: 50_000 });
  expect(copyTime({ bytes: terabyte, largest: undefined })).toEqual({ low: 10_000, high: 25_000 });
});

test.each([
  { what: 'a small source', bytes: 1e9, verdict: 'info' },
  { what: 'two weeks at the slow end', bytes: 30 * terabyte, verdict: 'warn' },
  { what: 'two weeks at the fast end', bytes: 61 * terabyte, verdict: 'fail continuous+dump' },
])('$what: $verdict', ({ bytes, verdict }) => {
  expect(short(sizeEstimate.judge({}, ground({ copy: copy(bytes, ['d1']) }), wish()))).toBe(verdict);
});

test('sizes add up over databases, and those not seen are named', () => {
  const table = (name: string, bytes: number) => ({ database: '', table: name, bytes, rows: 1 });
  const sizes = new Map([
    ['a', { databaseBytes: 20, bytes: 12, tables: 2, largest: [table('x', 9), table('y', 3)] }],
    ['b', { databaseBytes: 30, bytes: 5, tables: 1, largest: [table('z', 5)] }],
  ]);
  const all = copyOf(['a', 'b', 'c'], sizes);
  expect(all).toMatchObject({ bytes: 17, tables: 3, largest: { database: 'a', table: 'x', bytes: 9 }, unseen: ['c'] });
  expect(largestTables(sizes).map(({ database, table: name }) => `${database}.${name}`)).toEqual(['a.x', 'b.z', 'a.y']);
});

test('the rate of WAL is the busier of now and the average', () => {
  expect(walPerSecond({ bytes: 500, seconds: 5 }, { bytes: 7200, seconds: 3600 })).toBe(100);
  expect(walPerSecond({ bytes: 0, seconds: 5 }, { bytes: 7200, seconds: 3600 })).toBe(2);
  expect(walPerSecond({ bytes: 0, seconds: 5 }, { bytes: 7200, seconds: 60 })).toBe(0);
});

test.each([
  { what: 'an idle source', rate: 0, free: undefined, verdict: 'pass' },
  { what: 'a busy one, disk not told', rate: 1e6, free: undefined, verdict: 'info' },
  { what: 'a busy one with room', rate: 1e6, free: 1e12, verdict: 'pass' },
  { what: 'a busy one without room', rate: 1e6, free: 1e11, verdict: 'warn' },
])('WAL of the copy, $what: $verdict', ({ rate, free, verdict }) => {
  const facts = ground({ copy: copy(2e12, ['d1']), walRate: { bytes: rate * 5, seconds: 5 } });
  expect(short(walRate.judge({ walHistory: undefined }, facts, wish({ sourceDiskFree: free })))).toBe(verdict);
});

test('a source that writes is a warning when a dump is asked for', () => {
  const busy = ground({ walRate: { bytes: 1e6, seconds: 5 } });
  expect(short(dumpQuiesced.judge({ transactions: [] }, busy, wish({ method: 'dump' })))).toBe('warn');
  expect(short(dumpQuiesced.judge({ transactions: [] }, busy, wish()))).toBe('info');
  expect(short(dumpQuiesced.judge({ transactions: [] }, ground(), wish({ method: 'dump' })))).toBe('pass');
  expect(short(dumpQuiesced.judge({ transactions: [] }, ground({ walRate: undefined }), wish()))).toBe('skip');
});

const finding = (id: string, database?: string) => ({
  id,
  title: id,
  scope: 'server' as const,
  ...(database === undefined ? {} : { database }),
  ...fail(['continuous'], 'no'),
});

test('databases that stand in their own way are the advice', () => {
  const advice = adviseIgnoring({
    method: 'continuous',
    databases: ['a', 'b', 'c'],
    findings: [finding('replica-identity', 'b')],
    empty: [],
    without: (names) => ({ verdict: 'continuous', possible: names.includes('b') }),
  });
  expect(advice).toEqual({ ignore_dbs: ['b'], verdict: 'continuous' });
});

test('empty databases make room for the others, as few as it takes', () => {
  const advice = adviseIgnoring({
    method: 'continuous',
    databases: ['a', 'b', 'c'],
    findings: [finding('slots-free')],
    empty: ['c', 'b'],
    without: (names) => ({ verdict: 'continuous', possible: names.length >= 1 }),
  });
  expect(advice?.ignore_dbs).toEqual(['c']);
});

test('no list helps against a blocker of the whole server', () => {
  const advice = adviseIgnoring({
    method: 'continuous',
    databases: ['a', 'b'],
    findings: [finding('wal-level')],
    empty: ['b'],
    without: () => ({ verdict: 'dump', possible: false }),
  });
  expect(advice).toBeUndefined();
});
