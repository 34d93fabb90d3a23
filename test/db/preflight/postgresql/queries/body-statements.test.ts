import { expect, test } from 'vitest';
import {
  bodyStatementsQuery,
  statementsByTable,
} from '../../../../../src/db/preflight/postgresql/queries/body-statements.ts';

const read = (body: string) => bodyStatementsQuery.decode([{ signature: 'public.f()', body }]);
const found = (body: string) => read(body).map(({ verb, table }) => `${verb} ${table.join('.')}`);

test.each([
  { body: 'BEGIN UPDATE ONLY a.t AS x SET b = 1; END', statements: ['update a.t'] },
  { body: 'DELETE FROM t WHERE true', statements: ['delete t'] },
  { body: 'MERGE INTO "The T" USING u ON true WHEN MATCHED THEN DELETE', statements: ['merge The T'] },
  { body: 'TRUNCATE TABLE ONLY a.b, c *, "D" CASCADE', statements: ['truncate a.b', 'truncate c', 'truncate D'] },
  { body: "EXECUTE 'TRUNCATE t'; EXECUTE $q$DELETE FROM u$q$", statements: ['truncate t', 'delete u'] },
  { body: "RAISE 'no update'; -- DELETE FROM t", statements: [] },
  { body: 'SELECT 1 FROM t FOR UPDATE; SELECT 1 FROM t FOR NO KEY UPDATE OF t', statements: [] },
  { body: 'INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1', statements: [] },
  { body: "IF tg_op = 'UPDATE' OR tg_op = 'DELETE' THEN RETURN old; END IF", statements: [] },
  { body: 'TRUNCATE', statements: [] },
])('$body', ({ body, statements }) => {
  expect(found(body)).toEqual(statements);
});

test.each([
  { body: 'DELETE FROM t', name: 'public.t', isNamed: true },
  { body: 'DELETE FROM Public.T', name: 'public.t', isNamed: true },
  { body: 'DELETE FROM other.t', name: 'public.t', isNamed: false },
  { body: 'DELETE FROM "The T"', name: 'public."The T"', isNamed: true },
  { body: 'DELETE FROM d1.public.t', name: 'public.t', isNamed: false },
  { body: 'DELETE FROM public', name: 'public.t', isNamed: false },
])('$body names $name: $isNamed', ({ body, name, isNamed }) => {
  expect(statementsByTable(read(body))(name).length > 0).toBe(isNamed);
});

test('the function of a statement is named', () => {
  expect(read('DELETE FROM t')).toEqual([{ by: 'public.f()', verb: 'delete', table: ['t'] }]);
});
