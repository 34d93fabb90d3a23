import { decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/** The maximum number of large objects that are counted; more would not change the fix. */
export const largeObjectCountLimit = 100_000;

export const largeObjectsQuery: PostgresqlPreflightQuery<number> = {
  id: 'large-objects',
  scope: 'database',
  when: createDatabaseFeatureCondition('large-objects'),
  sql: () => `
    SELECT count(*) AS objects
    FROM (SELECT FROM pg_largeobject_metadata LIMIT ${largeObjectCountLimit + 1}) o
  `,
  decode: ([row = {}]) => decodeNumberColumnOrZero(row, 'objects'),
  absent: 0,
};

/** Object ids of large objects that the role cannot read; pg_read_all_data does not include large objects. */
export const unreadableLargeObjectsQuery: PostgresqlPreflightQuery<readonly string[]> = {
  id: 'unreadable-large-objects',
  scope: 'database',
  when: createDatabaseFeatureCondition('large-objects'),
  sql: (_version, { superuser }) =>
    superuser
      ? undefined
      : `
        SELECT m.oid
        FROM pg_largeobject_metadata m
        WHERE current_setting('lo_compat_privileges') = 'off'
          AND NOT pg_has_role(m.lomowner, 'USAGE')
          AND NOT EXISTS (
            SELECT FROM aclexplode(m.lomacl) p
            WHERE p.privilege_type = 'SELECT'
              AND (p.grantee = 0 OR pg_has_role(p.grantee, 'USAGE'))
          )
        ORDER BY m.oid
        LIMIT ${largeObjectCountLimit}
      `,
  decode: (rows) => rows.map((row) => decodeTextColumn(row, 'oid')),
  absent: [],
};
