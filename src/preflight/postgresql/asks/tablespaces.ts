import type { Ask } from '../ask.ts';
import { textIn, textOrNone } from './decode.ts';
import { grantMonitor } from './grants.ts';

export interface Tablespaces {
  /** Name by oid. */
  readonly names: ReadonlyMap<string, string>;
  /** Databases whose own tablespace is not pg_default (1663): the name of it by database. */
  readonly databases: ReadonlyMap<string, string>;
}

export const tablespaces: Ask<Tablespaces> = {
  id: 'tablespaces',
  scope: 'server',
  sql: () =>
    'SELECT t.oid, t.spcname, d.datname FROM pg_tablespace t LEFT JOIN pg_database d ON d.dattablespace = t.oid AND t.oid <> 1663',
  decode: (rows) => ({
    names: new Map(rows.map((row) => [textIn(row, 'oid'), textIn(row, 'spcname')])),
    databases: new Map(
      rows.flatMap((row) => {
        const database = textOrNone(row, 'datname');
        return database === undefined ? [] : [[database, textIn(row, 'spcname')] as const];
      }),
    ),
  }),
  absent: { names: new Map(), databases: new Map() },
  grant: grantMonitor,
};
