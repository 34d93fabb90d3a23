import { builtinTablespaceOids } from '../../../postgresql/catalog-oids.ts';
import { decodeOptionalTextColumn, decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

export interface Tablespaces {
  /** Names of tablespaces by object id. */
  readonly names: ReadonlyMap<string, string>;
  /** Default tablespaces by database, of databases whose default tablespace is not pg_default. */
  readonly databases: ReadonlyMap<string, string>;
}

export const tablespacesQuery: PostgresqlPreflightQuery<Tablespaces> = {
  id: 'tablespaces',
  scope: 'server',
  sql: () => `
    SELECT t.oid, t.spcname, d.datname
    FROM pg_tablespace t
    LEFT JOIN pg_database d ON d.dattablespace = t.oid AND t.oid <> ${builtinTablespaceOids.pg_default}
  `,
  decode: (rows) => ({
    names: new Map(rows.map((row) => [decodeTextColumn(row, 'oid'), decodeTextColumn(row, 'spcname')])),
    databases: new Map(
      rows.flatMap((row) => {
        const database = decodeOptionalTextColumn(row, 'datname');
        return database === undefined ? [] : [[database, decodeTextColumn(row, 'spcname')] as const];
      }),
    ),
  }),
  absent: { names: new Map(), databases: new Map() },
};
