import { decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { isNotExtensionMemberSql, isUserTableInSystemSchemaSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/** A table of a user in a system schema. */
export interface SystemSchemaTable {
  readonly name: string;
  readonly schema: string;
  /** The name of the table after ALTER TABLE … SET SCHEMA public. */
  readonly moved: string;
}

/** Tables of extensions are left out, because CREATE EXTENSION creates them on the target as well. */
export const systemSchemaTablesQuery: PostgresqlPreflightQuery<readonly SystemSchemaTable[]> = {
  id: 'system-schema-tables',
  scope: 'database',
  when: createDatabaseFeatureCondition('system-tables'),
  sql: () => `
    SELECT
      quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
      quote_ident(n.nspname) AS schema,
      'public.' || quote_ident(c.relname) AS moved
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${isUserTableInSystemSchemaSql}
      AND ${isNotExtensionMemberSql('pg_class', 'c.oid')}
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'name'),
      schema: decodeTextColumn(row, 'schema'),
      moved: decodeTextColumn(row, 'moved'),
    })),
  absent: [],
};
