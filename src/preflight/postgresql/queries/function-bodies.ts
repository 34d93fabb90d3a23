import { catalogOid, firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeList, decodeText } from './decode.ts';
import { isUserFunctionSql, userFunctionDependentsCte } from './function-dependents.ts';
import { grantMonitorRole } from './grants.ts';
/** In a language that looks its names up when it runs; or a view, whose names are looked up, and which calls functions. */
export interface FunctionBody {
  readonly oid: string;
  readonly schema: string;
  readonly name: string;
  readonly isView: boolean;
  /** Qualified, quoted and with its argument types, as ALTER FUNCTION takes it. */
  readonly signature: string;
  readonly language: 'sql' | 'plpgsql';
  /** Empty for one that was written in the SQL standard's way, whose names were looked up when it was made. */
  readonly text: string;
  /** What it says then. */
  readonly bound: string;
  /** It brings a search_path of its own, which holds for what it calls, too. */
  readonly hasPath: boolean;
  /** It brings a time zone of its own. */
  readonly hasZone: boolean;
  /** The planner puts its text in its place, and so reads it before there is a row. */
  readonly inlined: boolean;
  /** Oids of what its looked-up names call. */
  readonly calls: readonly string[];
  /** Of its arguments, as pg_type has them: `_int4`. */
  readonly types: readonly string[];
  /** Of its arguments; none where some of them are results. */
  readonly names: readonly string[];
}

export const functionBodiesQuery: PostgresqlQuery<readonly FunctionBody[]> = {
  id: 'function-bodies',
  scope: 'database',
  when: whenPresent('called-functions'),
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
        SELECT json_agg(y.typname ORDER BY g.at)
        FROM unnest(p.proargtypes) WITH ORDINALITY g (type, at)
        JOIN pg_type y ON y.oid = g.type
      ) AS types,
      CASE WHEN p.proallargtypes IS NULL THEN array_to_json(p.proargnames) END AS names
    FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_language l ON l.oid = p.prolang
    WHERE ${isUserFunctionSql}
    UNION ALL
    ${viewBodiesSql}
  `,
  decode: (rows) =>
    rows.map((row) => ({
      oid: decodeText(row, 'oid'),
      schema: decodeText(row, 'nspname'),
      name: decodeText(row, 'proname'),
      isView: row.lanname === 'view',
      signature: decodeText(row, 'signature'),
      language: row.lanname === 'sql' ? 'sql' : 'plpgsql',
      text: decodeText(row, 'body'),
      bound: decodeText(row, 'bound'),
      hasPath: decodeBoolean(row, 'has_path'),
      hasZone: decodeBoolean(row, 'has_zone'),
      inlined: decodeBoolean(row, 'inlined'),
      calls: decodeList(row, 'calls'),
      types: decodeList(row, 'types'),
      names: decodeList(row, 'names'),
    })),
  absent: [],
  grant: grantMonitorRole,
};

/** Those over functions of a person, or over other views. 2618 is pg_rewrite. */
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
    json_agg(b.refobjid::text),
    NULL,
    NULL
  FROM pg_rewrite r
  JOIN pg_class v ON v.oid = r.ev_class
  JOIN pg_namespace n ON n.oid = v.relnamespace
  JOIN pg_depend b ON b.classid = '${catalogOid.pg_rewrite}' AND b.objid = r.oid
  WHERE EXISTS (SELECT FROM d)
    AND v.oid >= '${firstNormalObjectId}'
    AND v.relkind = 'v'
    AND b.refobjid >= '${firstNormalObjectId}'
    AND b.refobjid <> v.oid
    AND (
      b.refclassid = '${catalogOid.pg_proc}'
        OR (
          b.refclassid = '${catalogOid.pg_class}'
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
          SELECT json_agg(b.refobjid::text)
          FROM pg_depend b
          WHERE b.classid = '${catalogOid.pg_proc}'
            AND b.objid = p.oid
            AND b.refclassid = '${catalogOid.pg_proc}'
            AND b.refobjid >= '${firstNormalObjectId}'
        )
    END
  `;
}
