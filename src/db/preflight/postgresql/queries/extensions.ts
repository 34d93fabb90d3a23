import { firstNormalObjectId, oidsOfCatalogs } from '../../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

export interface InstalledExtension {
  readonly name: string;
  readonly version: string;
  readonly schema: string;
  /** Whether a dump contains rows of tables of the extension, because they are the configuration of the user. */
  readonly hasUserRows: boolean;
}

export const installedExtensionsQuery: PostgresqlPreflightQuery<readonly InstalledExtension[]> = {
  id: 'extensions',
  scope: 'database',
  when: createDatabaseFeatureCondition('extensions'),
  sql: () => `
    SELECT e.extname, e.extversion, n.nspname, e.extconfig IS NOT NULL AS has_user_rows
    FROM pg_extension e
    JOIN pg_namespace n ON n.oid = e.extnamespace
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'extname'),
      version: decodeTextColumn(row, 'extversion'),
      schema: decodeTextColumn(row, 'nspname'),
      hasUserRows: decodeBooleanColumn(row, 'has_user_rows'),
    })),
  absent: [],
};

/** plpgsql is in every new database. */
export function isPreinstalledExtension({ name }: InstalledExtension): boolean {
  return name === 'plpgsql';
}

/**
 * A table that CREATE EXTENSION creates and fills with rows, and that a publication FOR ALL TABLES publishes as well.
 */
export interface ExtensionTable {
  readonly name: string;
  readonly extension: string;
}

/**
 * A table without rows is left out, because its copy cannot conflict. Tables that the extension declares as user data
 * with an empty condition (pg_extension_config_dump) are left out too: CREATE EXTENSION leaves them empty.
 */
export const extensionTablesQuery: PostgresqlPreflightQuery<readonly ExtensionTable[]> = {
  id: 'extension-tables',
  scope: 'database',
  when: createDatabaseFeatureCondition('extensions'),
  sql: () => `
    SELECT c.oid::regclass AS name, e.extname
    FROM pg_depend d
    JOIN pg_extension e ON e.oid = d.refobjid
    JOIN pg_class c ON c.oid = d.objid
    WHERE d.refclassid = '${oidsOfCatalogs.pg_extension}'
      AND d.classid = '${oidsOfCatalogs.pg_class}'
      AND d.deptype = 'e'
      AND c.relkind = 'r'
      AND c.relpersistence = 'p'
      AND c.oid >= '${firstNormalObjectId}'
      AND coalesce(e.extcondition[array_position(e.extconfig, c.oid)], '-') <> ''
      AND pg_relation_size(c.oid) > 0
    ORDER BY 1
  `,
  decode: (rows) =>
    rows.map((row) => ({ name: decodeTextColumn(row, 'name'), extension: decodeTextColumn(row, 'extname') })),
  absent: [],
};
