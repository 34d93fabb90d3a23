import type { PostgresqlQuery } from '../query.ts';
import { decodeNumber, decodeText } from './decode.ts';

/** An object that a later release cannot create. */
export interface IncompatibleObject {
  /** `view public.load`, `operator public.!!!(integer,NONE)`. */
  readonly object: string;
  /** What the object uses and the release lacks: `column pg_stat_bgwriter.buffers_backend`. */
  readonly needs: string;
  /** The first major version that cannot create it; 0: no version can. */
  readonly since: number;
  /** The error message of that release, when `needs` does not imply it. */
  readonly says?: string;
}

export function decodeIncompatibleObjects(
  rows: Parameters<PostgresqlQuery<unknown>['decode']>[0],
): readonly IncompatibleObject[] {
  return rows.map((row) => ({
    object: decodeText(row, 'object'),
    needs: decodeText(row, 'needs'),
    since: decodeNumber(row, 'since'),
    ...(decodeText(row, 'says') === '' ? {} : { says: decodeText(row, 'says') }),
  }));
}
