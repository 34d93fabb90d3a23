import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlRow } from '../../../../postgresql/postgresql-row.ts';
import { isColumnReadByCopySql } from '../../../../postgresql/table-rows.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** A table whose rows `--deep` reads. */
export interface TableToRead {
  readonly oid: number;
  /** Qualified and quoted. */
  readonly table: string;
  /** Names as the system catalogs store them, without quotation marks. */
  readonly schema: string;
  readonly name: string;
  /** The copied columns, by number. */
  readonly columns: ReadonlyMap<number, string>;
  /** Row-level security policies apply to the role on this table, so the server refuses COPY. */
  readonly isSecured: boolean;
}

/**
 * The ordinary tables (not the partitioned ones) that a migration copies, including tables of extensions. The query is
 * sent only with `--deep`.
 */
export const tablesToReadQuery: PostgresqlPreflightQuery<readonly TableToRead[]> = {
  id: 'tables-to-read',
  scope: 'database',
  sql: (version) => `
    SELECT
      c.oid,
      n.nspname,
      c.relname,
      quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS name,
      row_security_active(c.oid) AS secured,
      a.attnum,
      a.attname
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND ${isColumnReadByCopySql(version)}
    WHERE c.oid >= '${firstNormalObjectId}'
      AND c.relkind = 'r'
      AND c.relpersistence <> 't'
    ORDER BY n.nspname, c.relname, c.oid, a.attnum
  `,
  decode(rows) {
    const tables = new Map<number, TableToRead & { readonly columns: Map<number, string> }>();
    for (const row of rows) {
      const oid = decodeNumberColumnOrZero(row, 'oid');
      const table = tables.get(oid) ?? {
        oid,
        table: decodeTextColumn(row, 'name'),
        schema: decodeIdentifier(row, 'nspname'),
        name: decodeIdentifier(row, 'relname'),
        columns: new Map<number, string>(),
        isSecured: decodeBooleanColumn(row, 'secured'),
      };
      tables.set(oid, table);
      if (row.attnum != null)
        table.columns.set(decodeNumberColumnOrZero(row, 'attnum'), decodeIdentifier(row, 'attname'));
    }
    return [...tables.values()];
  },
  absent: [],
};

/** Throws for a text that cannot be a name, so that the query result counts as malformed. */
function decodeIdentifier(row: PostgresqlRow, column: string): string {
  const name = decodeTextColumn(row, column);
  if (name === '' || name.includes('\0')) throw new TypeError('the server did not return a name');
  return name;
}
