import { expect, test } from 'vitest';
import { failuresOf, type RehearsalReport, unprovenOf } from '../../../../src/db/cutover/rehearse/report.ts';
import { renderRehearsal } from '../../../../src/db/cutover/rehearse/text.ts';
import { expectGolden } from '../../../fixtures/golden.ts';

const plain = (text: string): string => text;
const ink = { bold: plain, red: plain, yellow: plain };
const database = {
  name: 'shop',
  method: 'continuous',
  seconds: 1.5,
  tables: [{ name: 'public.t', rows_source: 5, rows_target: 5, state: 'equal' }],
  sequences: [],
  errors: [],
  warnings: [],
} as const;
const report: RehearsalReport = {
  schema_version: 1,
  ok: true,
  engine: 'postgresql',
  method: 'continuous',
  source: { host: 'a', port: 1, version: '14.1' },
  target: { host: 'b', port: 2, version: '18.1' },
  databases: [database],
  failures: [],
  not_proven: [],
  not_compared: ['large objects', 'roles'],
  violations: [],
  warnings: [],
  left: [],
  kept: false,
  preflight: {},
  started_at: '2026-01-01T00:00:00.000Z',
  seconds: 2,
};

test('the outcome comes first, and tables that are equal are only counted', () => {
  expectGolden('db-rehearse', renderRehearsal(report, ink));
});

test('what would have failed is named with its reason, and what is left with the statement that removes it', () => {
  const tables = [
    { name: 'public.t', rows_source: 5, rows_target: 4, state: 'differs' },
    { name: 'public.u', rows_source: null, rows_target: null, state: 'not_copied', error: 'it is too wide' },
    { name: 'public.v', rows_source: 3, rows_target: 0, state: 'not_carried' },
  ] as const;
  const sequences = [{ name: 'public.s', source: '9', target: null, state: 'differs' }] as const;
  const databases = [{ ...database, tables, sequences, errors: ['it broke'] }];
  const failures = failuresOf(databases);
  expect(failures.map(({ object }) => object)).toEqual([undefined, 'public.t', 'public.u', 'public.s']);
  const left = [
    { side: 'source', database: 'shop', object: 'publication p', statement: 'DROP PUBLICATION "p"', reason: 'gone' },
  ] as const;
  const text = renderRehearsal({ ...report, ok: false, databases, failures, left }, ink);
  expect(text).toContain('DROP PUBLICATION "p"\n');
  expectGolden('db-rehearse', text);
});

test('what was not compared is not counted as equal, and has its reason', () => {
  const tables = [
    ...database.tables,
    { name: 'public.busy', rows_source: 7, rows_target: 6, state: 'not_comparable' },
    { name: 'public.sums', rows_source: 1, rows_target: 1, state: 'partly_equal', columns_not_compared: ['a', 'b'] },
  ] as const;
  expectGolden('db-rehearse', renderRehearsal({ ...report, databases: [{ ...database, tables }] }, ink));
});

test('names from a server cannot act on the terminal', () => {
  const odd = { ...database, name: 'a\u001b[2Jb', tables: [{ ...database.tables[0], state: 'differs' as const }] };
  const text = renderRehearsal({ ...report, databases: [odd], failures: failuresOf([odd]) }, ink);
  expect(text).not.toContain('\u001b');
});

test.each([
  ['keys', 2000, undefined],
  ['keys', 2000, 0],
  ['public.t', 5, undefined],
])('a database of which nothing is proven equal is no success (%s)', (name, rows, equal) => {
  const keys = equal === undefined ? {} : { rows_equal: equal };
  const table = { name, rows_source: rows, rows_target: rows, state: 'not_comparable' as const, ...keys };
  const databases = [{ ...database, tables: [table] }];
  const unproven = unprovenOf(databases);
  expect(unproven).toHaveLength(1);
  const text = renderRehearsal({ ...report, ok: false, databases, not_proven: unproven }, ink);
  expect(text).toMatch(/^Not proven/);
  expect(unprovenOf([{ ...database, tables: [{ ...table, rows_equal: 1 }] }])).toEqual([]);
});
