import { schemaOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenFeaturePresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** An index that is updated but never read: an interrupted CREATE or REINDEX INDEX CONCURRENTLY leaves it. */
export interface InvalidIndex {
  readonly name: string;
  readonly table: string;
  readonly unique: boolean;
  /** Of an exclusion constraint: REINDEX CONCURRENTLY does not support it. */
  readonly exclusion: boolean;
  /** A session holds the lock that building the index takes, so that it may become valid. */
  readonly busy: boolean;
}

/** An index of a partitioned table is invalid until every partition has its own, and does no harm. */
export const invalidIndexesQuery: PostgresqlQuery<readonly InvalidIndex[]> = {
  id: 'invalid-indexes',
  scope: 'database',
  when: whenFeaturePresent('invalid-indexes'),
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
          AND c.relnamespace <> '${schemaOid.pg_toast}'
          AND c.relpersistence <> 't'
      )
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'name'),
      table: decodeText(row, 'on_table'),
      unique: decodeBoolean(row, 'indisunique'),
      exclusion: decodeBoolean(row, 'indisexclusion'),
      busy: decodeBoolean(row, 'busy'),
    })),
  absent: [],
  grant: grantMonitorRole,
};
