import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/** Tables created or altered in the last day, at most 100; empty unless track_commit_timestamp is on. */
export const recentlyChangedTablesQuery: PostgresqlPreflightQuery<readonly string[]> = {
  id: 'recent-ddl',
  scope: 'database',
  when: createDatabaseFeatureCondition('commit-times'),
  sql: () => `
    SELECT c.oid::regclass AS name
    FROM pg_class c
    WHERE current_setting('track_commit_timestamp') = 'on'
      AND c.oid >= '${firstNormalObjectId}'
      AND (c.relkind = 'r' OR c.relkind = 'p')
      AND c.relpersistence <> 't'
      AND pg_xact_commit_timestamp(c.xmin) > now() - interval '1 day'
    LIMIT 100
  `,
  decode: (rows) => rows.map((row) => decodeTextColumn(row, 'name')),
  absent: [],
};
