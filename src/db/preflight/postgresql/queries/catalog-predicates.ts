import {
  argumentFunctions,
  byteOrderCollations,
  catalogOids,
  clockFunctions,
  defaultCollation,
  firstNormalOid,
  firstUnpinnedObjectId,
  inputFunctions,
  letterFunctionOidPattern,
  mutableFunctions,
  releaseFunctions,
  settingFunctions,
  tablespaceOids,
  textOrderFunctions,
  timeZoneFunctions,
  typeOids,
} from '../../../../postgresql/catalog-oids.ts';
import { legacyZonePattern } from '../function-body/time-zone.ts';

/**
 * Rows of pg_depend (alias `d`) by which an object calls a function of a user when a row is written or a change is
 * applied: constraints, indexes and, before PostgreSQL 15, generated columns (pg_class), defaults of generated columns
 * (pg_attrdef), operators used in any of these, operator classes (pg_amproc) and range types (pg_type) of indexes,
 * triggers that fire where changes are applied, event triggers, and materialized views, which are refreshed. The condition does not exclude members of
 * extensions.
 */
export const userDependencySql = `
  d.refclassid = '${catalogOids.pg_proc}'
    AND d.refobjid >= '${firstNormalOid}'
    AND (
      d.classid = '${catalogOids.pg_constraint}'
        OR d.classid = '${catalogOids.pg_class}'
        OR d.classid = '${catalogOids.pg_attrdef}'
        OR d.classid = '${catalogOids.pg_operator}'
        OR d.classid = '${catalogOids.pg_amproc}'
        OR d.classid = '${catalogOids.pg_type}'
        OR d.classid = '${catalogOids.pg_event_trigger}'
        OR (
          d.classid = '${catalogOids.pg_rewrite}'
            AND EXISTS (
              SELECT FROM pg_rewrite w
              JOIN pg_class v ON v.oid = w.ev_class
              WHERE w.oid = d.objid
                AND v.relkind = 'm'
            )
        )
        OR (
          d.classid = '${catalogOids.pg_trigger}'
            AND EXISTS (
              SELECT FROM pg_trigger t
              WHERE t.oid = d.objid
                AND (t.tgenabled = 'A' OR t.tgenabled = 'R')
            )
        )
    )
`;

/**
 * Condition for a permanent table (alias `c`) that a user created in a system schema: a publication FOR ALL TABLES
 * includes such a table, a dump does not. Temporary tables are in a system schema too, but have another persistence.
 */
export const misplacedTableSql = `
  c.oid >= '${firstNormalOid}'
    AND (c.relkind = 'r' OR c.relkind = 'p')
    AND c.relpersistence = 'p'
    AND c.relnamespace IN (
      SELECT s.oid
      FROM pg_namespace s
      WHERE s.nspname = 'information_schema'
        OR left(s.nspname::text, 3) = 'pg_'
    )
`;

/** CURRENT_DATE and similar functions are node trees of the type SQLValueFunction. */
export const clockPattern = `:funcid (${clockFunctions}) |SQLVALUEFUNCTION`;

/**
 * SQL condition: the expression depends on the session or the server. Of the functions of PostgreSQL that are not IMMUTABLE
 * only those are left out that are known to depend on arguments, on settings or on the clock. The numbers after `:op` are
 * values of enum SQLValueFunctionOp: CURRENT_USER and similar functions. 1181 is the age of a transaction id; the text of
 * pg_typeof (1619) has a schema if the search_path has not.
 */
export const dependsOnSessionSql = (tree: string): string => `
  (
    ${tree}::text ~ 'SQLVALUEFUNCTION :op (9|1[0-24]) |COERCEVIAIO :arg [{]FUNCEXPR :funcid 1619 '
      OR EXISTS (
        SELECT FROM regexp_matches(${tree}::text, 'funcid (\\d+) ', 'g') m (oids)
        JOIN pg_proc p ON p.oid = m.oids[1]::oid
        WHERE p.oid < '${firstNormalOid}'
          AND p.provolatile <> 'i'
          AND p.proname <> ALL ('{${argumentFunctions.split(' ').join(',')}}')
          AND m.oids[1] !~ '^(?!1181$)(${clockFunctions}|${mutableFunctions})$'
      )
  )
`;

/**
 * COERCEVIAIO converts a value through its text form, which depends on settings such as DateStyle. LOCALTIME and
 * LOCALTIMESTAMP (5 to 8) are the time in TimeZone.
 */
export const settingsPattern = `funcid (${settingFunctions}) |COERCEVIAIO|SQLVALUEFUNCTION :op [5-8] `;

/**
 * Matches the system column tableoid in an expression, or a constant with an object id (`'t'::regclass`). PostgreSQL 12
 * removed the system column oid, so the attribute number of tableoid changed from -7 to -6.
 */
export function oidPattern(version: number): string {
  return `:varattno -${version < 120_000 ? 7 : 6} |:consttype (24|220[2-6]|4089|4096|4191) `;
}

/**
 * What a node tree sees of a value that its output function does not write, so that it sees something else on the target.
 * `declaration`: the text of an XML value, which may have a declaration; a cast to text keeps all its bytes. `number`: the
 * object id in a name such as regtype, by an explicit cast, or of a label of an enum, by its hash.
 */
export function hiddenPartSql(tree: string): string {
  const of = (types: string) =>
    `(VAR [^{}]*:vartype|COERCETODOMAINVALUE :typeId|COALESCE(EXPR)? :coalescetype|CASE(EXPR)? :casetype|FIELDSELECT :arg [{]VAR [^{}]*[}] :fieldnum [0-9]+ :resulttype) ${types} `;
  const xml = of(`${typeOids.xml}`);
  const named = of('(24|220[2-6]|3734|3769|4089|4096|4191)');
  const enums = `
    SELECT string_agg(concat_ws('|', e.oid, nullif(e.typarray, '0')), '|')
    FROM pg_type e
    WHERE e.typtype = 'e'
  `;
  return `
    CASE
      WHEN ${tree}::text ~ 'RELABELTYPE :arg [{]${xml}|XMLEXPR :op 6 [^{}]*:args [(][{]${xml}' THEN 'declaration'
      WHEN ${tree}::text ~ 'RELABELTYPE :arg [{]${named}[^{}]*[}] [^{}]*:relabelformat 1 |funcid (1288|453|445) [^{}]*:args [(][{](RELABELTYPE :arg [{])?${named}|funcid (3414|3515) ' THEN 'number'
      WHEN ${tree}::text ~ ' :funcid (626|782|3417|3902|427[89]|619[23]) '
        AND ${tree}::text ~ (':vartype (' || (${enums}) || ') ') THEN 'number'
    END
  `;
}

/** SQL condition: the expression calls a function that takes the name of a time zone. */
export function takesZoneSql(expression: string): string {
  return `${expression}::text ~ ':funcid (${timeZoneFunctions}) '`;
}

/** SQL condition for a function (alias `p`) of a user whose text or settings may name a time zone of IANA's `backward`. */
export const namesZoneSql = (version: number): string => `
  p.oid >= '${firstNormalOid}'
    AND (
      p.prosrc ~* '${legacyZonePattern}'
        OR p.proconfig::text ~* 'timezone='${version < 140_000 ? '' : ` OR ${takesZoneSql('p.prosqlbody')}`}
    )
`;

/** Condition for a CHECK constraint whose expression reads the clock. */
export const clockCheckSql = `contype = 'c' AND conbin::text ~ '${clockPattern}'`;

/**
 * Condition for a CHECK constraint (alias `k`) whose expression depends on the session (role, settings, search_path) or
 * on the server.
 */
export const sessionCheckSql = `k.contype = 'c' AND (${dependsOnSessionSql('k.conbin')} OR k.conbin::text ~ 'funcid (${inputFunctions}) ')`;

/**
 * The patterns are one array constant, which is parsed once; each element of an IN list would be parsed and compared
 * again for every row.
 */
export function isOneOfSql(types: readonly number[], column: string): string {
  return `${column} = ANY ('{${types.join(',')}}')`;
}

/**
 * Condition for a CHECK constraint of a user (alias `k`) whose expression depends on settings such as DateStyle: it calls a
 * function that depends on settings, or converts a value to or from text.
 */
export const settingsCheckSql = `k.oid >= '${firstNormalOid}' AND k.contype = 'c' AND k.conbin::text ~ '${settingsPattern}'`;

/**
 * SQL condition: the relation (alias `c`) is not an ordinary table or index: it is partitioned, foreign, a materialized
 * view, temporary or unlogged, has row-level security, or is in a tablespace other than pg_default.
 */
export const uncommonRelationSql = `
  (
    c.relkind = 'p'
      OR c.relkind = 'm'
      OR c.relkind = 'f'
      OR c.relpersistence <> 'p'
      OR c.relrowsecurity
      OR (c.reltablespace <> '0' AND c.reltablespace <> '${tablespaceOids.pg_default}')
  )
`;

/**
 * Relations whose size cannot be measured without waiting for a lock. Queries use this list in the condition of a CASE,
 * because PostgreSQL evaluates the condition before it measures the size in the result.
 */
export const lockedRelationsSql = `
  (
    SELECT relation
    FROM pg_locks
    WHERE mode = 'AccessExclusiveLock'
      AND relation IS NOT NULL
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  )
`;

/** Condition: the table `c` has a primary key that serves as replica identity. */
export const primaryKeySql = `
  EXISTS (
    SELECT FROM pg_index i
    WHERE i.indrelid = c.oid
      AND i.indisprimary
      AND i.indisvalid
      AND i.indimmediate
  )
`;

/** Condition: an extension created the object; the extension creates it on the target as well. */
export function isMemberSql(catalog: keyof typeof catalogOids, oid: string): string {
  return `
    EXISTS (
      SELECT FROM pg_depend member
      WHERE member.classid = '${catalogOids[catalog]}'
        AND member.objid = ${oid}
        AND member.deptype = 'e'
    )
  `;
}

export function isNotMemberSql(catalog: keyof typeof catalogOids, oid: string): string {
  return `NOT ${isMemberSql(catalog, oid)}`;
}

/** Condition: the results of the node tree can differ between releases, or with settings: it converts to or from text. */
export function serverDependenceSql(tree: string): string {
  return `coalesce(${tree}::text ~ 'funcid (${releaseFunctions}) |COERCEVIAIO', false)`;
}

/** The types of GREATEST and LEAST, which call no function of the catalogs. */
const textTypePattern = [typeOids.text, typeOids.bpchar, 1043, typeOids.name].join('|');

/**
 * Condition: the node tree compares texts by the order of a collation other than C, or, for a database with another
 * default collation, by that one (object id 100).
 */
export function textOrderSql(tree: string, version: number): string {
  const compared = `${tree}::text ~ '(opfuncid (${textOrderFunctions})|MINMAX(EXPR)? :minmaxtype (${textTypePattern})) [^{}]*:inputcollid (?!(${byteOrderCollations.join('|')}) )`;
  return `coalesce(${compared}[0-9]+ ' AND (${compared}(?!${defaultCollation} )[0-9]+ ' OR ${hasLocaleOrderSql(version)}), false)`;
}

/** Condition: the node tree uses letter case or character classes of a collation other than C. */
export function letterDependenceSql(tree: string, version: number): string {
  const used = `${tree}::text ~ 'funcid (${letterFunctionOidPattern}) [^{}]*:inputcollid (?!(${byteOrderCollations.join('|')}) )`;
  const builtin = version < 170_000 ? '' : " WHEN 'b' THEN datlocale <> 'C'";
  const isOfLocale = "datctype::text !~* '^(c|posix)$'";
  const condition =
    version < 150_000 ? isOfLocale : `CASE datlocprovider WHEN 'c' THEN ${isOfLocale}${builtin} ELSE true END`;
  const isDefault = `(SELECT ${condition} FROM pg_database WHERE datname = current_database())`;
  return `coalesce(${used}[0-9]+ ' AND (${used}(?!${defaultCollation} )[0-9]+ ' OR ${isDefault}), false)`;
}

/** Condition: a list of collations has one whose order is not that of the bytes. */
export function collationOrderSql(collations: string, version: number): string {
  return `
    EXISTS (
      SELECT FROM unnest(${collations}) o (oid)
      WHERE o.oid <> '0'
        AND o.oid NOT IN (${byteOrderCollations.map((oid) => `'${oid}'`).join(', ')})
        AND (o.oid <> '${defaultCollation}' OR ${hasLocaleOrderSql(version)})
    )
  `;
}

/** Condition: the default collation of the database does not sort by bytes. */
function hasLocaleOrderSql(version: number): string {
  const provider = version < 150_000 ? '' : " OR datlocprovider = 'i'";
  return `
    (
      SELECT datcollate::text !~* '^(c|posix)([.]utf-?8)?$'${provider}
      FROM pg_database
      WHERE datname = current_database()
    )
  `;
}

/**
 * Words that a release made a keyword which needs quotation marks; a server quotes only the words of its own release.
 * Reserved ones need them everywhere, the others as the name of an argument and as the schema of a type.
 */
export const laterKeywords: readonly {
  readonly since: number;
  readonly isReserved?: true;
  readonly words: readonly string[];
}[] = [
  { since: 13, words: ['normalize'] },
  { since: 16, words: ['json_array', 'json_arrayagg', 'json_object', 'json_objectagg'] },
  { since: 16, isReserved: true, words: ['system_user'] },
  {
    since: 17,
    words: [
      ...['json', 'json_exists', 'json_query', 'json_scalar', 'json_serialize', 'json_table', 'json_value'],
      'merge_action',
    ],
  },
];

/** Condition: a column, a relation or an argument has one of the names. */
export function isNamedSql(words: readonly string[]): string {
  const list = `'{${words.join(',')}}'`;
  return `
    EXISTS (SELECT FROM pg_attribute WHERE attrelid >= '${firstNormalOid}' AND attname = ANY (${list}))
      OR EXISTS (SELECT FROM pg_class WHERE relname = ANY (${list}))
      OR EXISTS (SELECT FROM pg_proc WHERE oid >= '${firstNormalOid}' AND proargnames && ${list})
  `;
}

/**
 * Condition: the row of a cast (alias `c`) of PostgreSQL itself was changed. Bootstrap and VACUUM FREEZE write the
 * transactions 1 and 2.
 */
export const isChangedCastSql = `c.oid < '${firstUnpinnedObjectId}' AND c.xmin::text::bigint > 2`;

/** What a row of pg_proc (alias `p`) is, as text. */
export function functionKindSql(version: number): string {
  if (version < 110_000) return "CASE WHEN p.proisagg THEN 'aggregate' ELSE 'function' END";
  return "CASE p.prokind WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'function' END";
}

/**
 * Condition: the definition with this node tree may have letters other than those of ASCII: in a name, or as bytes of a
 * constant, which are negative where char is signed. PostgreSQL locks all relations of a definition until the end of the
 * transaction when it writes it out, so the condition is tested first.
 */
export function mayHaveOtherLettersSql(tree: string): string {
  return `${tree}::text ~ '[^ -~[:space:]]|[[][^]]* (-[0-9]|12[89]|1[3-9][0-9]|2[0-9][0-9])'`;
}
