import { expect, it } from 'vitest';
import type { WatchedTableDefinition } from '../../../src/watch/postgresql/server-facts.ts';
import {
  addColumnFix,
  changeTypeFix,
  createTableFix,
  dropColumnFix,
  dropTableFix,
  restoreIdentityFix,
} from '../../../src/watch/postgresql/table-fixes.ts';
import { startPostgres } from '../../fixtures/postgres.ts';

const table: WatchedTableDefinition = {
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
    changeTypeFix(table, column('a"b', 'text')),
    dropColumnFix(table, column('z', '')),
    restoreIdentityFix(table, { ...table, identity: 'n' }),
    restoreIdentityFix({ ...table, identity: 'i' }, table),
    dropTableFix(table),
  ];
  for (const fix of fixes) await server.query(fix?.statement ?? 'none');
});

it('a key that was dropped is added again', () => {
  const fix = restoreIdentityFix(table, { ...table, keyColumns: [], hasReplicaIdentity: false });
  expect(fix.statement).toMatch(/ADD PRIMARY KEY \("i""d"\);$/);
  expect(createTableFix(table, columns, 'su"b')?.statement).toMatch(/ALTER SUBSCRIPTION "su""b" REFRESH PUBLICATION;$/);
});

it.each(['int; DROP TABLE x', 'int)', "text DEFAULT 'x'", 'int -- ', 'int\nx', '', '"a', `${'"a""b'.repeat(2000)}`])(
  'a type that is no name of a type gives no statement: %j',
  (type) => {
    expect(addColumnFix(table, column('a', type))).toBeUndefined();
    expect(changeTypeFix(table, column('a', type))).toBeUndefined();
    expect(createTableFix(table, [column('a', type)], undefined)).toBeUndefined();
  },
);
