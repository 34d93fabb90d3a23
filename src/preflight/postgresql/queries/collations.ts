import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { decodeOptionalTextColumn, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/** A collation that was created by a user, not by initdb or an extension. */
export interface UserCollation {
  /** Qualified and quoted. */
  readonly name: string;
  readonly provider: string;
  readonly version: string | undefined;
  readonly libraryVersion: string | undefined;
}

export const userCollationsQuery: PostgresqlPreflightQuery<readonly UserCollation[]> = {
  id: 'collations',
  scope: 'database',
  when: createDatabaseFeatureCondition('collations'),
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT
          quote_ident(n.nspname) || '.' || quote_ident(c.collname) AS name,
          c.collprovider AS provider,
          c.collversion AS version,
          pg_collation_actual_version(c.oid) AS library_version
        FROM pg_collation c
        JOIN pg_namespace n ON n.oid = c.collnamespace
        WHERE c.oid >= ${firstNormalObjectId}
        ORDER BY 1
      `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'name'),
      provider: decodeTextColumn(row, 'provider'),
      version: decodeOptionalTextColumn(row, 'version'),
      libraryVersion: decodeOptionalTextColumn(row, 'library_version'),
    })),
  absent: [],
};
