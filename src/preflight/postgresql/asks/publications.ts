import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { where } from './overview.ts';

export interface Publication {
  readonly name: string;
  readonly allTables: boolean;
}

export const publications: Ask<readonly Publication[]> = {
  id: 'publications',
  scope: 'database',
  when: where('publications'),
  sql: (version) =>
    version < 100_000 ? undefined : 'SELECT pubname, puballtables FROM pg_publication ORDER BY pubname',
  decode: (rows) => rows.map((row) => ({ name: textIn(row, 'pubname'), allTables: truthIn(row, 'puballtables') })),
  absent: [],
  grant: grantMonitor,
};
