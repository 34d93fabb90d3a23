import { expect, it } from 'vitest';
import type { TableDefinition } from '../../../../src/db/watch/postgresql/facts.ts';
import {
  addColumnFix,
  columnTypeFix,
  createTableFix,
  dropColumnFix,
  dropTableFix,
  identityFix,
} from '../../../../src/db/watch/postgresql/schema.ts';
import { startPostgres } from '../../../fixtures/postgres.ts';

const table: TableDefinition = {
  schema: 'sc"hema',
  table: "Ta'ble; --",
  columns: '1',
  identity: 'd',
  keyColumns: ['i"d'],
  hasReplicaIdentity: true,
};
const column = (name: string, type: string) => ({ name, type, notNull: false });
const columns = [{ name: 'i"d', type: 'bigint', notNull: true }, column('n', 'numeric(10,2)[]')];

it('PostgreSQL accepts each statement, whatever the names', async () => {
  const server = await startPostgres({ direct: true });
  await server.query('CREATE SCHEMA "sc""hema"');
  const fixes = [
    createTableFix(table, columns, undefined),
    addColumnFix(table, column('a"b', 'character varying(20)')),
    addColumnFix(table, column('z', 'timestamp(3) without time zone')),
    columnTypeFix(table, column('a"b', 'text')),
    dropColumnFix(table, column('z', '')),
    identityFix(table, { ...table, identity: 'n' }),
    identityFix({ ...table, identity: 'i' }, table),
    dropTableFix(table),
  ];
  for (const fix of fixes) await server.query(fix?.statement ?? 'none');
});

it('a key that was dropped is added again', () => {
  const fix = identityFix(table, { ...table, keyColumns: [], hasReplicaIdentity: false });
  expect(fix.statement).toMatch(/ADD PRIMARY KEY \("i""d"\);$/);
  expect(createTableFix(table, columns, 'su"b')?.statement).toMatch(/ALTER SUBSCRIPTION "su""b" REFRESH PUBLICATION;$/);
});

it.each(['int; DROP TABLE x', 'int)', "text DEFAULT 'x'", 'int -- ', 'int\nx', '', '"a', `${'"a""b'.repeat(2000)}`])(
  'a type that is no name of a type gives no statement: %j',
  (type) => {
    expect(addColumnFix(table, column('a', type))).toBeUndefined();
    expect(columnTypeFix(table, column('a', type))).toBeUndefined();
    expect(createTableFix(table, [column('a', type)], undefined)).toBeUndefined();
  },
);
