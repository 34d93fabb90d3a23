import { firstNormalOid, regprocTypes, typeOids } from '../../../../postgresql/catalog-oids.ts';
import {
  decodeBoolean,
  decodeText,
  decodeTextArray,
  type PostgresqlRow,
  parseArray,
  parseComposite,
  parseRanges,
} from '../../../../postgresql/rows.ts';
import { isCopiedSql, type OrdinaryTable, splitTextRow } from '../../../../postgresql/table-rows.ts';
import { column, columns, type RowSearch, type RowSearcher, rowsQuery } from '../query.ts';
import { isOneOfSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';

/**
 * A query for pairs of types: `part`, and `whole`, whose values contain `part`: a domain over it, an array, a composite
 * type (every table is one) or a range of it.
 */
export function containingTypesSql(version: number): string {
  const ranges = version < 140_000 ? ['rngtypid'] : ['rngtypid', 'rngmultitypid'];
  return [
    "SELECT typbasetype AS part, oid AS whole FROM pg_type WHERE typbasetype <> '0'",
    "SELECT typelem, oid FROM pg_type WHERE typelem <> '0'",
    `
      SELECT a.atttypid, c.reltype
      FROM pg_attribute a
      JOIN pg_class c ON c.oid = a.attrelid
      WHERE c.reltype <> '0'
        AND a.attnum > 0
        AND NOT a.attisdropped
    `,
    ...ranges.map((one) => `SELECT rngsubtype, ${one} FROM pg_range`),
  ].join(' UNION ALL ');
}

/** SELECT of the types directly inside the type `t`: of a domain, an array, a composite type, a range. */
export const partTypesSql = (version: number): string => `
  SELECT t.typbasetype
  WHERE t.typtype = 'd'
  UNION ALL
  SELECT t.typelem
  WHERE t.typlen = -1
    AND t.typelem <> 0
    AND t.typtype = 'b'
  UNION ALL
  SELECT a.atttypid
  FROM pg_attribute a
  WHERE t.typtype = 'c'
    AND a.attrelid = t.typrelid
    AND a.attnum > 0
    AND NOT a.attisdropped
  UNION ALL
  SELECT g.rngsubtype
  FROM pg_range g
  WHERE t.oid ${version < 140_000 ? '= g.rngtypid' : 'IN (g.rngtypid, g.rngmultitypid)'}
`;

/**
 * The result of a search for a row in a table. `none`: the table has no rows; `unseen`: its rows were not read, or not
 * all of them.
 */
export type ViolationResult = 'none' | RowSearch;

/** Bytes of the largest table whose rows a preflight reads. */
export const maxScanBytes = 256 * 1024 * 1024;

/** SQL condition for the table `c`. */
export const filledTableSql = "c.relpersistence = 'p' AND pg_relation_size(c.oid) > 0";

/**
 * SQL condition: all rows of the table `c` can be read quickly, because it is small, and the role may read every row.
 */
const canReadRowsQuicklySql = `
  pg_relation_size(c.oid) <= ${maxScanBytes}
    AND has_table_privilege(c.oid, 'SELECT')
    AND NOT row_security_active(c.oid)
`;

/**
 * Query columns for `decodeSearchedTable`: the table `c` and its column `a`, with the names from the system catalogs.
 */
export const searchedTableSql = (version: number): string => `
  ${isCopiedSql(version)} AND ${canReadRowsQuicklySql} AS readable,
  (SELECT nspname FROM pg_namespace WHERE oid = c.relnamespace) AS raw_schema,
  c.relname AS raw_table,
  a.attname AS raw_column
`;

/**
 * The table and the column whose rows are searched; undefined if the role cannot read the rows, or if reading them
 * would take long.
 */
export function decodeSearchedTable(row: PostgresqlRow): OrdinaryTable | undefined {
  if (!decodeBoolean(row, 'readable')) return undefined;
  return {
    schema: decodeText(row, 'raw_schema'),
    name: decodeText(row, 'raw_table'),
    columns: [decodeText(row, 'raw_column')],
  };
}

/** A preliminary result from the system catalogs, and the table whose rows must be searched for the final result. */
export interface PreliminaryResult {
  readonly rows: ViolationResult;
  /** The table in which rows are searched for; undefined if no rows need to be read. */
  readonly searched?: OrdinaryTable | undefined;
}

/** Searches several tables for rows, one after the other. */
export async function completeBySearch<T extends PreliminaryResult>(
  found: readonly T[],
  search: RowSearcher,
  isViolation: (row: Uint8Array, one: T) => boolean,
): Promise<readonly T[]> {
  const scanned: T[] = [];
  for (const one of found) {
    const { searched } = one;
    const rows = searched === undefined ? one.rows : await search(searched, (row) => isViolation(row, one));
    scanned.push({ ...one, rows });
  }
  return scanned;
}

export const domainRowsSql = (types: string): string => `
  EXISTS (
    SELECT FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_type t ON t.oid = k.contypid
    WHERE ${types}
      AND NOT a.attisdropped
      AND c.relkind = 'r'
      AND ${filledTableSql}
  )
`;

/**
 * SQL condition: stored rows must satisfy the constraint `k`. Its table has rows, or a column of a table with rows has
 * the domain of the constraint.
 */
const holds = `
  CASE
    WHEN k.contypid <> '0' THEN ${domainRowsSql('a.atttypid = t.oid')}
    ELSE EXISTS (SELECT FROM pg_class c WHERE c.oid = k.conrelid AND ${filledTableSql})
  END
`;

/**
 * SQL condition: rows contain the domain of the constraint inside another type, where VALIDATE CONSTRAINT does not
 * look.
 */
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
      WHERE ${filledTableSql}
    )
`;

/**
 * SQL condition: stored rows must satisfy the constraint `k`. Its table has rows, or a column of a table with rows has
 * the domain of the constraint, directly or inside another type.
 */
export const constraintRowsSql = (version: number): string => `(${holds} OR (${holdsInside(version)}))`;

/**
 * Table columns whose values contain certain types, directly or inside a domain, an array, a range or a composite type.
 * The result has the columns `relid`, `attname` and `type`, and the `path` from the table column to the value:
 * `domain`, `array`, `range` or the position of a field of a composite, each followed by a space.
 * @param types their object ids, or a query for them
 */
function columnsContainingSql(version: number, types: readonly number[] | string): string {
  const isSearchedSql = (column: string) =>
    typeof types === 'string' ? `${column} IN (SELECT oid FROM searched)` : isOneOfSql(types, column);
  const whole = `
    ${typeof types === 'string' ? `searched(oid) AS (${types}),` : ''}
    up(oid) AS (
      SELECT oid
      FROM pg_type
      WHERE ${isSearchedSql('oid')}
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
    WHERE c.oid >= '${firstNormalOid}'
      AND c.relkind = 'r'
      AND a.attnum > 0
      AND NOT a.attisdropped
      AND a.atttypid IN (SELECT oid FROM up)
      AND ${filledTableSql}
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
    `SELECT r.rngsubtype, 'range' FROM pg_range r WHERE t.oid ${version < 140_000 ? '= r.rngtypid' : 'IN (r.rngtypid, r.rngmultitypid)'}`,
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
    WHERE NOT ${isSearchedSql('v.type')}
      AND s.type IN (SELECT oid FROM up)
  `;
  return `
    (
      WITH RECURSIVE ${whole}, v(relid, attname, type, path) AS (${columns} UNION ALL ${deeper})
      SELECT *
      FROM v
      WHERE ${isSearchedSql('v.type')}
    )
  `;
}

/** A table column that contains values of the searched types, directly or inside another type. */
export type NestedColumn = ReturnType<typeof decodeNestedColumn>;

/** A query for the columns that contain the types, with further columns about the table `c` and its column `a`. */
export function nestedColumnsSql(version: number, types: readonly number[] | string, more: readonly string[]): string {
  return `
    SELECT
      v.relid::regclass AS name,
      quote_ident(v.attname) AS attname,
      v.type::regtype AS type,
      v.path,
      ${[...more, searchedTableSql(version)].join(',\n')}
    FROM ${columnsContainingSql(version, types)} v
    JOIN pg_class c ON c.oid = v.relid
    JOIN pg_attribute a ON a.attrelid = v.relid AND a.attname = v.attname
    ORDER BY 1, 2
  `;
}

export const decodeNestedColumn = columns({
  table: column.text('name'),
  /** Quoted. */
  column: column.text('attname'),
  /** The type of the searched values inside the column: `regclass`, `money`, `aclitem[]`. */
  type: column.text('type'),
  path: column.text('path'),
});

/**
 * The values of the searched types in one row that COPY returned for the column, without NULL. Each element of an array
 * and each bound of a range is a separate value.
 */
export function nestedValues(row: Uint8Array, column: Pick<NestedColumn, 'path' | 'type'>): readonly string[] {
  return withoutNull(splitTextRow(row).flatMap((field) => valuesInside(field, column)));
}

/** The values of the searched types in a field, and NULL in their place; a NULL around that place has no value. */
export function valuesInside(
  field: string | null,
  { path, type }: Pick<NestedColumn, 'path' | 'type'>,
): readonly (string | null)[] {
  const steps = [...path.split(' ').filter((step) => step !== ''), ...(type.endsWith('[]') ? ['array'] : [])];
  let values: readonly (string | null)[] = [field];
  for (const step of steps) {
    if (step === 'domain') continue;
    const filled = withoutNull(values);
    if (step === 'array') values = filled.flatMap(parseArray);
    else if (step === 'range') values = filled.flatMap(parseRanges);
    else values = filled.map((value) => parseComposite(value)[Number(step)] ?? null);
  }
  return values;
}

function withoutNull(values: readonly (string | null | undefined)[]): readonly string[] {
  return values.filter((value) => value != null);
}

/**
 * A column of type regproc or regoper, whose values are written as bare names. `violate`: at least one row has a name
 * that several functions or operators share.
 */
export interface RegprocColumn extends PreliminaryResult, NestedColumn {
  /** Whether the type of the column is a domain over a searched type, or contains a searched type. */
  readonly isInside: boolean;
  /**
   * Names that several functions or operators of one schema share, in the form in which COPY writes values. The query
   * result has these names only in its first row with regproc values and its first row with regoper values.
   */
  readonly ambiguousNames: readonly string[];
}

/**
 * Selects names that several objects of one schema share. PostgreSQL writes a regproc or regoper value with its schema
 * if the name alone is ambiguous.
 */
const ambiguousNamesSql = (catalog: string, name: string, written: string, schema: string): string => `
  SELECT quote_ident((SELECT nspname FROM pg_namespace n WHERE n.oid = ${schema})) || '.' || ${written}
  FROM ${catalog}
  GROUP BY ${schema}, ${name}
  HAVING count(*) > 1
`;

export const regprocQuery = rowsQuery<RegprocColumn>({
  id: 'regproc-columns',
  scope: 'database',
  when: featureCondition('callables'),
  sql: (version) =>
    nestedColumnsSql(version, regprocTypes, [
      `
        CASE
          WHEN row_number() OVER (PARTITION BY ${isRegproc} ORDER BY v.relid, v.attname, v.path) = 1
            THEN CASE
              WHEN ${isRegproc}
                THEN ARRAY(${ambiguousNamesSql('pg_proc', 'proname', 'quote_ident(proname)', 'pronamespace')})
              ELSE ARRAY(${ambiguousNamesSql('pg_operator', 'oprname', 'oprname', 'oprnamespace')})
            END
        END AS ambiguous
      `,
    ]),
  row: (row) => {
    const column = decodeNestedColumn(row);
    return {
      ...column,
      isInside: column.path !== '',
      ambiguousNames: decodeTextArray(row, 'ambiguous'),
      rows: 'unseen',
      searched: decodeSearchedTable(row),
    };
  },
  searchRows: (found, search) => {
    const ambiguous = new Set(found.flatMap(({ ambiguousNames }) => ambiguousNames));
    return completeBySearch(found, search, (row, column) =>
      nestedValues(row, column).some((value) => ambiguous.has(value)),
    );
  },
});

const isRegproc = `v.type IN ('${typeOids.regproc}', '${typeOids.regprocArray}')`;
