import { parseMajorVersion } from '../../postgresql/version.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { NullableHashIndexColumn } from './queries/nullable-hash-index-columns.ts';
import type { ColumnWithoutEquality } from './queries/replica-identities.ts';

/** Since 17 the target can use a hash index to find a row by REPLICA IDENTITY FULL. */
const hashIndexLookupSince = 170_000;

/**
 * Nullable columns with a hash index that the target uses to find rows: it does not find rows with NULL in them. None before
 * PostgreSQL 17.
 */
export function nullableColumnsFoundByHashIndex(
  hashed: readonly NullableHashIndexColumn[],
  { targetVersion }: PreflightOptions,
): readonly NullableHashIndexColumn[] {
  const target = targetVersion === undefined ? undefined : parseMajorVersion(targetVersion);
  return target !== undefined && target < hashIndexLookupSince ? [] : hashed;
}

/**
 * Columns for which REPLICA IDENTITY FULL is not enough: the target looks rows up in a hash index, which has no entry for NULL.
 */
export function columnsMissedByHashIndex(
  hashed: readonly NullableHashIndexColumn[],
  options: PreflightOptions,
): readonly ColumnWithoutEquality[] {
  return nullableColumnsFoundByHashIndex(hashed, options).map(({ table, column, index }) => ({
    table,
    column: `${column} (NULL is in no hash index, as ${index})`,
  }));
}
