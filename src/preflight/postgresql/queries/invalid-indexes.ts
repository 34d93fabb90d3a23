import { schemaOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** An index that is written to and never used: what CREATE or REINDEX CONCURRENTLY leaves when it breaks off. */
export interface InvalidIndex {
  readonly name: string;
  readonly table: string;
  readonly unique: boolean;
  /** Of an exclusion constraint, which cannot be rebuilt concurrently. */
  readonly exclusion: boolean;
  /** Somebody holds what building it, or vacuuming its table, holds: it may be valid in a moment. */
  readonly busy: boolean;
}

/** That of a partitioned table is invalid until every partition has its own, which is no harm; 99 is pg_toast. */
export const invalidIndexesQuery: PostgresqlQuery<readonly InvalidIndex[]> = {
  id: 'invalid-indexes',
  scope: 'database',
  when: whenPresent('invalid-indexes'),
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
