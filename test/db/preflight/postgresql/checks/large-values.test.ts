import { expect, test } from 'vitest';
import { largeValuesCheck } from '../../../../../src/db/preflight/postgresql/checks/large-values.ts';
import { largeValuesQuery } from '../../../../../src/db/preflight/postgresql/queries/tables.ts';
import { startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { deepRun, preflightOptions, short, sourceFacts } from '../facts.ts';
import { queryRows } from '../query-rows.ts';

const table = { table: 'public.t', bytes: 700 * 1024 ** 2, binaries: ['data'], texts: ['"Title"'] };

test('a TOAST table that can hold such a row leaves it open, with the query for its owner', () => {
  const evaluate = (large: readonly (typeof table)[]) =>
    largeValuesCheck.evaluate({ large, wide: [], storage: [] }, 'd1', sourceFacts(), preflightOptions());
  expect(short(evaluate([]))).toBe('pass');
  const outcome = evaluate([table]);
  expect(short(outcome)).toBe('unknown');
  expectOutcomeText(outcome);
  expect(outcome.detail).toContain(
    `SELECT count(*) FROM ONLY "public"."t" WHERE coalesce(2 * octet_length("data")::bigint, 0) + coalesce(octet_length("Title"::text)::bigint, 0) >= 1073741824;`,
  );
});

test.each([
  { isCertain: true, verdict: 'fail continuous+dump' },
  { isCertain: false, verdict: 'unknown' },
])('rows longer than a page, certain $isCertain: $verdict', ({ isCertain, verdict }) => {
  const wide = [{ table: 'public.t', bytes: 9600, isCertain }];
  const outcome = largeValuesCheck.evaluate({ large: [], wide, storage: [] }, 'd1', sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe(verdict);
  expectOutcomeText(outcome);
});

test.each([
  { rows: 'violate', verdict: 'fail continuous+dump' },
  { rows: 'unseen', verdict: 'unknown' },
  { rows: 'fit', verdict: 'pass' },
] as const)('values stored before their column changed its storage, rows $rows: $verdict', ({ rows, verdict }) => {
  const column = { table: 'public.t', column: 'b', place: 'public.t_b_idx', limit: 2704, isBinary: false };
  const values = { large: [], wide: [], storage: [{ ...column, rows }] };
  const outcome = largeValuesCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe(verdict);
  expectOutcomeText(outcome);
});

const tooLong = { table: 'public.t', reason: 'row_too_large', message: 'invalid memory alloc request size' } as const;
const locked = { table: 'public.t', reason: 'locked', message: '' } as const;

test.each([
  { what: 'every row was read', large: [table], scan: {}, verdict: 'pass' },
  { what: 'a row is too long', large: [], scan: { unread: [tooLong] }, verdict: 'fail continuous+dump' },
  { what: 'the table was not read', large: [table], scan: { unread: [locked] }, verdict: 'unknown' },
  {
    what: 'another table was not read',
    large: [table],
    scan: { unread: [{ ...locked, table: 'public.u' }] },
    verdict: 'pass',
  },
  { what: 'no table was listed', large: [table], scan: { failure: 'denied' }, verdict: 'unknown' },
])('with --deep, $what: $verdict', ({ large, scan, verdict }) => {
  const outcome = largeValuesCheck.evaluate({ large, wide: [], storage: [] }, 'd1', ...deepRun(scan));
  expect(short(outcome)).toBe(verdict);
  expectOutcomeText(outcome);
});

test('a small database is not queried', () => {
  const when = (bytes: number) => largeValuesQuery.when?.((query) => query.decode([{ bytes: String(bytes) }]), 'd1');
  expect([when(512 * 1024 ** 2), when(513 * 1024 ** 2)]).toEqual([false, true]);
});

test.each([14, 18] as const)(
  'on PostgreSQL %i, tables are found by their TOAST and their columns',
  async (version) => {
    const server = await startPostgres({
      version,
      setup: [
        'CREATE TABLE files (id int, name varchar(80), data bytea, "Title" text)',
        'ALTER TABLE files ALTER data SET STORAGE EXTERNAL',
        "INSERT INTO files SELECT n, 'x', convert_to(repeat(md5(n::text), 2000), 'UTF8') FROM generate_series(1, 20) n",
        'CREATE TABLE texts AS SELECT id, "Title" FROM files',
        'CREATE TABLE fixed (id int PRIMARY KEY)',
      ],
    });
    const context = { inRecovery: false, superuser: true };
    const sql = largeValuesQuery.sql(version * 10_000, context) ?? '';
    expect(await queryRows(server, 'postgres', sql)).toEqual([]);
    // A limit that the test can reach: 1 MB for bytea.
    const low = sql.replace('536870912', String(1024 ** 2));
    const found = largeValuesQuery.decode(await queryRows(server, 'postgres', low));
    expect(found).toEqual([
      { table: 'public.files', bytes: expect.any(Number), binaries: ['data'], texts: ['"Title"'] },
    ]);
  },
  60_000,
);
