import { catalogOid } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlRow } from '../../../postgresql/postgresql-row.ts';
import { containingTypesSql } from './containing-types.ts';
import { decodeBoolean, decodeText } from './decode.ts';

/**
 * Result of scanning the rows of a table. `unseen`: the table is too large, or the expression calls functions of users,
 * which are not run.
 */
export type RowScanResult = 'none' | 'fit' | 'violate' | 'unseen';

/** Bytes of the largest table that a preflight scans. */
export const rowScanSizeLimit = 256 * 1024 * 1024;

export const hasRowsSql = (table: string): string =>
  `${table}.relpersistence = 'p' AND pg_relation_size(${table}.oid) > 0`;

/** The table can be scanned completely and quickly. */
export const canScanRowsSql = (table: string): string => `
  pg_relation_size(${table}.oid) <= ${rowScanSizeLimit}
    AND has_table_privilege(${table}.oid, 'SELECT')
    AND NOT row_security_active(${table}.oid)
`;

/** Whether a query in a text returns true. query_to_xml runs it within the query. */
export const queryIsTrueSql = (query: string): string =>
  `query_to_xml(${query}, false, false, '')::text LIKE '%<v>true</v>%'`;

/**
 * The expression of the constraint `k` calls only built-in functions that are immutable or match `also`. Functions of users
 * are never run with the privileges of our role. The table and the domain of the constraint are no obstacle.
 */
const isSafeToEvaluateSql = (also: string): string => `
  (
    k.conbin IS NULL
      OR (
        NOT EXISTS (
          SELECT FROM pg_depend d
          WHERE d.classid = '${catalogOid.pg_constraint}'
            AND d.objid = k.oid
            AND d.refclassid <> '${catalogOid.pg_class}'
            AND NOT (d.refclassid = '${catalogOid.pg_type}' AND d.refobjid = k.contypid)
        )
          AND NOT EXISTS (
            SELECT FROM regexp_matches(k.conbin::text, 'funcid ([0-9]+)', 'g') m(found)
            JOIN pg_proc p ON p.oid = m.found[1]::oid
            WHERE p.provolatile <> 'i' AND m.found[1] !~ '^(${also})$'
          )
      )
  )
`;

const violation = `
  CASE k.contype
    WHEN 'n'
      THEN (
        SELECT format('%I IS NULL', a.attname)
        FROM pg_attribute a
        WHERE a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
      )
    ELSE format('NOT (%s)', pg_get_expr(k.conbin, k.conrelid))
  END
`;

const inTable = (also: string): string => `
  (
    SELECT format('SELECT EXISTS (SELECT 1 FROM ONLY %s WHERE %s) AS v', c.oid::regclass, ${violation})
    FROM pg_class c
    WHERE c.oid = k.conrelid
      AND ${hasRowsSql('c')}
      AND ${canScanRowsSql('c')}
      AND ${isSafeToEvaluateSql(also)}
  )
`;

/** A domain over another domain is left out, because casting to the base type checks both. */
const inDomain = (also: string): string => `
  (
    SELECT 'SELECT EXISTS (' || string_agg(
      format(
        'SELECT 1 FROM (SELECT %I::%s AS value FROM ONLY %s) s WHERE NOT (%s)',
        a.attname,
        format_type(t.typbasetype, t.typtypmod),
        c.oid::regclass,
        pg_get_expr(k.conbin, '0')
      ),
      ' UNION ALL '
    ) || ') AS v'
    FROM pg_type t
    JOIN pg_type b ON b.oid = t.typbasetype AND b.typtype <> 'd'
    JOIN pg_attribute a ON a.atttypid = t.oid AND NOT a.attisdropped
    JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
    WHERE t.oid = k.contypid
      AND ${hasRowsSql('c')}
      AND ${isSafeToEvaluateSql(also)}
    HAVING bool_and(${canScanRowsSql('c')})
  )
`;

export const domainHasRowsSql = (types: string): string => `
  EXISTS (
    SELECT FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_type t ON t.oid = k.contypid
    WHERE ${types}
      AND NOT a.attisdropped
      AND c.relkind = 'r'
      AND ${hasRowsSql('c')}
  )
`;

/** The constraint `k` applies to existing rows. */
const holds = `
  CASE
    WHEN k.contypid <> '0' THEN ${domainHasRowsSql('a.atttypid = t.oid')}
    ELSE EXISTS (SELECT FROM pg_class c WHERE c.oid = k.conrelid AND ${hasRowsSql('c')})
  END
`;

/** Rows contain the domain of the constraint inside another type, where no scan looks. */
const holdsInside = (version: number): string => `
  k.contypid <> '0'
    AND EXISTS (
      WITH RECURSIVE h AS (${containingTypesSql(version)}),
      w AS (
        SELECT h.whole
        FROM h
        WHERE h.part = k.contypid
        UNION
        SELECT h.whole
        FROM w
        JOIN h ON h.part = w.whole
      )
      SELECT FROM w
      JOIN pg_attribute a ON a.atttypid = w.whole AND NOT a.attisdropped
      JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
      WHERE ${hasRowsSql('c')}
    )
`;

/** The constraint `k` applies to existing rows, directly or inside another type. */
export const constraintHasRowsSql = (version: number): string => `(${holds} OR (${holdsInside(version)}))`;

/**
 * Columns that `violatedColumn` and `decodeRowScan` need. `also`: pattern of functions that may be run although they are
 * not immutable.
 */
export const rowScanColumns = (version: number, also: string): string => `
  ${holds} AS filled, ${holdsInside(version)} AS inside, CASE
    WHEN k.contype <> 'f' THEN ${violationQuerySql(also)}
  END AS query
`;

/** The result of the scan, over these columns as `o`; NULL when the rows were not scanned, or not all of them. */
export const violatedColumn = (where = 'true'): string => `
  CASE
    WHEN o.query IS NOT NULL AND ${where}
      THEN ${queryIsTrueSql('o.query')} OR CASE WHEN NOT o.inside THEN false END
  END AS violated
`;

export const decodeRowScan = (row: PostgresqlRow): RowScanResult =>
  rowScanResultOf(decodeText(row, 'violated'), decodeBoolean(row, 'filled') || decodeBoolean(row, 'inside'));

/** The text of the query for rows that violate the constraint; NULL when the rows must not be scanned. */
const violationQuerySql = (also: string): string =>
  `CASE WHEN k.contypid <> '0' THEN ${inDomain(also)} ELSE ${inTable(also)} END`;

/** The result of a scan; `violated` is empty when the rows were not scanned. */
export function rowScanResultOf(violated: string, isFilled: boolean): RowScanResult {
  if (!isFilled) return 'none';
  if (violated === '') return 'unseen';
  return violated === 't' ? 'violate' : 'fit';
}
