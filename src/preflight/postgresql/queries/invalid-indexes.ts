import { builtinSchemaOids } from '../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/**
 * An invalid index: it is updated but never read, and is the result of an interrupted CREATE INDEX or REINDEX
 * CONCURRENTLY.
 */
export interface InvalidIndex {
  readonly name: string;
  readonly table: string;
  readonly unique: boolean;
  /** Whether the index belongs to an exclusion constraint: REINDEX CONCURRENTLY does not support such an index. */
  readonly exclusion: boolean;
  /** Whether a session holds the lock of CREATE INDEX or REINDEX, so that the index may become valid. */
  readonly busy: boolean;
}

/**
 * An index of a partitioned table is left out: it is invalid until every partition has its own index, which is
 * harmless.
 */
export const invalidIndexesQuery: PostgresqlPreflightQuery<readonly InvalidIndex[]> = {
  id: 'invalid-indexes',
  scope: 'database',
  when: createDatabaseFeatureCondition('invalid-indexes'),
  sql: () => `
    SELECT
      i.indexrelid::regclass AS name,
      i.indrelid::regclass AS on_table,
      i.indisunique,
      i.indisexclusion,
      EXISTS (
        SELECT FROM pg_locks l
        WHERE l.mode = 'ShareUpdateExclusiveLock'
          AND l.granted
          AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
          AND (l.relation = i.indexrelid OR l.relation = i.indrelid)
      ) AS busy
    FROM pg_index i
    WHERE NOT i.indisvalid
      AND EXISTS (
        SELECT FROM pg_class c
        WHERE c.oid = i.indexrelid
          AND c.relkind = 'i'
          AND c.relnamespace <> '${builtinSchemaOids.pg_toast}'
          AND c.relpersistence <> 't'
      )
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'name'),
      table: decodeTextColumn(row, 'on_table'),
      unique: decodeBooleanColumn(row, 'indisunique'),
      exclusion: decodeBooleanColumn(row, 'indisexclusion'),
      busy: decodeBooleanColumn(row, 'busy'),
    })),
  absent: [],
};
