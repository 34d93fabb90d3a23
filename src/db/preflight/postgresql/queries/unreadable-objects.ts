import { firstNormalObjectId, oidsOfCatalogs } from '../../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeNumberColumnOrZero, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** An object that pg_dump reads, but that the role may not read. */
export interface UnreadableObject {
  readonly kind: 'table' | 'sequence';
  readonly name: string;
  /** Quoted. */
  readonly schema: string;
  /** Whether the role has USAGE on the schema of the object. */
  readonly usage: boolean;
  /** Whether the role has SELECT on the object. */
  readonly select: boolean;
}

/**
 * At most 1,000 objects are listed since PostgreSQL 14, in which one grant (pg_read_all_data) allows the role to read
 * all of them.
 */
export interface UnreadableObjects {
  readonly objects: readonly UnreadableObject[];
  readonly tables: number;
  readonly sequences: number;
}

/**
 * pg_dump locks every table and reads the rows of tables and sequences. Of materialized views and foreign tables
 * pg_dump reads only the definition, and of extensions only the tables that they declare as configuration.
 */
export const unreadableObjectsQuery: PostgresqlPreflightQuery<UnreadableObjects> = {
  id: 'unreadable-objects',
  scope: 'database',
  sql: (version, { superuser }) =>
    superuser
      ? undefined
      : `
        SELECT
          c.relkind = 'S' AS sequence,
          count(*) FILTER (WHERE c.relkind <> 'S') OVER () AS tables,
          count(*) FILTER (WHERE c.relkind = 'S') OVER () AS sequences,
          c.oid::regclass AS name,
          c.relnamespace::regnamespace AS schema,
          has_schema_privilege(c.relnamespace, 'USAGE') AS usage,
          ${mayRead} AS "select"
        FROM pg_class c
        WHERE c.oid >= '${firstNormalObjectId}'
          AND c.relkind IN ('r', 'p', 'S')
          AND c.relpersistence <> 't'
          AND NOT (${mayRead} AND has_schema_privilege(c.relnamespace, 'USAGE'))
          AND NOT EXISTS (
            SELECT FROM pg_depend d
            JOIN pg_extension e ON e.oid = d.refobjid
            WHERE d.classid = '${oidsOfCatalogs.pg_class}'
              AND d.objid = c.oid
              AND d.refclassid = '${oidsOfCatalogs.pg_extension}'
              AND d.deptype = 'e'
              AND (e.extconfig IS NULL OR c.oid <> ALL (e.extconfig))
          )${version < 140_000 ? '' : ' LIMIT 1000'}
      `,
  decode: (rows) => ({
    objects: rows.map((row) => ({
      kind: decodeBooleanColumn(row, 'sequence') ? 'sequence' : 'table',
      name: decodeTextColumn(row, 'name'),
      schema: decodeTextColumn(row, 'schema'),
      usage: decodeBooleanColumn(row, 'usage'),
      select: decodeBooleanColumn(row, 'select'),
    })),
    tables: decodeNumberColumnOrZero(rows[0] ?? {}, 'tables'),
    sequences: decodeNumberColumnOrZero(rows[0] ?? {}, 'sequences'),
  }),
  absent: { objects: [], tables: 0, sequences: 0 },
};

const mayRead = `
  CASE c.relkind
    WHEN 'S' THEN has_sequence_privilege(c.oid, 'SELECT')
    ELSE has_table_privilege(c.oid, 'SELECT')
  END
`;
