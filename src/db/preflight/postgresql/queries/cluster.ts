import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { decodeOptionalText, type PostgresqlRow } from '../../../../postgresql/rows.ts';
import { column, columns, type PostgresqlQuery, type RowOf, rowsQuery } from '../query.ts';
import { featureCondition } from './database-overview.ts';

export type PostgresqlDatabase = RowOf<typeof databasesQuery>;

/** All databases except template0 and template1, ordered by name. */
export const databasesQuery = rowsQuery({
  id: 'databases',
  scope: 'server',
  sql: (version) => `
    SELECT
      datname,
      datallowconn,
      datistemplate,
      datconnlimit,
      pg_encoding_to_char(encoding) AS encoding,
      datcollate,
      datctype,
      has_database_privilege(oid, 'CONNECT') AS may_connect,
      octet_length(datname) AS length${localeColumns(version)}
    FROM pg_database
    WHERE datname NOT IN ('template0', 'template1')
    ORDER BY datname
  `,
  row: columns({
    name: column.text('datname'),
    allowsConnections: column.boolean('datallowconn'),
    template: column.boolean('datistemplate'),
    /** The connection limit; -1: no limit; -2: DROP DATABASE was interrupted. */
    connectionLimit: column.number('datconnlimit'),
    encoding: column.text('encoding'),
    collate: column.text('datcollate'),
    ctype: column.text('datctype'),
    /** `c`: libc; `i`: ICU; `b`: builtin. */
    provider: (row) => decodeOptionalText(row, 'provider') ?? 'c',
    /** Locale of the ICU or builtin locale provider. */
    locale: column.optionalText('locale'),
    /** Collation version at the creation of the database, and present version of the library (since PostgreSQL 15). */
    collationVersion: column.optionalText('collation_version'),
    libraryVersion: column.optionalText('library_version'),
    /** Whether the role has the CONNECT privilege for the database. */
    mayConnect: column.boolean('may_connect'),
    /** Length of the database name in bytes. */
    length: column.number('length'),
  }),
});

function localeColumns(version: number): string {
  if (version < 150_000) return '';
  const locale = version < 170_000 ? 'daticulocale' : 'datlocale';
  return `, datlocprovider AS provider, ${locale} AS locale, datcollversion AS collation_version, pg_database_collation_actual_version(oid) AS library_version`;
}

export function findDatabase(databases: readonly PostgresqlDatabase[], name: string): PostgresqlDatabase | undefined {
  return databases.find((database) => database.name === name);
}

/**
 * Properties that distinguish a server from another server, and from its own standby, which has the same system
 * identifier.
 */
export type InstanceIdentity = ReturnType<typeof decodeInstance>;

export const instanceSql = `
  SELECT
    system_identifier::text AS system_identifier,
    pg_is_in_recovery() AS in_recovery,
    extract(epoch FROM pg_postmaster_start_time()) AS started,
    extract(epoch FROM clock_timestamp()) AS read_at
  FROM pg_control_system()
`;

export const decodeInstance = columns({
  systemIdentifier: column.text('system_identifier'),
  inRecovery: column.boolean('in_recovery'),
  /** Start time of the server in seconds since 1970, by the clock of the server. */
  started: column.number('started'),
  /** Time of the query in seconds since 1970, by the clock of the server. */
  readAt: column.number('read_at'),
});

const shared = {
  sql: () => instanceSql,
  decode: ([row]: readonly PostgresqlRow[]) => (row === undefined ? undefined : decodeInstance(row)),
  absent: undefined,
  // Some providers deny access to pg_control_system.
  mayBeHidden: true,
  grant: (user: string) => `GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system() TO ${quoteIdentifier(user)}`,
};

/** The server instance of the first connection. */
export const firstInstanceQuery: PostgresqlQuery<InstanceIdentity | undefined> = {
  id: 'server-instance',
  scope: 'server',
  ...shared,
};

/** The server instance of a later connection. */
export const laterInstanceQuery: PostgresqlQuery<InstanceIdentity | undefined> = {
  id: 'later-server-instance',
  scope: 'database',
  ...shared,
};

export type InstalledExtension = RowOf<typeof extensionsQuery>;

export const extensionsQuery = rowsQuery({
  id: 'extensions',
  scope: 'database',
  when: featureCondition('extensions'),
  sql: () => `
    SELECT e.extname, e.extversion, n.nspname, e.extconfig IS NOT NULL AS has_user_rows
    FROM pg_extension e
    JOIN pg_namespace n ON n.oid = e.extnamespace
  `,
  row: columns({
    name: column.text('extname'),
    version: column.text('extversion'),
    schema: column.text('nspname'),
    /** Whether a dump contains rows of tables of the extension, because they are the configuration of the user. */
    hasUserRows: column.boolean('has_user_rows'),
  }),
});

/** plpgsql is in every new database. */
export function isPreinstalled({ name }: InstalledExtension): boolean {
  return name === 'plpgsql';
}

/**
 * Tables that CREATE EXTENSION creates and fills with rows, and that a publication FOR ALL TABLES publishes as well. A
 * table without rows is left out, because its copy cannot conflict. Tables that the extension declares as user data
 * with an empty condition (pg_extension_config_dump) are left out too: CREATE EXTENSION leaves them empty.
 */
export const extensionTablesQuery = rowsQuery({
  id: 'extension-tables',
  scope: 'database',
  when: featureCondition('extensions'),
  sql: () => `
    SELECT c.oid::regclass AS name, e.extname
    FROM pg_depend d
    JOIN pg_extension e ON e.oid = d.refobjid
    JOIN pg_class c ON c.oid = d.objid
    WHERE d.refclassid = '${catalogOids.pg_extension}'
      AND d.classid = '${catalogOids.pg_class}'
      AND d.deptype = 'e'
      AND c.relkind = 'r'
      AND c.relpersistence = 'p'
      AND c.oid >= '${firstNormalOid}'
      AND coalesce(e.extcondition[array_position(e.extconfig, c.oid)], '-') <> ''
      AND pg_relation_size(c.oid) > 0
    ORDER BY 1
  `,
  row: columns({
    name: column.text('name'),
    extension: column.text('extname'),
  }),
});

/**
 * Roles (`role:rdsadmin`), databases (`db:_dodb`) and settings (`guc:rds.extensions`) that exist only in managed
 * services.
 */
export const managedMarkersQuery = rowsQuery({
  id: 'managed-service-markers',
  scope: 'server',
  sql: () => `
    SELECT 'role:' || rolname AS mark
    FROM pg_roles
    WHERE rolname IN (
      'rdsadmin',
      'cloudsqladmin',
      'alloydbadmin',
      'azuresu',
      'azure_pg_admin',
      'doadmin',
      '_doadmin',
      'avnadmin',
      'supabase_admin',
      'neon_superuser',
      'cloud_admin'
    )
    UNION ALL
    SELECT 'db:' || datname
    FROM pg_database
    WHERE datname IN (
      'rdsadmin',
      'cloudsqladmin',
      'alloydbadmin',
      'azure_maintenance',
      'azure_sys',
      '_dodb',
      '_aiven'
    )
    UNION ALL
    SELECT 'guc:' || name
    FROM pg_settings
    WHERE name IN (
      'rds.extensions',
      'cloudsql.iam_authentication',
      'azure.extensions',
      'aiven.pg_security_agent',
      'neon.tenant_id'
    )
  `,
  row: column.text('mark'),
});
