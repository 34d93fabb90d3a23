import { firstNormalOid } from './catalog-oids.ts';

/** SQL condition: the object was created by a user, and not by an extension. */
function isUserObject(catalog: string, oid: string): string {
  return `(${oid} >= ${firstNormalOid} AND NOT EXISTS (SELECT FROM pg_depend member
    WHERE member.classid = '${catalog}'::regclass AND member.objid = ${oid} AND member.deptype = 'e'))`;
}

/** SQL condition: `n`, a row of pg_namespace, is not a system schema. */
const isUserSchema = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'";

/**
 * A query with the columns `name` and `is_code`: objects that only a superuser can create, and that other objects need;
 * `is_code` is true for functions in an untrusted language. The result does not contain extensions, event triggers and
 * publications, and the names are not quoted.
 * @param version server_version_num
 * @see https://www.postgresql.org/docs/current/sql-commands.html (the notes of each CREATE command)
 */
export function superuserObjectsSql(version: number): string {
  const kind = version < 110_000 ? "'function'" : "CASE p.prokind WHEN 'p' THEN 'procedure' ELSE 'function' END";
  return `SELECT DISTINCT name, is_code FROM (
  SELECT format('%s %s.%s(%s)%s', ${kind}, n.nspname, p.proname,
      pg_get_function_identity_arguments(p.oid),
      CASE WHEN NOT l.lanpltrusted THEN ' in language ' || l.lanname WHEN p.proleakproof THEN ' with LEAKPROOF' ELSE ' with SUPPORT' END), NOT l.lanpltrusted
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND ${isUserSchema} AND ${isUserObject('pg_proc', 'p.oid')}
    JOIN pg_language l ON l.oid = p.prolang WHERE (p.proleakproof OR NOT l.lanpltrusted${version < 120_000 ? '' : ' OR p.prosupport <> 0'})
      AND NOT EXISTS (SELECT FROM pg_aggregate WHERE aggfnoid = p.oid)
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i')
  UNION ALL SELECT format('aggregate %s.%s(%s) with an internal state', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)), false
    FROM pg_aggregate a JOIN pg_proc p ON p.oid = a.aggfnoid
    JOIN pg_namespace n ON n.oid = p.pronamespace AND ${isUserSchema} AND ${isUserObject('pg_proc', 'p.oid')}
    WHERE 'internal'::regtype IN (a.aggtranstype, a.aggmtranstype)
  UNION ALL SELECT format('%s type %s.%s', CASE t.typtype WHEN 'p' THEN 'shell' ELSE 'base' END, n.nspname, t.typname), false
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE ${isUserSchema} AND ${isUserObject('pg_type', 't.oid')} AND t.typtype IN ('b', 'p')
      AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
  UNION ALL SELECT format('operator %s with an operator of PostgreSQL as its commutator or negator', o.oid::regoperator), false FROM pg_operator o
    JOIN pg_namespace n ON n.oid = o.oprnamespace WHERE ${isUserSchema} AND ${isUserObject('pg_operator', 'o.oid')}
      AND (o.oprcom::oid BETWEEN 1 AND ${firstNormalOid - 1} OR o.oprnegate::oid BETWEEN 1 AND ${firstNormalOid - 1})
  UNION ALL SELECT format('cast (%s AS %s)', format_type(k.castsource, NULL), format_type(k.casttarget, NULL)), false FROM pg_cast k
    WHERE ${isUserObject('pg_cast', 'k.oid')} AND NOT EXISTS (SELECT FROM pg_depend d
      WHERE d.classid = 'pg_cast'::regclass AND d.objid = k.oid AND d.deptype = 'i')
      AND (k.castmethod = 'b' OR NOT ${isUserObject('pg_type', 'k.castsource')} AND NOT ${isUserObject('pg_type', 'k.casttarget')})
  ${[
    ['pg_foreign_data_wrapper', 'foreign-data wrapper', 'o.fdwname', ''],
    ['pg_language', 'language', 'o.lanname', ''],
    ['pg_am', 'access method', 'o.amname', ''],
    inSchema('pg_opclass', 'operator class', 'opc'),
    inSchema('pg_opfamily', 'operator family', 'opf'),
    inSchema('pg_ts_parser', 'text search parser', 'prs'),
    inSchema('pg_ts_template', 'text search template', 'tmpl'),
  ]
    .map(
      ([catalog = '', type, name, joins]) =>
        `UNION ALL SELECT format('${type} %s', ${name}), false FROM ${catalog} o ${joins} WHERE ${isUserObject(catalog, 'o.oid')}`,
    )
    .join('\n  ')}
) AS o(name, is_code) ORDER BY name`;
}

function inSchema(catalog: string, type: string, prefix: string): readonly string[] {
  return [
    catalog,
    type,
    `n.nspname || '.' || o.${prefix}name`,
    `JOIN pg_namespace n ON n.oid = o.${prefix}namespace AND ${isUserSchema}`,
  ];
}
