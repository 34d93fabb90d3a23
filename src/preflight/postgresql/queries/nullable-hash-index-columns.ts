import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';
import { replicaIdentityIndexSql } from './replica-identities.ts';
import { canScanRowsSql, hasRowsSql, queryIsTrueSql, type RowScanResult, rowScanResultOf } from './row-scan.ts';

/**
 * A hash index on a nullable column of a table without another replica identity than the whole row. The target finds rows
 * by this index, and a hash index does not find NULL.
 */
export interface NullableHashIndexColumn {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  readonly index: string;
  /** `violate`: a row holds NULL in the column. */
  readonly rows: RowScanResult;
}

/**
 * The target uses the first index that is not partial and begins with a column. Indexes are created in the order of their
 * names, those of constraints first.
 */
const earlier = `
  EXISTS (
    SELECT FROM pg_index y
    JOIN pg_class b ON b.oid = y.indexrelid
    JOIN pg_am t ON t.oid = b.relam
    WHERE y.indrelid = c.oid
      AND t.amname = 'btree'
      AND y.indpred IS NULL
      AND y.indkey[0] <> '0'
      AND (
        b.relname::text COLLATE "C" < n.relname::text COLLATE "C"
          OR EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = b.oid AND k.conrelid = c.oid)
      )
  )
`;

export const nullableHashIndexColumnsQuery: PostgresqlQuery<readonly NullableHashIndexColumn[]> = {
  id: 'nullable-hash-index-columns',
  scope: 'database',
  when: whenPresent('relations'),
  sql: () => `
    SELECT o.*, CASE WHEN o.query IS NOT NULL THEN ${queryIsTrueSql('o.query')} END AS violated
    FROM (
      SELECT
        c.oid::regclass AS name,
        quote_ident(a.attname) AS attname,
        x.indexrelid::regclass AS by_index,
        ${hasRowsSql('c')} AS filled,
        CASE
          WHEN ${canScanRowsSql('c')}
            THEN format(
              'SELECT EXISTS (SELECT 1 FROM ONLY %s WHERE %I IS NULL) AS v',
              c.oid::regclass,
              a.attname
            )
        END AS query
      FROM pg_class c
      LEFT JOIN pg_index i ON ${replicaIdentityIndexSql}
      JOIN pg_index x ON x.indrelid = c.oid AND x.indisvalid AND x.indpred IS NULL
      JOIN pg_class n ON n.oid = x.indexrelid
      JOIN pg_am m ON m.oid = n.relam
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
      WHERE c.oid >= '${firstNormalObjectId}'
        AND c.relkind = 'r'
        AND c.relpersistence <> 't'
        AND i.indexrelid IS NULL
        AND m.amname = 'hash'
        AND NOT a.attnotnull
        AND NOT ${earlier}
    ) o
    ORDER BY 1, 2
  `,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeText(row, 'name'),
      column: decodeText(row, 'attname'),
      index: decodeText(row, 'by_index'),
      rows: rowScanResultOf(decodeText(row, 'violated'), row.filled === 't'),
    })),
  absent: [],
  grant: grantMonitorRole,
};
