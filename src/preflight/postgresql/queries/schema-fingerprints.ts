import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { decodeNumberColumnOrZero, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/**
 * A fingerprint of all tables of a schema. The fingerprint changes when a table of the schema is created, altered or
 * dropped.
 */
export interface SchemaFingerprint {
  readonly schema: string;
  readonly tables: number;
  readonly columns: number;
  readonly hash: string;
}

/**
 * Only baselines and `db watch` use this query, because it reads every attribute of every table. The fingerprint is a
 * sum of hashes, which needs no sorting.
 */
export const schemaFingerprintsQuery: PostgresqlPreflightQuery<readonly SchemaFingerprint[]> = {
  id: 'schema-fingerprints',
  scope: 'database',
  sql: (version) => {
    const columnText =
      "concat_ws(':', c.relname, c.relkind, c.relreplident, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull)";
    const hash = version < 110_000 ? `hashtext(${columnText})` : `hashtextextended(${columnText}, 0)`;
    return `
      SELECT
        n.nspname,
        count(DISTINCT c.oid) AS tables,
        count(*) AS columns,
        sum(${hash}::numeric) AS hash
      FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p')
        AND c.relpersistence <> 't'
        AND c.oid >= ${firstNormalObjectId}
        AND a.attnum > 0
        AND NOT a.attisdropped
      GROUP BY n.nspname
      ORDER BY n.nspname
    `;
  },
  decode: (rows) =>
    rows.map((row) => ({
      schema: decodeTextColumn(row, 'nspname'),
      tables: decodeNumberColumnOrZero(row, 'tables'),
      columns: decodeNumberColumnOrZero(row, 'columns'),
      hash: decodeTextColumn(row, 'hash'),
    })),
  absent: [],
};
