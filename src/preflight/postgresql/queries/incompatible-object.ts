import type { PostgresqlQuery } from '../query.ts';
import { decodeNumber, decodeText } from './decode.ts';

/** What a release after that of the source cannot make again. */
export interface IncompatibleObject {
  /** `view public.load`, `operator public.!!!(integer,NONE)`. */
  readonly object: string;
  /** `column pg_stat_bgwriter.buffers_backend`; a definition the release refuses. */
  readonly needs: string;
  /** The first release without it; 0: none could make it anew. */
  readonly since: number;
  /** The error of that release, where `needs` does not tell it. */
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
