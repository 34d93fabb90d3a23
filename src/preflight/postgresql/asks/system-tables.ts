import type { Ask } from '../ask.ts';
import { textIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { systemTable, where } from './overview.ts';

/** A table that somebody made in a schema of the system. */
export interface SystemTable {
  readonly name: string;
  readonly schema: string;
  /** Its name once it is in public. */
  readonly moved: string;
}

/** Without those of extensions, which make their own on the target too. 1259 is pg_class. */
export const systemTables: Ask<readonly SystemTable[]> = {
  id: 'system-tables',
  scope: 'database',
  when: where('system-tables'),
  sql: () =>
    `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name, quote_ident(n.nspname) AS schema, 'public.' || quote_ident(c.relname) AS moved FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE ${systemTable} AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '1259' AND d.objid = c.oid AND d.deptype = 'e')`,
  decode: (rows) =>
    rows.map((row) => ({ name: textIn(row, 'name'), schema: textIn(row, 'schema'), moved: textIn(row, 'moved') })),
  absent: [],
  grant: grantMonitor,
};
