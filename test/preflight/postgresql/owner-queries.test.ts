import { expect, test } from 'vitest';
import { ownerQueries, ownerValueQueries } from '../../../src/preflight/postgresql/owner-queries.ts';

test('the owner of a table sees whether a row violates its constraint', () => {
  const constraint = { name: 'c', owner: 'public."The T"', ofDomain: false, definition: 'CHECK ((b < 10)) NOT VALID' };
  const text = ownerQueries([constraint, { ...constraint, owner: 'd', ofDomain: true }], "SET search_path = ''");
  expect(text).toContain(
    `SET search_path = ''; SELECT EXISTS (SELECT FROM ONLY "public"."The T" WHERE NOT ((b < 10)))`,
  );
  expect(ownerQueries([{ ...constraint, ofDomain: true }], "SET search_path = ''")).toBe('');
});

test('the owner sees the values of a column that was not read', () => {
  expect(ownerValueQueries([{ table: 'public."The T"', column: '"f f"' }])).toContain(
    'SELECT DISTINCT "f f"::text FROM ONLY "public"."The T"',
  );
});
