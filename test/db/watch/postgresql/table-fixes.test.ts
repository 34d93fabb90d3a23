import { expect, it } from 'vitest';
import type { WatchedTableDefinition } from '../../../../src/db/watch/postgresql/server-facts.ts';
import {
  buildAddColumnOnTargetFix,
  buildChangeColumnTypeOnTargetFix,
  buildCreateTableOnTargetFix,
  buildDropColumnOnTargetFix,
  buildDropTableOnTargetFix,
  buildRestoreReplicaIdentityFix,
} from '../../../../src/db/watch/postgresql/table-fixes.ts';
import { startPostgres } from '../../../fixtures/postgres.ts';

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
    buildCreateTableOnTargetFix(table, columns, undefined),
    buildAddColumnOnTargetFix(table, column('a"b', 'character varying(20)')),
    buildAddColumnOnTargetFix(table, column('z', 'timestamp(3) without time zone')),
    buildChangeColumnTypeOnTargetFix(table, column('a"b', 'text')),
    buildDropColumnOnTargetFix(table, column('z', '')),
    buildRestoreReplicaIdentityFix(table, { ...table, identity: 'n' }),
    buildRestoreReplicaIdentityFix({ ...table, identity: 'i' }, table),
    buildDropTableOnTargetFix(table),
  ];
  for (const fix of fixes) await server.query(fix?.statement ?? 'none');
});

it('a key that was dropped is added again', () => {
  const fix = buildRestoreReplicaIdentityFix(table, { ...table, keyColumns: [], hasReplicaIdentity: false });
  expect(fix.statement).toMatch(/ADD PRIMARY KEY \("i""d"\);$/);
  expect(buildCreateTableOnTargetFix(table, columns, 'su"b')?.statement).toMatch(
    /ALTER SUBSCRIPTION "su""b" REFRESH PUBLICATION;$/,
  );
});

it.each(['int; DROP TABLE x', 'int)', "text DEFAULT 'x'", 'int -- ', 'int\nx', '', '"a', `${'"a""b'.repeat(2000)}`])(
  'a type that is no name of a type gives no statement: %j',
  (type) => {
    expect(buildAddColumnOnTargetFix(table, column('a', type))).toBeUndefined();
    expect(buildChangeColumnTypeOnTargetFix(table, column('a', type))).toBeUndefined();
    expect(buildCreateTableOnTargetFix(table, [column('a', type)], undefined)).toBeUndefined();
  },
);
