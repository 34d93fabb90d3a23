import type { PreflightOptions } from '../preflight-options.ts';
import type { NullableHashIndexColumn } from './queries/nullable-hash-index-columns.ts';
import type { ColumnWithoutEqualityOperator } from './queries/replica-identities.ts';
import { getPostgresqlTargetVersion } from './source-facts.ts';

/** With REPLICA IDENTITY FULL, PostgreSQL 17 and newer can use a hash index on the target to find a row. */
const hashIndexLookupSince = 170_000;

/**
 * Nullable columns with a hash index that the target uses to find rows; rows with NULL in such a column are not found.
 * Targets before PostgreSQL 17 use no hash index.
 */
export function selectHashIndexColumnsUsedByTarget(
  hashed: readonly NullableHashIndexColumn[],
  options: PreflightOptions,
): readonly NullableHashIndexColumn[] {
  const target = getPostgresqlTargetVersion(options);
  return target !== undefined && target < hashIndexLookupSince ? [] : hashed;
}

/**
 * Columns for which REPLICA IDENTITY FULL is not sufficient, because the target finds rows with a hash index, which has
 * no entry for NULL.
 */
export function findColumnsWithNullsMissedByHashIndex(
  hashed: readonly NullableHashIndexColumn[],
  options: PreflightOptions,
): readonly ColumnWithoutEqualityOperator[] {
  return selectHashIndexColumnsUsedByTarget(hashed, options).map(({ table, column, index }) => ({
    table,
    column: `${column} (the hash index ${index} has no entry for NULL)`,
  }));
}
