import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';

/** SQL: an access control list as text, `grantor,grantee,privilege,grantable;…` with the oids of the roles. */
export function aclSql(acl: string): string {
  return `CASE WHEN ${acl} IS NOT NULL THEN coalesce((SELECT string_agg(concat_ws(',', x.grantor, x.grantee, x.privilege_type,
      CASE WHEN x.is_grantable THEN 't' ELSE 'f' END), ';') FROM aclexplode(${acl}) x), '') END`;
}

interface Kind {
  readonly word: string;
  /** As in AclKind; absent: the object has no privileges. */
  readonly acl?: readonly [kind: string, column: string];
  readonly catalog: string;
  readonly owner: string;
  readonly name: string;
  /** The column with the oid of the schema. */
  readonly schema?: string;
  readonly part?: string;
  readonly isDependent?: string;
  readonly runsAsOwner?: string;
  /** Further tables, which the other columns may use. */
  readonly join?: string;
  readonly where?: string;
}

/** The objects of a database, with owner and privileges. Each object is named by its parts, which the program quotes. */
export function objectsSql(version: number): string {
  const isNew = ({ catalog }: Kind) => catalog === 'pg_publication' || catalog === 'pg_statistic_ext';
  const kinds = kindsOf(version).filter((kind) => version >= 100_000 || !isNew(kind));
  return [...kinds.map(kindSql), columnsSql, ...(version < 150_000 ? [] : [parametersSql])].join('\nUNION ALL ');
}

function kindSql(kind: Kind): string {
  const { word, acl, catalog, owner, name, schema, part = "''", isDependent = 'false', runsAsOwner = 'false' } = kind;
  const isShared = catalog === 'pg_database' || catalog === 'pg_tablespace';
  const isMember = `o.oid IN (SELECT d.objid FROM pg_depend d WHERE d.classid = '${catalog}'::regclass AND d.deptype = 'e')`;
  // The database and the schema public exist before the migration too, but are the user's.
  // Large objects may have any number.
  const isSystem =
    isShared || word === 'LARGE OBJECT'
      ? 'false'
      : `o.oid < ${firstNormalOid}${catalog === 'pg_namespace' ? " AND o.nspname <> 'public'" : ''}`;
  const isTemporary = schema === undefined ? '' : " AND n.nspname !~ '^pg_(toast|temp)'";
  return `SELECT ${word.startsWith('CASE') ? word : `'${word}'`} AS word, ${acl === undefined ? 'NULL' : acl[0]} AS kind,
      ${schema === undefined ? "''" : 'n.nspname'}::text AS schema, (${name})::text AS name, ${part}::text AS part, o.${owner} AS owner,
      CASE WHEN ${isSystem} THEN 'system' WHEN ${isShared ? 'false' : isMember} THEN 'member'
        WHEN ${isDependent} THEN 'dependent' ELSE 'user' END AS origin,
      ${runsAsOwner} AS runs_as_owner, ${acl === undefined ? 'NULL' : aclSql(`o.${acl[1]}`)} AS acl,
      ${acl === undefined || isShared ? 'NULL' : aclSql('i.initprivs')} AS initial
    FROM ${catalog} o ${kind.join ?? ''} ${schema === undefined ? '' : `JOIN pg_namespace n ON n.oid = o.${schema}`}
    ${isShared || acl === undefined ? '' : `LEFT JOIN pg_init_privs i ON i.classoid = '${catalog === 'pg_largeobject_metadata' ? 'pg_largeobject' : catalog}'::regclass AND i.objoid = o.oid AND i.objsubid = 0`}
    WHERE (${kind.where ?? 'true'})${isTemporary}`;
}

const ofUser = `o.oid >= ${firstNormalOid}`;

function kindsOf(version: number): readonly Kind[] {
  // A cast to a domain runs its constraints, and an operator class its functions.
  const callsUserCode = (oid: string, catalog = 'pg_class') => `EXISTS (SELECT 1 FROM pg_depend d
    WHERE d.classid = '${catalog}'::regclass AND d.objid = ${oid} AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass, 'pg_opclass'::regclass)
    AND d.refobjid >= ${firstNormalOid})`;
  return [
    {
      word: 'SCHEMA',
      acl: ["'n'", 'nspacl'],
      catalog: 'pg_namespace',
      owner: 'nspowner',
      name: 'o.nspname',
      where: "o.nspname !~ '^pg_(toast|temp)'",
    },
    {
      word: "CASE o.relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END",
      acl: ["CASE o.relkind WHEN 'S' THEN 's' ELSE 'r' END", 'relacl'],
      catalog: 'pg_class',
      owner: 'relowner',
      schema: 'relnamespace',
      name: 'o.relname',
      isDependent: `o.relkind = 'S' AND EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = o.oid
        AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i'))`,
      // ANALYZE, REINDEX and autovacuum run the expressions of indexes and statistics as the owner of the table, and the
      // actions of a foreign key, such as ON DELETE CASCADE, its triggers, constraints and defaults.
      runsAsOwner: `o.relkind IN ('v', 'm') OR o.relhasrules
        OR EXISTS (SELECT 1 FROM pg_index x WHERE x.indrelid = o.oid AND ${callsUserCode('x.indexrelid')})
        OR (EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conrelid = o.oid AND k.contype = 'f'
              AND (k.confdeltype IN ('c', 'n', 'd') OR k.confupdtype IN ('c', 'n', 'd')))
          AND (EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = o.oid AND NOT t.tgisinternal AND t.tgfoid >= ${firstNormalOid})
            OR EXISTS (SELECT 1 FROM pg_constraint x WHERE x.conrelid = o.oid AND ${callsUserCode('x.oid', 'pg_constraint')})
            OR EXISTS (SELECT 1 FROM pg_attrdef x WHERE x.adrelid = o.oid AND ${callsUserCode('x.oid', 'pg_attrdef')})))
        ${version < 140_000 ? '' : 'OR EXISTS (SELECT 1 FROM pg_statistic_ext x WHERE x.stxrelid = o.oid AND x.stxexprs IS NOT NULL)'}`,
      where: "o.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND o.relpersistence <> 't'",
    },
    {
      word: 'ROUTINE',
      acl: ["'f'", 'proacl'],
      catalog: 'pg_proc',
      owner: 'proowner',
      schema: 'pronamespace',
      name: 'o.oid::regprocedure::text',
      // The constructors of a range type follow the type.
      isDependent: `EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = o.oid AND d.deptype = 'i')`,
      runsAsOwner: 'o.prosecdef',
    },
    {
      word: "CASE o.typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END",
      acl: ["'T'", 'typacl'],
      catalog: 'pg_type',
      owner: 'typowner',
      schema: 'typnamespace',
      name: 'o.typname',
      join: 'LEFT JOIN pg_class c ON c.oid = o.typrelid',
      where: `o.typtype IN ('d', 'e', 'r', 'c', 'b') AND (o.typrelid = 0 OR c.relkind = 'c')
        AND NOT EXISTS (SELECT 1 FROM pg_type e WHERE e.typarray = o.oid)`,
    },
    {
      word: 'LANGUAGE',
      acl: ["'l'", 'lanacl'],
      catalog: 'pg_language',
      owner: 'lanowner',
      name: 'o.lanname',
      where: 'o.lanpltrusted',
    },
    {
      word: 'FOREIGN DATA WRAPPER',
      acl: ["'F'", 'fdwacl'],
      catalog: 'pg_foreign_data_wrapper',
      owner: 'fdwowner',
      name: 'o.fdwname',
    },
    { word: 'SERVER', acl: ["'S'", 'srvacl'], catalog: 'pg_foreign_server', owner: 'srvowner', name: 'o.srvname' },
    {
      word: 'LARGE OBJECT',
      acl: ["'L'", 'lomacl'],
      catalog: 'pg_largeobject_metadata',
      owner: 'lomowner',
      name: 'o.oid::text',
    },
    {
      word: 'DATABASE',
      acl: ["'d'", 'datacl'],
      catalog: 'pg_database',
      owner: 'datdba',
      name: 'o.datname',
      where: 'o.datname = current_database()',
    },
    {
      word: 'TABLESPACE',
      acl: ["'t'", 'spcacl'],
      catalog: 'pg_tablespace',
      owner: 'spcowner',
      name: 'o.spcname',
      where: ofUser,
    },
    {
      word: 'COLLATION',
      catalog: 'pg_collation',
      owner: 'collowner',
      schema: 'collnamespace',
      name: 'o.collname',
      where: ofUser,
    },
    {
      word: 'CONVERSION',
      catalog: 'pg_conversion',
      owner: 'conowner',
      schema: 'connamespace',
      name: 'o.conname',
      where: ofUser,
    },
    {
      word: 'OPERATOR',
      catalog: 'pg_operator',
      owner: 'oprowner',
      schema: 'oprnamespace',
      name: "o.oprname || '(' || CASE o.oprleft WHEN 0 THEN 'NONE' ELSE format_type(o.oprleft, NULL) END || ',' || format_type(o.oprright, NULL) || ')'",
      where: `${ofUser} AND o.oprright <> 0`,
    },
    {
      word: 'OPERATOR CLASS',
      catalog: 'pg_opclass',
      owner: 'opcowner',
      schema: 'opcnamespace',
      name: 'o.opcname',
      part: 'm.amname',
      join: 'JOIN pg_am m ON m.oid = o.opcmethod',
      where: ofUser,
    },
    {
      word: 'OPERATOR FAMILY',
      catalog: 'pg_opfamily',
      owner: 'opfowner',
      schema: 'opfnamespace',
      name: 'o.opfname',
      part: 'm.amname',
      join: 'JOIN pg_am m ON m.oid = o.opfmethod',
      where: ofUser,
    },
    {
      word: 'TEXT SEARCH CONFIGURATION',
      catalog: 'pg_ts_config',
      owner: 'cfgowner',
      schema: 'cfgnamespace',
      name: 'o.cfgname',
      where: ofUser,
    },
    {
      word: 'TEXT SEARCH DICTIONARY',
      catalog: 'pg_ts_dict',
      owner: 'dictowner',
      schema: 'dictnamespace',
      name: 'o.dictname',
      where: ofUser,
    },
    {
      word: 'STATISTICS',
      catalog: 'pg_statistic_ext',
      owner: 'stxowner',
      schema: 'stxnamespace',
      name: 'o.stxname',
    },
    { word: 'PUBLICATION', catalog: 'pg_publication', owner: 'pubowner', name: 'o.pubname' },
  ];
}

/** A column has no row unless something was granted on it. */
const columnsSql = `SELECT 'COLUMN', 'c', n.nspname::text, c.relname::text, a.attname::text, c.relowner,
    CASE WHEN c.oid < ${firstNormalOid} THEN 'system'
      WHEN c.oid IN (SELECT d.objid FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.deptype = 'e') THEN 'member'
      ELSE 'user' END,
    false, ${aclSql('a.attacl')}, ${aclSql('i.initprivs')}
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_init_privs i ON i.classoid = 'pg_class'::regclass AND i.objoid = c.oid AND i.objsubid = a.attnum
  WHERE a.attacl IS NOT NULL AND NOT a.attisdropped AND c.relpersistence <> 't'`;

const parametersSql = `SELECT 'PARAMETER', 'p', '', p.parname, '', '10'::oid, 'user', false, ${aclSql('p.paracl')}, NULL
  FROM pg_parameter_acl p`;
