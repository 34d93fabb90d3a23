import { catalogOids, firstNormalOid, schemaOids, typeOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean, decodeText, decodeTextArray } from '../../../../postgresql/rows.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';
import { featureCondition } from './database-overview.ts';
import { userDependentsCte, userFunctionSql } from './function-uses.ts';
import { dumpedTreesSql } from './incompatible-calls.ts';

/** A function in a language that resolves names when the function runs, or a view. */
export interface ObjectBody {
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
  /** A search_path with `"$user"`, which is another schema on the target; absent for any other path, and where no role has a schema. */
  readonly userPath?: string;
  /** Whether the function has a SET timezone clause. */
  readonly hasZone: boolean;
  /** Whether the function has a SET role or SET session_authorization clause. */
  readonly hasRole: boolean;
  /** Whether the planner may inline the function, and so parses its text even if there is no row. */
  readonly inlined: boolean;
  /** Object ids of the functions that the SQL-standard body calls. */
  readonly calls: readonly string[];
  /** Types of the function arguments, by their names in pg_type: `_int4`. */
  readonly types: readonly string[];
  /** Names of the function arguments; empty if the function has output arguments. */
  readonly names: readonly string[];
}

export const bodiesQuery = rowsQuery<ObjectBody>({
  id: 'function-bodies',
  scope: 'database',
  when: featureCondition('called-functions'),
  sql: (version) => `
    ${userDependentsCte}
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
      (
        SELECT substr(g, 13)
        FROM unnest(p.proconfig) g
        WHERE left(g, 12) = 'search_path='
          AND strpos(g, '$user') > 0
          AND EXISTS (SELECT FROM pg_namespace s JOIN pg_roles r ON r.rolname = s.nspname)
      ) AS user_path,
      EXISTS (SELECT FROM unnest(p.proconfig) g WHERE lower(left(g, 9)) = 'timezone=') AS has_zone,
      EXISTS (SELECT FROM unnest(p.proconfig) g WHERE g ~ '^(role|session_authorization)=') AS has_role,
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
    WHERE ${userFunctionSql}
    UNION ALL
    ${viewBodiesSql}
  `,
  row: (row) => ({
    oid: decodeText(row, 'oid'),
    schema: decodeText(row, 'nspname'),
    name: decodeText(row, 'proname'),
    isView: row.lanname === 'view',
    signature: decodeText(row, 'signature'),
    language: row.lanname === 'sql' ? 'sql' : 'plpgsql',
    text: decodeText(row, 'body'),
    bound: decodeText(row, 'bound'),
    hasPath: decodeBoolean(row, 'has_path'),
    ...(row.user_path == null ? {} : { userPath: decodeText(row, 'user_path') }),
    hasZone: decodeBoolean(row, 'has_zone'),
    hasRole: decodeBoolean(row, 'has_role'),
    inlined: decodeBoolean(row, 'inlined'),
    calls: decodeTextArray(row, 'calls'),
    types: decodeTextArray(row, 'types'),
    names: decodeTextArray(row, 'names'),
  }),
});

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
    NULL,
    false,
    false,
    false,
    array_agg(b.refobjid::text),
    NULL,
    NULL
  FROM pg_rewrite r
  JOIN pg_class v ON v.oid = r.ev_class
  JOIN pg_namespace n ON n.oid = v.relnamespace
  JOIN pg_depend b ON b.classid = '${catalogOids.pg_rewrite}' AND b.objid = r.oid
  WHERE EXISTS (SELECT FROM d)
    AND v.oid >= '${firstNormalOid}'
    AND v.relkind = 'v'
    AND b.refobjid >= '${firstNormalOid}'
    AND b.refobjid <> v.oid
    AND (
      b.refclassid = '${catalogOids.pg_proc}'
        OR (
          b.refclassid = '${catalogOids.pg_class}'
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
          WHERE b.classid = '${catalogOids.pg_proc}'
            AND b.objid = p.oid
            AND b.refclassid = '${catalogOids.pg_proc}'
            AND b.refobjid >= '${firstNormalOid}'
        )
    END
  `;
}

/** An object outside of pg_catalog to which a name in a function body may refer. */
export type NamedObject = RowOf<typeof namedObjectsQuery>;

/**
 * Returns the objects whose names occur in function bodies. All objects whose names need quotes are returned, because
 * such a name may consist of several words.
 */
export const namedObjectsQuery = rowsQuery({
  id: 'named-objects',
  scope: 'database',
  when: featureCondition('called-functions'),
  sql: () => `
     ${userDependentsCte}, w AS (
      SELECT DISTINCT regexp_split_to_table(lower(p.prosrc), '[^[:alnum:]_$]+') AS word
      FROM pg_proc p
      JOIN pg_language l ON l.oid = p.prolang
      WHERE ${userFunctionSql}
    ), m AS (
      SELECT 'relation' AS kind, c.relnamespace AS home, c.relname::text AS name, NULL::oidvector AS arguments
      FROM pg_class c
      WHERE EXISTS (SELECT FROM d)
        AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        AND c.relpersistence <> 't'
      UNION ALL
      SELECT 'function', p.pronamespace, p.proname::text, p.proargtypes
      FROM pg_proc p
      WHERE EXISTS (SELECT FROM d)
      UNION ALL
      SELECT 'type', t.typnamespace, t.typname::text, NULL
      FROM pg_type t
      WHERE EXISTS (SELECT FROM d)
        AND t.typcategory <> 'A'
        AND (t.typrelid = '0' OR EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c'))
      UNION ALL
      SELECT 'collation', s.collnamespace, s.collname::text, NULL
      FROM pg_collation s
      WHERE EXISTS (SELECT FROM d)
      UNION ALL
      SELECT 'text search configuration', s.cfgnamespace, s.cfgname::text, NULL
      FROM pg_ts_config s
      WHERE EXISTS (SELECT FROM d)
      UNION ALL
      SELECT 'text search dictionary', s.dictnamespace, s.dictname::text, NULL
      FROM pg_ts_dict s
      WHERE EXISTS (SELECT FROM d)
    )
    SELECT DISTINCT
      m.kind,
      n.nspname,
      m.name,
      b.is_replaced,
      CASE
        WHEN b.is_replaced
          THEN ARRAY(
            SELECT y.typname::text
            FROM unnest(m.arguments::oid[]) g (type)
            JOIN pg_type y ON y.oid = g.type
            WHERE y.oid >= '${firstNormalOid}'
          )
      END AS types
    FROM m
    JOIN pg_namespace n ON n.oid = m.home
    CROSS JOIN LATERAL (
      SELECT EXISTS (
        SELECT FROM m s
        WHERE s.home = '${schemaOids.pg_catalog}'
          AND s.kind = m.kind
          AND s.name = m.name
      ) AS is_replaced
    ) b
    WHERE n.nspname <> 'information_schema'
      AND left(n.nspname::text, 3) <> 'pg_'
      AND (m.name IN (SELECT word FROM w) OR (m.name !~ '^[a-z_][a-z0-9_$]*$' AND EXISTS (SELECT FROM w)))
      AND (
        NOT b.is_replaced
          OR (
            m.kind = 'function'
              AND NOT EXISTS (
                SELECT FROM m s
                WHERE s.home = '${schemaOids.pg_catalog}'
                  AND s.kind = m.kind
                  AND s.name = m.name
                  AND s.arguments = m.arguments
              )
          )
      )
  `,
  row: columns({
    kind: column.oneOf(
      'kind',
      'relation',
      'function',
      'type',
      'collation',
      'text search configuration',
      'text search dictionary',
    ),
    schema: column.text('nspname'),
    name: column.text('name'),
    /**
     * Whether pg_catalog has a function of the name too, with other arguments: the name then means that one. `types` are
     * the types of the arguments that users or extensions created, by their names in pg_type.
     */
    isReplaced: column.boolean('is_replaced'),
    types: column.texts('types'),
  }),
});

/**
 * An operator that PostgreSQL finds for a function body only through the search_path, for operands of certain types.
 */
export type PathOperator = RowOf<typeof pathOperatorsQuery>;

/**
 * Returns one row for each combination of operand types for which pg_catalog has no operator of the name. An implicit
 * cast lets an array match an operator of arrays, and citext an operator of text. Operators that no function body
 * contains are excluded first, to keep the query fast.
 */
export const pathOperatorsQuery = rowsQuery({
  id: 'search-path-operators',
  scope: 'database',
  when: featureCondition('called-functions'),
  sql: () => `
     ${userDependentsCte}, b AS (
      SELECT p.prosrc, p.proargtypes
      FROM pg_proc p
      JOIN pg_language l ON l.oid = p.prolang
      WHERE ${userFunctionSql}
    ), o AS (
      SELECT n.nspname, o.oprname, o.oprleft, o.oprright
      FROM pg_operator o
      JOIN pg_namespace n ON n.oid = o.oprnamespace
      WHERE o.oprnamespace <> '${schemaOids.pg_catalog}'
        AND EXISTS (
          SELECT FROM b
          WHERE strpos(b.prosrc, o.oprname::text) > 0
            OR (o.oprname IN ('=', '<>') AND b.prosrc ~* '[[:<:]](distinct|nullif|case|in)[[:>:]]')
            OR (o.oprname IN ('~~', '~~*', '!~~', '!~~*') AND b.prosrc ~* '[[:<:]]i?like[[:>:]]')
        )
    ), t AS (
      SELECT '0'::oid AS oid, '' AS name, '' AS category, '' AS kind
      UNION
      SELECT y.oid, y.typname::text, y.typcategory::text, y.typtype::text
      FROM (SELECT unnest(proargtypes) AS oid FROM b UNION SELECT oprleft FROM o UNION SELECT oprright FROM o) g
      JOIN pg_type y ON y.oid = g.oid
    )
    SELECT DISTINCT o.nspname, o.oprname, l.name AS l, r.name AS r, k.is_replaced
    FROM o
    JOIN t l ON ${acceptsTypeSql('o.oprleft', 'l')}
    JOIN t r ON ${acceptsTypeSql('o.oprright', 'r')}
    CROSS JOIN LATERAL (
      SELECT EXISTS (
        SELECT FROM pg_operator c
        WHERE c.oprnamespace = '${schemaOids.pg_catalog}'
          AND c.oprname = o.oprname
          AND ${acceptsTypeSql('c.oprleft', 'l')}
          AND ${acceptsTypeSql('c.oprright', 'r')}
      ) AS is_replaced
    ) k
    WHERE NOT k.is_replaced
      OR (
        (o.oprleft = l.oid OR l.oid = '0')
          AND (o.oprright = r.oid OR r.oid = '0')
          AND (l.oid >= '${firstNormalOid}' OR r.oid >= '${firstNormalOid}')
      )
  `,
  row: columns({
    schema: column.text('nspname'),
    name: column.text('oprname'),
    /** Name of the operand type in pg_type; empty for any type. */
    left: column.text('l'),
    right: column.text('r'),
    /** Whether pg_catalog has an operator of the name that accepts the operands by an implicit cast, and means another. */
    isReplaced: column.boolean('is_replaced'),
  }),
});

/** A definition that a dump writes with the bare name of an operator that pg_catalog does not have. */
export interface UnqualifiedOperatorUse {
  /** The object: `view public.v`. */
  readonly object: string;
  /** The operator with its operands: `public.hstore = public.hstore`. */
  readonly operator: string;
  /** Whether the name is resolved to no operator; otherwise the definition gets another operator without an error. */
  readonly isMissing: boolean;
  /** Whether the expression is evaluated for stored rows. */
  readonly stores: boolean;
}

/**
 * A dump writes `OPERATOR(schema.=)`, except where the grammar has no place for it: in IS DISTINCT FROM, NULLIF, CASE x
 * WHEN and JOIN … USING. In comparisons of rows the first operator stands for all of them. The name is resolved as
 * PostgreSQL does: the operator with most operands of the same types, then of preferred types; several are an error.
 */
export const unqualifiedOperatorUsesQuery = rowsQuery<UnqualifiedOperatorUse>({
  id: 'unqualified-operators',
  scope: 'database',
  when: featureCondition('used-operators'),
  sql: (version) => `
    WITH o AS (
      SELECT e.*
      FROM (${dumpedTreesSql(version)}) e
      WHERE e.tree ~ 'DISTINCTEXPR|NULLIFEXPR|CASETESTEXPR|usingClause [(]|ROWCOMPARE|testexpr [{]BOOLEXPR'
        AND EXISTS (
        SELECT FROM pg_depend d
        WHERE d.classid = e.catalog
          AND d.objid = e.oid
          AND d.refclassid = '${catalogOids.pg_operator}'
          AND d.refobjid >= '${firstNormalOid}'
      )
        AND NOT EXISTS (
          SELECT FROM pg_depend d
          WHERE d.classid = e.catalog
            AND d.objid = e.oid
            AND d.deptype = 'e'
        )
    ), u AS (
      SELECT o.object, o.stores, coalesce(m.found[1], m.found[2])::oid AS used, NULL::oid AS first
      FROM o
      CROSS JOIN LATERAL regexp_matches(o.tree, '[{](?:DISTINCTEXPR|NULLIFEXPR) :opno ([0-9]+) |${caseOperatorPattern}', 'g') m(found)
      UNION ALL
      SELECT o.object, o.stores, m.found[1]::oid, NULL
      FROM o
      CROSS JOIN LATERAL regexp_split_to_table(o.tree, ':usingClause [(]') WITH ORDINALITY s(part, at)
      CROSS JOIN LATERAL regexp_matches(split_part(split_part(s.part, ' :quals ', 2), ' :alias ', 1), '[{]OPEXPR :opno ([0-9]+) ', 'g') m(found)
      WHERE s.at > 1
      UNION ALL
      SELECT o.object, o.stores, x.op::oid, m.found[1]::oid
      FROM o
      CROSS JOIN LATERAL regexp_matches(o.tree, '[{]ROWCOMPARE(?:EXPR)? [^{}]*:opnos [(]o ([0-9]+) ([0-9 ]+)[)]', 'g') m(found)
      CROSS JOIN LATERAL regexp_split_to_table(m.found[2], ' ') x(op)
      UNION ALL
      SELECT o.object, o.stores, m.found[1]::oid, substring(s.part FROM '[{]OPEXPR :opno ([0-9]+) ')::oid
      FROM o
      CROSS JOIN LATERAL regexp_split_to_table(o.tree, ':testexpr [{]BOOLEXPR ') WITH ORDINALITY p(part, at)
      CROSS JOIN LATERAL (SELECT split_part(p.part, ' :operName ', 1)) s(part)
      CROSS JOIN LATERAL regexp_matches(s.part, '[{]OPEXPR :opno ([0-9]+) [^{}]*:opresulttype ${typeOids.bool} ', 'g') m(found)
      WHERE p.at > 1
    )
    SELECT DISTINCT
      u.object,
      u.stores,
      format_type(q.oprleft, NULL) || ' ' || q.oprname || ' ' || format_type(q.oprright, NULL) AS operator,
      ARRAY(
        SELECT ${operandScoreSql('=')} * 3 + ${operandScoreSql('~')}
        FROM pg_operator c
        JOIN pg_type cl ON cl.oid = c.oprleft
        JOIN pg_type cr ON cr.oid = c.oprright
        WHERE c.oprnamespace = w.home
          AND c.oprname = q.oprname
          AND ${acceptsTypeSql('c.oprleft', 'l')}
          AND ${acceptsTypeSql('c.oprright', 'r')}
      ) AS scores
    FROM u
    JOIN pg_operator q ON q.oid = u.used
    LEFT JOIN pg_operator f ON f.oid = u.first
    CROSS JOIN LATERAL (SELECT coalesce(f.oprnamespace, '${schemaOids.pg_catalog}') AS home) w
    CROSS JOIN LATERAL (${operandTypeSql('q.oprleft')}) l
    CROSS JOIN LATERAL (${operandTypeSql('q.oprright')}) r
    WHERE q.oprnamespace <> w.home
    ORDER BY 1, 3
  `,
  row: (row) => {
    const scores = decodeTextArray(row, 'scores').map(Number);
    const best = Math.max(...scores);
    return {
      object: decodeText(row, 'object'),
      operator: decodeText(row, 'operator'),
      isMissing: scores.filter((score) => score === best).length !== 1,
      stores: decodeBoolean(row, 'stores'),
    };
  },
});

/** CASE x WHEN y is stored as an operator with a test expression on its left, which may be converted implicitly. */
const caseOperatorPattern =
  ':opno ([0-9]+) [^{}]*:args [(](?:[{]RELABELTYPE :arg |[{]FUNCEXPR [^{}]*:args [(])*[{]CASETESTEXPR';

function operandTypeSql(operand: string): string {
  return `SELECT y.oid, y.typcategory::text AS category, y.typtype::text AS kind FROM pg_type y WHERE y.oid = ${operand}`;
}

/** How many operands have the same type (`=`), or the same or the preferred type of their category (`~`). */
function operandScoreSql(how: '=' | '~'): string {
  const one = (type: string, operand: string) =>
    `(${type}.oid = ${operand}.oid${how === '=' ? '' : ` OR (${type}.typispreferred AND ${type}.typcategory::text = ${operand}.category)`})::int`;
  return `(${one('cl', 'l')} + ${one('cr', 'r')})`;
}

/** Whether an operator accepts an operand of a type: the type itself, an implicit cast, or a polymorphic type. */
function acceptsTypeSql(operand: string, type: string): string {
  const many = `
    CASE
      WHEN ${operand} IN ('${typeOids.any}', '${typeOids.anyelement}', '${typeOids.anycompatible}') THEN true
      WHEN ${operand} IN ('${typeOids.anyarray}', '${typeOids.anycompatiblearray}') THEN ${type}.category = 'A'
      WHEN ${operand} IN ('${typeOids.anynonarray}', '${typeOids.anycompatiblenonarray}')
        THEN ${type}.category <> 'A'
      WHEN ${operand} = '${typeOids.anyenum}' THEN ${type}.kind = 'e'
      WHEN ${operand} IN ('${typeOids.anyrange}', '${typeOids.anycompatiblerange}') THEN ${type}.kind = 'r'
      WHEN ${operand} IN ('${typeOids.anymultirange}', '${typeOids.anycompatiblemultirange}')
        THEN ${type}.kind = 'm'
      WHEN ${operand} = '${typeOids.record}' THEN ${type}.kind = 'c'
      ELSE ${type}.kind = 'd'
    END
  `;
  return `
    (
      ${type}.oid = '0'
        OR ${operand} = ${type}.oid
        OR (${operand} <> '0' AND ${many})
        OR EXISTS (
          SELECT FROM pg_cast k
          WHERE k.castsource = ${type}.oid
            AND k.casttarget = ${operand}
            AND k.castcontext = 'i'
        )
    )
  `;
}
