import { parseMajorVersion } from '../../postgresql/version.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { NullableHashIndexColumn } from './queries/nullable-hash-index-columns.ts';

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
