import { firstNormalObjectId, oidsOfCatalogs } from '../../../../postgresql/catalog-oids.ts';
import { decodeBooleanColumn, decodeTextArrayColumn, decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { isUserSqlOrPlpgsqlFunctionSql, userFunctionDependentsCte } from './function-dependents.ts';
/** A function in a language that resolves names when the function runs, or a view. */
export interface FunctionOrViewBody {
  readonly oid: string;
  readonly schema: string;
  readonly name: string;
  readonly isView: boolean;
  /** The signature of the function: qualified, quoted and with argument types, as ALTER FUNCTION expects it. */
  readonly signature: string;
  readonly language: 'sql' | 'plpgsql';
  /**
   * Source text of the function; empty for a SQL-standard body, whose names were resolved when the function was
   * created.
   */
  readonly text: string;
  /** The SQL-standard body (BEGIN ATOMIC or RETURN) as the server prints it; empty if there is none. */
  readonly bound: string;
  /** Whether the function has a SET search_path clause, which also applies to functions that it calls. */
  readonly hasPath: boolean;
  /** Whether the function has a SET timezone clause. */
  readonly hasZone: boolean;
  /** Whether the planner may inline the function, and so parses its text even if there is no row. */
  readonly inlined: boolean;
  /** Object ids of the functions that the SQL-standard body calls. */
  readonly calls: readonly string[];
  /** Types of the function arguments, by their names in pg_type: `_int4`. */
  readonly types: readonly string[];
  /** Names of the function arguments; empty if the function has output arguments. */
  readonly names: readonly string[];
}

export const functionAndViewBodiesQuery: PostgresqlPreflightQuery<readonly FunctionOrViewBody[]> = {
  id: 'function-bodies',
  scope: 'database',
  when: createDatabaseFeatureCondition('called-functions'),
  sql: (version) => `
    ${userFunctionDependentsCte}
    SELECT
      p.oid,
      n.nspname,
      p.proname,
      p.oid::regprocedure::text AS signature,
      l.lanname,
      ${bodyOf(version)} AS body,
      ${bound(version)} AS bound,
      p.proconfig IS NOT NULL
        AND EXISTS (SELECT FROM unnest(p.proconfig) g WHERE left(g, 12) = 'search_path=') AS has_path,
      EXISTS (SELECT FROM unnest(p.proconfig) g WHERE lower(left(g, 9)) = 'timezone=') AS has_zone,
      l.lanname = 'sql'
        AND NOT p.prosecdef
        AND NOT p.proretset
        AND p.proconfig IS NULL AS inlined,
      ${boundCalls(version)} AS calls,
      (
        SELECT array_agg(y.typname ORDER BY g.at)
        FROM unnest(p.proargtypes) WITH ORDINALITY g (type, at)
        JOIN pg_type y ON y.oid = g.type
      ) AS types,
      CASE WHEN p.proallargtypes IS NULL THEN p.proargnames END AS names
    FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_language l ON l.oid = p.prolang
    WHERE ${isUserSqlOrPlpgsqlFunctionSql}
    UNION ALL
    ${viewBodiesSql}
  `,
  decode: (rows) =>
    rows.map((row) => ({
      oid: decodeTextColumn(row, 'oid'),
      schema: decodeTextColumn(row, 'nspname'),
      name: decodeTextColumn(row, 'proname'),
      isView: row.lanname === 'view',
      signature: decodeTextColumn(row, 'signature'),
      language: row.lanname === 'sql' ? 'sql' : 'plpgsql',
      text: decodeTextColumn(row, 'body'),
      bound: decodeTextColumn(row, 'bound'),
      hasPath: decodeBooleanColumn(row, 'has_path'),
      hasZone: decodeBooleanColumn(row, 'has_zone'),
      inlined: decodeBooleanColumn(row, 'inlined'),
      calls: decodeTextArrayColumn(row, 'calls'),
      types: decodeTextArrayColumn(row, 'types'),
      names: decodeTextArrayColumn(row, 'names'),
    })),
  absent: [],
};

/** Views that use functions of users or other views. */
const viewBodiesSql = `
  SELECT
    v.oid,
    n.nspname,
    v.relname,
    v.oid::regclass::text,
    'view',
    '',
    '',
    false,
    false,
    false,
    array_agg(b.refobjid::text),
    NULL,
    NULL
  FROM pg_rewrite r
  JOIN pg_class v ON v.oid = r.ev_class
  JOIN pg_namespace n ON n.oid = v.relnamespace
  JOIN pg_depend b ON b.classid = '${oidsOfCatalogs.pg_rewrite}' AND b.objid = r.oid
  WHERE EXISTS (SELECT FROM d)
    AND v.oid >= '${firstNormalObjectId}'
    AND v.relkind = 'v'
    AND b.refobjid >= '${firstNormalObjectId}'
    AND b.refobjid <> v.oid
    AND (
      b.refclassid = '${oidsOfCatalogs.pg_proc}'
        OR (
          b.refclassid = '${oidsOfCatalogs.pg_class}'
            AND EXISTS (SELECT FROM pg_class u WHERE u.oid = b.refobjid AND u.relkind = 'v')
        )
    )
  GROUP BY v.oid, n.nspname, v.relname
`;

function bodyOf(version: number): string {
  return version < 140_000 ? 'p.prosrc' : "CASE WHEN p.prosqlbody IS NULL THEN p.prosrc ELSE '' END";
}

function bound(version: number): string {
  return version < 140_000 ? "''" : "coalesce(pg_get_function_sqlbody(p.oid), '')";
}

function boundCalls(version: number): string {
  if (version < 140_000) return 'NULL';
  return `
    CASE
      WHEN p.prosqlbody IS NOT NULL
        THEN (
          SELECT array_agg(b.refobjid::text)
          FROM pg_depend b
          WHERE b.classid = '${oidsOfCatalogs.pg_proc}'
            AND b.objid = p.oid
            AND b.refclassid = '${oidsOfCatalogs.pg_proc}'
            AND b.refobjid >= '${firstNormalObjectId}'
        )
    END
  `;
}
