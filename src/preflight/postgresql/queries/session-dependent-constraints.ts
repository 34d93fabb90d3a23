import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { checkConstraintDependsOnSessionSql } from './catalog-predicates.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { decodeNamedConstraint, type NamedConstraint, namedConstraintSelectListSql } from './named-constraint.ts';
import { constraintHasStoredRowsSql } from './row-scan.ts';

/** A CHECK constraint that depends on the session (its role, its settings, its search_path) or on the server. */
export interface SessionDependentConstraint extends NamedConstraint {
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
      ${namedConstraintSelectListSql},
      ${constraintHasStoredRowsSql(version)} AS filled
    FROM pg_constraint k
    WHERE k.oid >= '${firstNormalObjectId}'
      AND ${checkConstraintDependsOnSessionSql}${version < 180_000 ? '' : ' AND k.conenforced'}
    ORDER BY 2, 1
  `,
  decode: (rows) =>
    rows.map((row) => ({
      ...decodeNamedConstraint(row),
      filled: decodeBooleanColumn(row, 'filled'),
    })),
  absent: [],
};
