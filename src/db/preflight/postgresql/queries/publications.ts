import { decodeBooleanColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

export interface Publication {
  readonly name: string;
  readonly allTables: boolean;
}

export const publicationsQuery: PostgresqlPreflightQuery<readonly Publication[]> = {
  id: 'publications',
  scope: 'database',
  when: createDatabaseFeatureCondition('publications'),
  sql: (version) =>
    version < 100_000 ? undefined : 'SELECT pubname, puballtables FROM pg_publication ORDER BY pubname',
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'pubname'),
      allTables: decodeBooleanColumn(row, 'puballtables'),
    })),
  absent: [],
};
