import { decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** An object that a later release cannot create. */
export interface VersionIncompatibleObject {
  /** The object, such as `view public.load`, `operator public.!!!(integer,NONE)`. */
  readonly object: string;
  /**
   * The feature that the object uses and the later release does not have: `column pg_stat_bgwriter.buffers_backend`.
   */
  readonly needs: string;
  /** The first major version that cannot create the object; 0 if no version can. */
  readonly since: number;
  /** The error message of the later release, set if `needs` does not imply it. */
  readonly says?: string;
}

export function decodeVersionIncompatibleObjects(
  rows: Parameters<PostgresqlPreflightQuery<unknown>['decode']>[0],
): readonly VersionIncompatibleObject[] {
  return rows.map((row) => ({
    object: decodeTextColumn(row, 'object'),
    needs: decodeTextColumn(row, 'needs'),
    since: decodeNumberColumnOrZero(row, 'since'),
    ...(decodeTextColumn(row, 'says') === '' ? {} : { says: decodeTextColumn(row, 'says') }),
  }));
}
