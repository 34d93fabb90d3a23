import { firstNormalObjectId } from '../../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import { parsePostgresqlArray, parsePostgresqlCompositeValue } from '../../../../postgresql/nested-text.ts';
import type { PostgresqlRow } from '../../../../postgresql/postgresql-row.ts';
import { splitTextCopyRow } from '../../../../postgresql/table-rows.ts';
import { isOneOfSql } from './catalog-predicates.ts';
import { containingTypesSql } from './containing-types.ts';
import { isNonEmptyPermanentTableSql, searchedTableSelectListSql } from './row-scan.ts';

/**
 * Table columns whose values contain certain types, directly or inside a domain, an array or a composite type.
 * The result has the columns `relid`, `attname` and `type`, and the `path` from the table column to the value:
 * `domain`, `array` or the position of a field of a composite, each followed by a space.
 */
function columnsContainingTypesSql(version: number, types: readonly number[]): string {
  const whole = `
    up(oid) AS (
      SELECT oid
      FROM pg_type
      WHERE ${isOneOfSql(types, 'oid')}
      UNION
      SELECT h.whole
      FROM up
      JOIN (${containingTypesSql(version)}) h ON h.part = up.oid
    )
  `;
  const columns = `
    SELECT
      c.oid,
      a.attname,
      a.atttypid,
      '' COLLATE "C"
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.oid >= '${firstNormalObjectId}'
      AND c.relkind = 'r'
      AND a.attnum > 0
      AND NOT a.attisdropped
      AND a.atttypid IN (SELECT oid FROM up)
      AND ${isNonEmptyPermanentTableSql}
  `;
  const parts = [
    "SELECT t.typbasetype, 'domain' WHERE t.typtype = 'd'",
    `
      SELECT t.typelem, 'array'
      WHERE t.typtype = 'b'
        AND t.typelem <> '0'
        AND t.typlen = -1
    `,
    `
      SELECT f.atttypid, (row_number() OVER (ORDER BY f.attnum) - 1)::text
      FROM pg_attribute f
      WHERE t.typtype = 'c'
        AND f.attrelid = t.typrelid
        AND f.attnum > 0
        AND NOT f.attisdropped
    `,
  ];
  const deeper = `
    SELECT
      v.relid,
      v.attname,
      s.type,
      (v.path || s.step || ' ') COLLATE "C"
    FROM v
    JOIN pg_type t ON t.oid = v.type
    CROSS JOIN LATERAL (${parts.join(' UNION ALL ')}) s(type, step)
    WHERE NOT ${isOneOfSql(types, 'v.type')}
      AND s.type IN (SELECT oid FROM up)
  `;
  return `
    (
      WITH RECURSIVE ${whole}, v(relid, attname, type, path) AS (${columns} UNION ALL ${deeper})
      SELECT *
      FROM v
      WHERE ${isOneOfSql(types, 'v.type')}
    )
  `;
}

/** A table column that contains values of the searched types, directly or inside a domain, an array or a composite type. */
export interface NestedValueColumn {
  readonly table: string;
  /** Quoted. */
  readonly column: string;
  /** The type of the searched values inside the column: `regclass`, `money`, `aclitem[]`. */
  readonly type: string;
  readonly path: string;
}

/** A query for the columns that contain the types, with further columns about the table `c` and its column `a`. */
export function nestedValueColumnsSql(version: number, types: readonly number[], more: readonly string[]): string {
  return `
    SELECT
      v.relid::regclass AS name,
      quote_ident(v.attname) AS attname,
      v.type::regtype AS type,
      v.path,
      ${[...more, searchedTableSelectListSql(version)].join(',\n')}
    FROM ${columnsContainingTypesSql(version, types)} v
    JOIN pg_class c ON c.oid = v.relid
    JOIN pg_attribute a ON a.attrelid = v.relid AND a.attname = v.attname
    ORDER BY 1, 2
  `;
}

export function decodeNestedValueColumn(row: PostgresqlRow): NestedValueColumn {
  return {
    table: decodeTextColumn(row, 'name'),
    column: decodeTextColumn(row, 'attname'),
    type: decodeTextColumn(row, 'type'),
    path: decodeTextColumn(row, 'path'),
  };
}

/**
 * The values of the searched types in one row that COPY returned for the column, without NULL. Each element of an array
 * is a separate value.
 */
export function extractNestedValuesOfType(
  row: Uint8Array,
  { path, type }: Pick<NestedValueColumn, 'path' | 'type'>,
): readonly string[] {
  const steps = [...path.split(' ').filter((step) => step !== ''), ...(type.endsWith('[]') ? ['array'] : [])];
  let values = withoutNull(splitTextCopyRow(row));
  for (const step of steps) {
    if (step === 'array') values = values.flatMap((value) => withoutNull(parsePostgresqlArray(value)));
    else if (step !== 'domain')
      values = withoutNull(values.map((value) => parsePostgresqlCompositeValue(value)[Number(step)]));
  }
  return values;
}

function withoutNull(values: readonly (string | null | undefined)[]): readonly string[] {
  return values.filter((value) => value != null);
}
