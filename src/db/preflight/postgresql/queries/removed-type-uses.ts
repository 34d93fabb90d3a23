import { builtinTypeOids, firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import { decodeOptionalTextColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

/** Tables WITH OIDS, and columns of the types abstime, reltime and tinterval: PostgreSQL 12 removed them. */
export interface RemovedTypeUse {
  readonly table: string;
  /** The column, quoted, with its type; undefined if the table is WITH OIDS. */
  readonly column: string | undefined;
}

const removedTypes = [
  builtinTypeOids.abstime,
  builtinTypeOids.reltime,
  builtinTypeOids.tinterval,
  builtinTypeOids.abstimeArray,
  builtinTypeOids.reltimeArray,
  builtinTypeOids.tintervalArray,
];

export const removedTypeUsesQuery: PostgresqlPreflightQuery<readonly RemovedTypeUse[]> = {
  id: 'removed-type-uses',
  scope: 'database',
  sql: (version) =>
    version >= 120_000
      ? undefined
      : `
        SELECT oid::regclass AS name, NULL AS described
        FROM pg_class
        WHERE relhasoids
          AND oid >= ${firstNormalObjectId}
          AND relkind IN ('r', 'p')
          AND relpersistence <> 't'
        UNION ALL
        SELECT c.oid::regclass, quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
        FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.atttypid IN (${removedTypes.join(', ')})
          AND a.attnum > 0
          AND NOT a.attisdropped
          AND c.oid >= ${firstNormalObjectId}
          AND c.relkind IN ('r', 'p', 'c', 'f')
          AND c.relpersistence <> 't'
      `,
  decode: (rows) =>
    rows.map((row) => ({ table: decodeTextColumn(row, 'name'), column: decodeOptionalTextColumn(row, 'described') })),
  absent: [],
};
