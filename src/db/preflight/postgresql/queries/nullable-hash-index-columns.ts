import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import { isNullTextCopyField } from '../../../../postgresql/table-rows.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { effectiveReplicaIdentityIndexCondition } from './replica-identities.ts';
import {
  completeResultsByRowSearch,
  decodeSearchedTable,
  isNonEmptyPermanentTableSql,
  type RowScanDependentResult,
  searchedTableSelectListSql,
} from './row-scan.ts';

/**
 * A hash index on a nullable column of a table whose replica identity is the whole row. The target uses this index to
 * find rows, although a hash index does not find NULL. `violate`: at least one row has NULL in the column.
 */
export interface NullableHashIndexColumn extends RowScanDependentResult {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  readonly index: string;
}

/**
 * When the target searches for a row, it uses the first index that is not partial and begins with a column. The target
 * creates the indexes of constraints first, then the other indexes in the order of their names.
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

export const nullableHashIndexColumnsQuery: PostgresqlPreflightQuery<readonly NullableHashIndexColumn[]> = {
  id: 'nullable-hash-index-columns',
  scope: 'database',
  when: createDatabaseFeatureCondition('relations'),
  sql: (version) => `
    SELECT
      c.oid::regclass AS name,
      quote_ident(a.attname) AS attname,
      x.indexrelid::regclass AS by_index,
      ${isNonEmptyPermanentTableSql} AS filled,
      ${searchedTableSelectListSql(version)}
    FROM pg_class c
    LEFT JOIN pg_index i ON ${effectiveReplicaIdentityIndexCondition}
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
    ORDER BY 1, 2
  `,
  decode: (rows) =>
    rows.map((row) => ({
      table: decodeTextColumn(row, 'name'),
      column: decodeTextColumn(row, 'attname'),
      index: decodeTextColumn(row, 'by_index'),
      ...(decodeBooleanColumn(row, 'filled')
        ? { rows: 'unseen', searched: decodeSearchedTable(row) }
        : { rows: 'none' }),
    })),
  searchRows: (found, search) => completeResultsByRowSearch(found, search, isNullTextCopyField),
  absent: [],
};
