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
  { body: 'TRUNCATE a; TRUNCATE b CASCADE; TRUNCATE c, d', statements: ['truncate b', 'truncate c', 'truncate d'] },
  { body: "EXECUTE 'TRUNCATE t CASCADE'; EXECUTE $q$DELETE FROM u$q$", statements: ['truncate t', 'delete u'] },
  { body: "RAISE 'no update'; -- DELETE FROM t", statements: [] },
  { body: 'SELECT 1 FROM t FOR UPDATE; SELECT 1 FROM t FOR NO KEY UPDATE OF t', statements: [] },
  { body: 'INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1', statements: ['upsert t'] },
  { body: 'INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING', statements: [] },
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

test.each([
  "EXECUTE format('DELETE FROM %s WHERE id = 1', tab)",
  "EXECUTE 'DELETE FROM ' || quote_ident(tab)",
  "EXECUTE concat('UPDATE ', tab, ' SET a = 1')",
  "DECLARE q text := 'UPDATE %I SET a = 1'; BEGIN EXECUTE format(q, tab); END",
  "EXECUTE format('MERGE INTO %I.%I USING u ON true WHEN MATCHED THEN DELETE', s, tab)",
  "EXECUTE 'TRUNCATE TABLE public.log_' || month || ' CASCADE'",
  "EXECUTE format('DELETE FROM %I', 'log_1')",
  "EXECUTE 'WITH d AS (DELETE FROM ' || tab || ' RETURNING *) SELECT count(*) FROM d'",
  "EXECUTE format('INSERT INTO %I VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1', tab)",
])('the table may be one whose name is composed: %s', (body) => {
  expect(statementsByTable(read(body))('public.log_1')).toHaveLength(1);
});

test.each([
  "EXECUTE format('DELETE FROM %I', 'other')",
  "EXECUTE 'DELETE FROM other_' || month",
  "EXECUTE 'DELETE FROM app.log_' || month",
  "EXECUTE format('DELETE FROM other WHERE name = %L', tab)",
  "EXECUTE format('INSERT INTO %I SELECT * FROM t FOR UPDATE', tab)",
  "RAISE NOTICE 'delete from %', tab; EXECUTE 'SELECT 1'",
  "INSERT INTO queue VALUES ('DELETE FROM ' || tab); EXECUTE 'SELECT 1'",
  "RETURN 'DELETE FROM ' || tab",
])('the table is none whose name is composed: %s', (body) => {
  expect(statementsByTable(read(body))('public.log_1')).toEqual([]);
});

test('of many functions with a composed name a few are enough', () => {
  const all = Array.from({ length: 1000 }, () => read("EXECUTE 'DELETE FROM ' || tab")).flat();
  expect(statementsByTable(all)('public.t').length).toBeLessThan(100);
});

test('the function of a statement is named', () => {
  expect(read('DELETE FROM t')).toEqual([{ by: 'public.f()', verb: 'delete', table: ['t'] }]);
});
