import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';

/** SQL condition: a user object that belongs to no extension. Arguments of these functions are not escaped. */
export function userObjectCondition(catalogue: string, oid: string): string {
  return `(${oid} >= ${firstNormalObjectId} AND NOT EXISTS (SELECT FROM pg_depend member
    WHERE member.classid = '${catalogue}'::regclass AND member.objid = ${oid} AND member.deptype = 'e'))`;
}

/** SQL expression: name of the catalog with this oid, without the quotes that quote_all_identifiers adds. */
export function catalogNameSql(oid: string): string {
  return `trim('"' FROM ${oid}::regclass::text)`;
}

/** SQL condition: `n`, a row of pg_namespace, is not a system schema. */
export const userSchemaCondition = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";

/**
 * FROM clause: user relations as `c`, with their schemas as `n`.
 * @param letters values of relkind: `rp`
 */
export function userRelationsFromClauseSql(letters: string): string {
  return `pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    AND c.relkind::text IN (${[...letters].map((letter) => `'${letter}'`).join(', ')})
    AND ${userSchemaCondition} AND ${userObjectCondition('pg_class', 'c.oid')}`;
}

/** SQL expression: storage options such as `"fillfactor"='70', "toast"."…"='…'`, or null if there are none. */
export function storageParametersExpressionSql(options: string, prefix = ''): string {
  return `(SELECT string_agg(format('${prefix}%I=%L', option_name, option_value), ', ')
    FROM pg_options_to_table(${options}))`;
}

/** SQL expression: ` COLLATE "s"."c"` if the collation is not the default of the type, else an empty string. */
export function collateClause(collation: string, type: string): string {
  return `coalesce((SELECT format(' COLLATE %I.%I', cn.nspname, co.collname)
    FROM pg_collation co JOIN pg_namespace cn ON cn.oid = co.collnamespace
    WHERE co.oid = ${collation} AND co.oid <> (SELECT typcollation FROM pg_type WHERE oid = ${type})), '')`;
}

/** SQL expression: the options of CREATE SEQUENCE and of identity columns; `s` is a row of pg_sequence. */
export const sequenceOptionsSql = `format('START WITH %s INCREMENT BY %s MINVALUE %s MAXVALUE %s CACHE %s%s', s.seqstart,
    s.seqincrement, s.seqmin, s.seqmax, s.seqcache,
    CASE WHEN s.seqcycle THEN ' CYCLE' ELSE ' NO CYCLE' END)`;

/** SQL expression: array of the given text expressions, without nulls. */
export function buildNonNullTextArraySql(...entries: readonly string[]): string {
  return `array_remove(ARRAY[${entries.join(', ')}]::text[], NULL)`;
}

/** SQL expression: concatenates the given text arrays, without nulls. */
export function buildConcatenatedTextArraySql(...arrays: readonly string[]): string {
  return `array_remove((${arrays.map((array) => `${array}::text[]`).join(' || ')}), NULL)`;
}
