import { catalogOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { isSystemSchemaTableSql } from './catalog-predicates.ts';
import { whenPresent } from './database-overview.ts';
import { decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** A table that somebody made in a schema of the system. */
export interface SystemSchemaTable {
  readonly name: string;
  readonly schema: string;
  /** Its name once it is in public. */
  readonly moved: string;
}

/** Without those of extensions, which make their own on the target too. 1259 is pg_class. */
export const systemSchemaTablesQuery: PostgresqlQuery<readonly SystemSchemaTable[]> = {
  id: 'system-tables',
  scope: 'database',
  when: whenPresent('system-tables'),
  sql: () => `
    SELECT
      quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
      quote_ident(n.nspname) AS schema,
      'public.' || quote_ident(c.relname) AS moved
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE ${isSystemSchemaTableSql}
      AND NOT EXISTS (
        SELECT FROM pg_depend d
        WHERE d.classid = '${catalogOid.pg_class}'
          AND d.objid = c.oid
          AND d.deptype = 'e'
      )
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'name'),
      schema: decodeText(row, 'schema'),
      moved: decodeText(row, 'moved'),
    })),
  absent: [],
  grant: grantMonitorRole,
};
