import type { Ask } from '../ask.ts';
import { textIn, textOrNone } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { where } from './overview.ts';

/** A collation that somebody made. */
export interface UserCollation {
  /** Qualified and quoted. */
  readonly name: string;
  readonly provider: string;
  readonly version: string | undefined;
  readonly libraryVersion: string | undefined;
}

export const collations: Ask<readonly UserCollation[]> = {
  id: 'collations',
  scope: 'database',
  when: where('collations'),
  sql: (version) =>
    version < 100_000
      ? undefined
      : "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.collname) AS name, c.collprovider AS provider, c.collversion AS version, pg_collation_actual_version(c.oid) AS library_version FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace WHERE c.oid >= 16384 ORDER BY 1",
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'name'),
      provider: textIn(row, 'provider'),
      version: textOrNone(row, 'version'),
      libraryVersion: textOrNone(row, 'library_version'),
    })),
  absent: [],
  grant: grantMonitor,
};
