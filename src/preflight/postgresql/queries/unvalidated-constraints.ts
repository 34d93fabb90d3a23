import { decodeBooleanColumn } from '../../../postgresql/decode-row.ts';
import { isNullTextCopyField } from '../../../postgresql/table-rows.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { decodeNamedConstraint, type NamedConstraint, namedConstraintSelectListSql } from './named-constraint.ts';
import {
  completeResultsByRowSearch,
  constraintHasStoredRowsSql,
  decodeSearchedTable,
  domainTypeHasRowsSql,
  type RowScanDependentResult,
  searchedTableSelectListSql,
} from './row-scan.ts';

/**
 * A constraint that is NOT VALID: existing rows were never checked. For NOT NULL constraints the rows are read. The
 * rows of a CHECK constraint are `unseen`, because preflight evaluates no expression of a user.
 */
export interface UnvalidatedConstraint extends NamedConstraint, RowScanDependentResult {
  /** Whether the domain of the constraint is used in arrays, because of which VALIDATE CONSTRAINT fails. */
  readonly inArrays: boolean;
  /** The initial copy does not check foreign keys, but all other constraints. */
  readonly foreignKey: boolean;
}

/**
 * NOT ENFORCED constraints of PostgreSQL 18 are left out, because they are never checked. A constraint of a partitioned
 * table is left out, because its partitions have it too.
 */
export const unvalidatedConstraintsQuery: PostgresqlPreflightQuery<readonly UnvalidatedConstraint[]> = {
  id: 'unvalidated-constraints',
  scope: 'database',
  when: createDatabaseFeatureCondition('odd-constraints'),
  sql: (version) => {
    const arrays = domainTypeHasRowsSql("t.typarray <> '0' AND a.atttypid = t.typarray");
    return `
      SELECT
        ${namedConstraintSelectListSql},
        k.contype = 'f' AS foreign_key,
        ${arrays} AS in_arrays,
        ${constraintHasStoredRowsSql(version)} AS filled,
        t.*
      FROM pg_constraint k
      LEFT JOIN LATERAL (
        SELECT ${searchedTableSelectListSql(version)}
        FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1]
        WHERE k.contype = 'n' AND c.oid = k.conrelid
      ) t ON true
      WHERE NOT k.convalidated${version < 180_000 ? '' : ' AND k.conenforced'}
      ORDER BY 2, 1
    `;
  },
  decode: (rows) =>
    rows.map((row) => ({
      ...decodeNamedConstraint(row),
      inArrays: decodeBooleanColumn(row, 'in_arrays'),
      foreignKey: decodeBooleanColumn(row, 'foreign_key'),
      ...(decodeBooleanColumn(row, 'filled')
        ? { rows: 'unseen', searched: decodeSearchedTable(row) }
        : { rows: decodeBooleanColumn(row, 'in_arrays') ? 'unseen' : 'none' }),
    })),
  searchRows: (found, search) => completeResultsByRowSearch(found, search, isNullTextCopyField),
  absent: [],
};
