import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { checkConstraintDependsOnSessionSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { decodeBooleanColumn, decodeTextColumn } from './decode.ts';
import { buildGrantMonitorRoleStatement } from './grants.ts';
import { constraintHasStoredRowsSql } from './row-scan.ts';

/** A CHECK constraint that depends on the session (its role, its settings, its search_path) or on the server. */
export interface SessionDependentConstraint {
  /** Quoted. */
  readonly name: string;
  /** The table or the domain to which the constraint belongs. */
  readonly owner: string;
  readonly ofDomain: boolean;
  /** The definition of the constraint, such as `CHECK ((tenant = current_setting('app.tenant'::text)))`. */
  readonly definition: string;
  /**
   * Whether the constraint applies to existing rows. The rows are not checked, because preflight evaluates no
   * expression of a user.
   */
  readonly filled: boolean;
}

export const sessionDependentConstraintsQuery: PostgresqlPreflightQuery<readonly SessionDependentConstraint[]> = {
  id: 'session-dependent-constraints',
  scope: 'database',
  when: createDatabaseFeatureCondition('odd-constraints'),
  sql: (version) => `
    SELECT
      quote_ident(k.conname) AS conname,
      CASE WHEN k.contypid <> '0' THEN k.contypid::regtype::text ELSE k.conrelid::regclass::text END AS owner,
      k.contypid <> '0' AS of_domain,
      pg_get_constraintdef(k.oid) AS definition,
      ${constraintHasStoredRowsSql(version)} AS filled
    FROM pg_constraint k
    WHERE k.oid >= '${firstNormalObjectId}'
      AND ${checkConstraintDependsOnSessionSql}${version < 180_000 ? '' : ' AND k.conenforced'}
    ORDER BY 2, 1
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'conname'),
      owner: decodeTextColumn(row, 'owner'),
      ofDomain: decodeBooleanColumn(row, 'of_domain'),
      definition: decodeTextColumn(row, 'definition'),
      filled: decodeBooleanColumn(row, 'filled'),
    })),
  absent: [],
  grant: buildGrantMonitorRoleStatement,
};
