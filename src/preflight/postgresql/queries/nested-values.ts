import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { isOneOfSql } from './catalog-predicates.ts';
import { containingTypesSql } from './containing-types.ts';
import { hasRowsSql } from './row-scan.ts';

/**
 * Values of some types in rows of tables: in a column, in a domain, an array or a composite. Columns: `relid`, `attname`,
 * `type`; `steps` from the column to the value; `sources`, joins to the table `r` that reach it; `expr`, the expression of
 * the value.
 */
export function nestedValuesSql(version: number, types: readonly number[]): string {
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
      0,
      '' COLLATE "C",
      format('r.%I', a.attname) COLLATE "C"
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.oid >= '${firstNormalObjectId}'
      AND c.relkind = 'r'
      AND a.attnum > 0
      AND NOT a.attisdropped
      AND a.atttypid IN (SELECT oid FROM up)
      AND ${hasRowsSql('c')}
  `;
  const parts = [
    "SELECT t.typbasetype, '', v.expr WHERE t.typtype = 'd'",
    `
      SELECT
        t.typelem,
        format(' CROSS JOIN LATERAL (SELECT unnest(%s) AS it) x%s', v.expr, v.steps),
        format('x%s.it', v.steps)
      WHERE t.typtype = 'b'
        AND t.typelem <> '0'
        AND t.typlen = -1
    `,
    `
      SELECT f.atttypid, '', format('(%s).%I', v.expr, f.attname)
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
      v.steps + 1,
      (v.sources || s.source) COLLATE "C",
      s.expr COLLATE "C"
    FROM v
    JOIN pg_type t ON t.oid = v.type
    CROSS JOIN LATERAL (${parts.join(' UNION ALL ')}) s(type, source, expr)
    WHERE NOT ${isOneOfSql(types, 'v.type')}
      AND s.type IN (SELECT oid FROM up)
  `;
  return `
    (
      WITH RECURSIVE ${whole}, v(relid, attname, type, steps, sources, expr) AS (${columns} UNION ALL ${deeper})
      SELECT *
      FROM v
      WHERE ${isOneOfSql(types, 'v.type')}
    )
  `;
}
