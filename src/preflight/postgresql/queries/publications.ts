import type { PostgresqlQuery } from '../query.ts';
import { whenFeaturePresent } from './database-overview.ts';
import { decodeBoolean, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

export interface Publication {
  readonly name: string;
  readonly allTables: boolean;
}

export const publicationsQuery: PostgresqlQuery<readonly Publication[]> = {
  id: 'publications',
  scope: 'database',
  when: whenFeaturePresent('publications'),
  sql: (version) =>
    version < 100_000 ? undefined : 'SELECT pubname, puballtables FROM pg_publication ORDER BY pubname',
  decode: (rows) =>
    rows.map((row) => ({ name: decodeText(row, 'pubname'), allTables: decodeBoolean(row, 'puballtables') })),
  absent: [],
  grant: grantMonitorRole,
};
