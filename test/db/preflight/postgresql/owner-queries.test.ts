import { expect, test } from 'vitest';
import {
  suggestConstraintQueries,
  suggestDuplicateQueries,
  suggestValueQueries,
} from '../../../../src/db/preflight/postgresql/owner-queries.ts';
import { startPostgres } from '../../../fixtures/postgres.ts';

test('the owner of a table sees whether a row violates its constraint', () => {
  const constraint = { name: 'c', owner: 'public."The T"', ofDomain: false, definition: 'CHECK ((b < 10)) NOT VALID' };
  const text = suggestConstraintQueries([constraint, { ...constraint, owner: 'd', ofDomain: true }], 'SET a = 1');
  expect(text).toContain(
    `SET search_path = ''; SET a = 1; SELECT EXISTS (SELECT FROM ONLY "public"."The T" WHERE NOT ((b < 10)))`,
  );
  expect(suggestConstraintQueries([{ ...constraint, ofDomain: true }], 'SET a = 1')).toBe('');
});

test('the owner sees the values of a column that was not read', () => {
  expect(suggestValueQueries([{ table: 'public."The T"', column: '"f f"' }])).toContain(
    'SELECT DISTINCT "f f"::pg_catalog.text FROM ONLY "public"."The T"',
  );
});

test('the owner sees equal keys that the index does not contain', async () => {
  const index = `"The T_pkey"`;
  const ready = (value: boolean) => `UPDATE pg_index SET indisready = ${value} WHERE indexrelid = '${index}'::regclass`;
  const server = await startPostgres({
    version: 17,
    setup: [
      'CREATE TABLE "The T" (a int, "b ""x" int, PRIMARY KEY (a, "b ""x"))',
      'INSERT INTO "The T" SELECT g, g FROM generate_series(1, 5000) g',
      ready(false),
      'INSERT INTO "The T" VALUES (7, 7)',
      ready(true),
      'VACUUM ANALYZE "The T"',
    ],
  });
  const duplicates = [{ index, table: 'public."The T"', columns: ['a', 'b "x'], keys: 1, rows: 2 }];
  const queries = /run: (.+)$/.exec(suggestDuplicateQueries(duplicates))?.[1] ?? '';
  expect(await server.query(queries)).toEqual([{ a: 7, 'b "x': 7, count: '2' }]);
  // With an index scan the row is not seen.
  const withIndex = queries.replaceAll(
    'SET enable_indexonlyscan = off',
    'SET enable_seqscan = off; SET enable_hashagg = off',
  );
  expect(await server.query(withIndex)).toEqual([]);
  expect(suggestDuplicateQueries([])).toBe('');
});
