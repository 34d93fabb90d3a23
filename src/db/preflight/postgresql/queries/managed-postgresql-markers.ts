import { decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/**
 * Roles (`role:rdsadmin`), databases (`db:_dodb`) and settings (`guc:rds.extensions`) that exist only in managed
 * services.
 */
export const managedPostgresqlMarkersQuery: PostgresqlPreflightQuery<readonly string[]> = {
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
  decode: (rows) => rows.map((row) => decodeTextColumn(row, 'mark')),
  absent: [],
};
