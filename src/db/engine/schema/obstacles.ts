import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { formatMajorVersion, toMajorVersion } from '../../../postgresql/version.ts';
import { isUserObject, isUserSchema, type SchemaObject, userRelations, type Versions } from './object.ts';
import { queryColumn, queryValue } from './session.ts';

/** Reasons why a schema cannot be copied between the given PostgreSQL versions; empty if it can. */
export function versionObstacles({ from, to }: Versions): readonly string[] {
  if (from < oldestReadableVersion) {
    return [
      `PostgreSQL ${formatMajorVersion(from)} is not supported: the source must be PostgreSQL ${formatMajorVersion(oldestReadableVersion)} or later`,
    ];
  }
  if (toMajorVersion(from) <= toMajorVersion(to)) return [];
  return [`PostgreSQL ${formatMajorVersion(from)} is newer than the target, PostgreSQL ${formatMajorVersion(to)}`];
}

/** The oldest PostgreSQL version with which the catalog queries work. */
const oldestReadableVersion = 120_000;

/**
 * Reasons why the schema cannot be created on the target: existing objects, or a different encoding of the target; empty if
 * the schema can be created.
 */
export async function targetObstacles(source: SafeSession, target: SafeSession): Promise<readonly string[]> {
  const [from, to] = [await queryValue(source, encodingQuery), await queryValue(target, encodingQuery)];
  return [
    ...(from === 'SQL_ASCII' && to !== from ? [`the source has the encoding SQL_ASCII, and the target has ${to}`] : []),
    ...(await listExistingObjects(target)).map((name) => `${name} (exists on the target)`),
  ];
}

const encodingQuery = `SELECT pg_encoding_to_char(encoding) AS value FROM pg_database WHERE datname = current_database()`;

/** Names of at most 20 objects of users in the target database, without extensions. */
async function listExistingObjects(session: SafeSession): Promise<readonly string[]> {
  return await queryColumn(
    session,
    `SELECT name FROM (
      SELECT format('%s.%s', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE ${isUserSchema} AND ${isUserObject('pg_class', 'c.oid')} AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
      UNION ALL SELECT format('%s.%s', n.nspname, t.typname) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        LEFT JOIN pg_class c ON c.oid = t.typrelid AND c.relkind = 'c'
        WHERE ${isUserSchema} AND ${isUserObject('pg_type', 't.oid')} AND (t.typtype IN ('e', 'd', 'r') OR c.oid IS NOT NULL)
      UNION ALL SELECT format('%s.%s', n.nspname, p.proname) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE ${isUserSchema} AND ${isUserObject('pg_proc', 'p.oid')}
      UNION ALL SELECT format('schema %s', n.nspname) FROM pg_namespace n
        WHERE ${isUserSchema} AND ${isUserObject('pg_namespace', 'n.oid')} AND n.nspname <> 'public'
    ) AS x(name) ORDER BY name LIMIT 20`,
    'name',
  );
}

/** Requirements of schema parts that the target does not meet, each with its part. */
export async function missingRequirements(
  session: SafeSession,
  parts: readonly SchemaObject[],
): Promise<readonly string[]> {
  const available = new Set(await queryColumn(session, availableRequirementsQuery, 'name'));
  return parts.flatMap(({ name, requirements }) =>
    requirements
      .filter((requirement) => !available.has(requirement))
      .map((requirement) => {
        const [what, ...rest] = requirement.split(':');
        const thing = `${what} ${rest.join(':')}`;
        return thing === name
          ? `${name} (not available on the target)`
          : `${name} (the target does not have the ${thing})`;
      }),
  );
}

const availableRequirementsQuery = `SELECT 'extension:' || name AS name FROM pg_available_extensions
  UNION ALL SELECT 'role:' || rolname FROM pg_roles
  UNION ALL SELECT 'language:' || lanname FROM pg_language`;

/** A query with the column `name`: objects of the source that cannot be copied. */
export function unsupportedQuery({ from, to }: Versions): string {
  const questions = [
    ...catalogsWithoutCopier.map(
      ([catalogue, type, name, joins]) =>
        `SELECT format('${type} %s', ${name}) FROM ${catalogue} o ${joins} WHERE ${isUserObject(catalogue, 'o.oid')}`,
    ),
    `SELECT format('foreign table %s.%s', n.nspname, c.relname) FROM ${userRelations('f')}`,
    `SELECT format('user mapping of server %s', srvname) FROM pg_user_mappings`,
    `SELECT format('%s %s.%s(%s) in language %s', CASE p.prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, n.nspname,
        p.proname, pg_get_function_identity_arguments(p.oid), l.lanname)
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace AND ${isUserSchema} AND ${isUserObject('pg_proc', 'p.oid')}
      JOIN pg_language l ON l.oid = p.prolang WHERE p.prokind <> 'a' AND l.lanname IN ('c', 'internal') AND NOT EXISTS (SELECT FROM pg_depend d
        WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i')`,
    `SELECT format('base type %s.%s', n.nspname, t.typname) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE ${isUserSchema} AND ${isUserObject('pg_type', 't.oid')} AND (t.typtype = 'b' AND t.typcategory <> 'A' OR t.typtype = 'p')
        AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)`,
    `SELECT format('range type %s.%s with a canonical function', n.nspname, t.typname)
      FROM pg_range r JOIN pg_type t ON t.oid = r.rngtypid JOIN pg_namespace n ON n.oid = t.typnamespace
      WHERE ${isUserSchema} AND ${isUserObject('pg_type', 't.oid')} AND r.rngcanonical <> 0`,
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
    WHERE n.nspname IN ('pg_catalog', 'information_schema') AND ${isUserObject(catalogue!, 'o.oid')} AND ${condition}`,
);

const detachingPartitionsQuery = `SELECT format('partition %s.%s that is being detached', n.nspname, c.relname)
  FROM ${userRelations('rp')} JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhdetachpending`;

/**
 * Since PostgreSQL 17, partitions share the identity columns of their parent, so a table with an identity column of its
 * own cannot be attached.
 */
const partitionIdentityQuery = `SELECT format('separate identity column in partition %s.%s', n.nspname, c.relname)
  FROM ${userRelations('rp')} JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> '' WHERE c.relispartition`;

/** A query with the column `note`: properties of the source that are intentionally not copied. */
export const omissionsQuery = `SELECT note FROM (
  SELECT format('privileges (GRANT) are not copied: %s objects have privileges', count(*)) FROM (
      SELECT c.oid FROM ${userRelations('rpvmSf')} WHERE c.relacl IS NOT NULL
        OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attacl IS NOT NULL)
      UNION ALL SELECT p.oid FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE ${isUserSchema} AND ${isUserObject('pg_proc', 'p.oid')} AND p.proacl IS NOT NULL
      UNION ALL SELECT n.oid FROM pg_namespace n
        WHERE ${isUserSchema} AND ${isUserObject('pg_namespace', 'n.oid')} AND n.nspacl IS NOT NULL
      UNION ALL SELECT t.oid FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE ${isUserSchema} AND ${isUserObject('pg_type', 't.oid')} AND t.typacl IS NOT NULL
      UNION ALL SELECT oid FROM pg_default_acl) AS granted HAVING count(*) > 0
  UNION ALL SELECT format('owners are not copied: objects of %s belong to the migration role', string_agg(owner, ', ' ORDER BY owner))
    FROM (SELECT DISTINCT pg_get_userbyid(x.owner) FROM (SELECT c.relowner FROM ${userRelations('rpvmSf')}
      UNION ALL SELECT p.proowner FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE ${isUserSchema} AND ${isUserObject('pg_proc', 'p.oid')}
      UNION ALL SELECT n.nspowner FROM pg_namespace n WHERE ${isUserSchema} AND ${isUserObject('pg_namespace', 'n.oid')}) AS x(owner)
      WHERE pg_get_userbyid(x.owner) <> current_user) AS y(owner) HAVING count(*) > 0
  UNION ALL SELECT format('subscription %s is not copied: the target would become a second subscriber', subname)
    FROM pg_subscription WHERE subdbid = (SELECT oid FROM pg_database WHERE datname = current_database())
  UNION ALL SELECT format('index %s.%s is invalid and is not copied', n.nspname, x.relname)
    FROM ${userRelations('rm')} JOIN pg_index i ON i.indrelid = c.oid AND NOT (i.indisvalid AND i.indisready)
    JOIN pg_class x ON x.oid = i.indexrelid
  UNION ALL SELECT format('tablespaces are not copied: %s objects have a tablespace', count(*))
    FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace WHERE ${isUserSchema} AND t.reltablespace <> 0
    HAVING count(*) > 0
  UNION ALL SELECT DISTINCT format('the trigger of foreign key %s is disabled on the source but enabled on the target', k.conname)
    FROM pg_trigger t JOIN pg_constraint k ON k.oid = t.tgconstraint AND k.contype = 'f'
    WHERE t.tgisinternal AND t.tgenabled <> 'O' AND k.conparentid = 0
) AS x(note) ORDER BY note`;
