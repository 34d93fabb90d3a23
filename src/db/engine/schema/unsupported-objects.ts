import type { SourceAndTargetVersions } from './schema-object-definition.ts';
import { userObjectCondition, userRelationsFromClauseSql, userSchemaCondition } from './sql-fragments.ts';

/** A query with the column `name`: objects of the source that cannot be copied. */
export function unsupportedSchemaObjectsQuery({ from, to }: SourceAndTargetVersions): string {
  const questions = [
    ...catalogsWithoutCopier.map(
      ([catalogue, type, name, joins]) =>
        `SELECT format('${type} %s', ${name}) FROM ${catalogue} o ${joins} WHERE ${userObjectCondition(catalogue, 'o.oid')}`,
    ),
    `SELECT format('foreign table %s.%s', n.nspname, c.relname) FROM ${userRelationsFromClauseSql('f')}`,
    `SELECT format('user mapping of server %s', srvname) FROM pg_user_mappings`,
    `SELECT format('%s %s.%s(%s) in language %s', CASE p.prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, n.nspname,
        p.proname, pg_get_function_identity_arguments(p.oid), l.lanname)
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND ${userSchemaCondition} AND ${userObjectCondition('pg_proc', 'p.oid')}
      JOIN pg_language l ON l.oid = p.prolang WHERE p.prokind <> 'a' AND l.lanname IN ('c', 'internal') AND NOT EXISTS (SELECT FROM pg_depend d
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i')`,
    `SELECT format('base type %s.%s', n.nspname, t.typname) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_type', 't.oid')} AND (t.typtype = 'b' AND t.typcategory <> 'A' OR t.typtype = 'p')
        AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)`,
    `SELECT format('range type %s.%s with a canonical function', n.nspname, t.typname)
      FROM pg_range r JOIN pg_type t ON t.oid = r.rngtypid JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE ${userSchemaCondition} AND ${userObjectCondition('pg_type', 't.oid')} AND r.rngcanonical <> 0`,
    `SELECT format('security label of %s %s', l.objtype, l.objname) FROM pg_seclabels l
      WHERE l.classoid NOT IN ('pg_database'::regclass, 'pg_authid'::regclass, 'pg_tablespace'::regclass)`,
    ...systemSchemaQueries,
    ...(from >= 140_000 ? [detachingPartitionsQuery] : []),
    ...(from < 170_000 && to >= 170_000 ? [partitionIdentityQuery] : []),
  ];
  return `SELECT DISTINCT name FROM (${questions.join('\nUNION ALL ')}) AS u(name) ORDER BY name`;
}

/** Catalogs whose user entries cannot be copied: type of the object, SQL expression for its name, joins for that expression. */
const catalogsWithoutCopier: readonly (readonly [catalogue: string, what: string, name: string, more: string])[] = [
  ['pg_foreign_data_wrapper', 'foreign-data wrapper', 'o.fdwname', ''],
  ['pg_foreign_server', 'foreign server', 'o.srvname', ''],
  ['pg_language', 'language', 'o.lanname', ''],
  ['pg_am', 'access method', 'o.amname', ''],
  ['pg_operator', 'operator', qualifiedName('o.oprname'), joinNamespace('o.oprnamespace')],
  ['pg_opclass', 'operator class', qualifiedName('o.opcname'), joinNamespace('o.opcnamespace')],
  ['pg_opfamily', 'operator family', qualifiedName('o.opfname'), joinNamespace('o.opfnamespace')],
  ['pg_conversion', 'conversion', qualifiedName('o.conname'), joinNamespace('o.connamespace')],
  ['pg_ts_config', 'text search configuration', qualifiedName('o.cfgname'), joinNamespace('o.cfgnamespace')],
  ['pg_ts_dict', 'text search dictionary', qualifiedName('o.dictname'), joinNamespace('o.dictnamespace')],
  ['pg_ts_parser', 'text search parser', qualifiedName('o.prsname'), joinNamespace('o.prsnamespace')],
  ['pg_ts_template', 'text search template', qualifiedName('o.tmplname'), joinNamespace('o.tmplnamespace')],
  [
    'pg_transform',
    'transform',
    `format('for %s in language %s', format_type(o.trftype, NULL), l.lanname)`,
    'JOIN pg_language l ON l.oid = o.trflang',
  ],
];

function qualifiedName(name: string): string {
  return `n.nspname || '.' || ${name}`;
}

function joinNamespace(column: string): string {
  return `JOIN pg_namespace n ON n.oid = ${column}`;
}

/**
 * Objects that a superuser created in system schemas cannot be copied, because the other queries leave out system
 * schemas.
 */
const systemSchemaQueries = [
  ['pg_class', 'relation', 'relname', 'relnamespace', `o.relkind IN ('r', 'v', 'm', 'S', 'p', 'f')`],
  ['pg_proc', 'function', 'proname', 'pronamespace', 'true'],
  ['pg_type', 'type', 'typname', 'typnamespace', `o.typtype IN ('e', 'd', 'r')`],
].map(
  ([
    catalogue,
    type,
    name,
    namespaceColumn,
    condition,
  ]) => `SELECT format('${type} %s.%s in a system schema', n.nspname, o.${name})
    FROM ${catalogue} o JOIN pg_namespace n ON n.oid = o.${namespaceColumn}
    WHERE n.nspname IN ('pg_catalog', 'information_schema') AND ${userObjectCondition(catalogue!, 'o.oid')} AND ${condition}`,
);

const detachingPartitionsQuery = `SELECT format('partition %s.%s that is being detached', n.nspname, c.relname)
  FROM ${userRelationsFromClauseSql('rp')} JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhdetachpending`;

/**
 * Since PostgreSQL 17, partitions share the identity columns of their parent, so a table with an identity column of its
 * own cannot be attached.
 */
const partitionIdentityQuery = `SELECT format('separate identity column in partition %s.%s', n.nspname, c.relname)
  FROM ${userRelationsFromClauseSql('rp')} JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> '' WHERE c.relispartition`;
