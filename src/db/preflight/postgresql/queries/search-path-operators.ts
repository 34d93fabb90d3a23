import { builtinSchemaOids, builtinTypeOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';
import { isUserSqlOrPlpgsqlFunctionSql, userFunctionDependentsCte } from './function-dependents.ts';

/**
 * An operator that PostgreSQL finds for a function body only through the search_path, for operands of certain types.
 */
export interface SearchPathOperator {
  readonly schema: string;
  readonly name: string;
  /** Name of the operand type in pg_type; empty for any type. */
  readonly left: string;
  readonly right: string;
}

/**
 * Returns one row for each combination of operand types for which pg_catalog has no operator of the name. An implicit
 * cast lets an array match an operator of arrays, and citext an operator of text. Operators that no function body
 * contains are excluded first, to keep the query fast.
 */
export const searchPathOperatorsQuery: PostgresqlPreflightQuery<readonly SearchPathOperator[]> = {
  id: 'search-path-operators',
  scope: 'database',
  when: createDatabaseFeatureCondition('called-functions'),
  sql: () => `
     ${userFunctionDependentsCte}, b AS (
      SELECT p.prosrc, p.proargtypes
      FROM pg_proc p
      JOIN pg_language l ON l.oid = p.prolang
      WHERE ${isUserSqlOrPlpgsqlFunctionSql}
    ), o AS (
      SELECT n.nspname, o.oprname, o.oprleft, o.oprright
      FROM pg_operator o
      JOIN pg_namespace n ON n.oid = o.oprnamespace
      WHERE o.oprnamespace <> '${builtinSchemaOids.pg_catalog}'
        AND EXISTS (SELECT FROM b WHERE strpos(b.prosrc, o.oprname::text) > 0)
    ), t AS (
      SELECT '0'::oid AS oid, '' AS name, '' AS category, '' AS kind
      UNION
      SELECT y.oid, y.typname::text, y.typcategory::text, y.typtype::text
      FROM (SELECT unnest(proargtypes) AS oid FROM b UNION SELECT oprleft FROM o UNION SELECT oprright FROM o) g
      JOIN pg_type y ON y.oid = g.oid
    )
    SELECT DISTINCT o.nspname, o.oprname, l.name AS l, r.name AS r
    FROM o
    JOIN t l ON ${acceptsTypeSql('o.oprleft', 'l')}
    JOIN t r ON ${acceptsTypeSql('o.oprright', 'r')}
    WHERE NOT EXISTS (
      SELECT FROM pg_operator c
      WHERE c.oprnamespace = '${builtinSchemaOids.pg_catalog}'
        AND c.oprname = o.oprname
        AND ${acceptsTypeSql('c.oprleft', 'l')}
        AND ${acceptsTypeSql('c.oprright', 'r')}
    )
  `,
  decode: (rows) =>
    rows.map((row) => ({
      schema: decodeTextColumn(row, 'nspname'),
      name: decodeTextColumn(row, 'oprname'),
      left: decodeTextColumn(row, 'l'),
      right: decodeTextColumn(row, 'r'),
    })),
  absent: [],
};

/** Whether an operator accepts an operand of a type: the type itself, an implicit cast, or a polymorphic type. */
function acceptsTypeSql(operand: string, type: string): string {
  const many = `
    CASE
      WHEN ${operand} IN ('${builtinTypeOids.any}', '${builtinTypeOids.anyelement}', '${builtinTypeOids.anycompatible}') THEN true
      WHEN ${operand} IN ('${builtinTypeOids.anyarray}', '${builtinTypeOids.anycompatiblearray}') THEN ${type}.category = 'A'
      WHEN ${operand} IN ('${builtinTypeOids.anynonarray}', '${builtinTypeOids.anycompatiblenonarray}')
        THEN ${type}.category <> 'A'
      WHEN ${operand} = '${builtinTypeOids.anyenum}' THEN ${type}.kind = 'e'
      WHEN ${operand} IN ('${builtinTypeOids.anyrange}', '${builtinTypeOids.anycompatiblerange}') THEN ${type}.kind = 'r'
      WHEN ${operand} IN ('${builtinTypeOids.anymultirange}', '${builtinTypeOids.anycompatiblemultirange}')
        THEN ${type}.kind = 'm'
      WHEN ${operand} = '${builtinTypeOids.record}' THEN ${type}.kind = 'c'
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
