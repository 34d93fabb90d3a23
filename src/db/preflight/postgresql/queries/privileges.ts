import { catalogOids, firstNormalOid, firstSuperuserOid } from '../../../../postgresql/catalog-oids.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { decodeBoolean, decodeNumber, decodeText, decodeTextArray } from '../../../../postgresql/rows.ts';
import { superuserObjectsSql } from '../../../../postgresql/superuser-objects.ts';
import { column, columns, type PostgresqlQuery, type RowOf, rowQuery, rowsQuery } from '../query.ts';
import { isMemberSql, isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';

/** The GRANT statement that allows a role to read what only members of the monitoring roles can read. */
export function monitorGrant(user: string): string {
  return `GRANT pg_monitor, pg_read_all_settings TO ${quoteIdentifier(user)}`;
}

/**
 * The GRANT statement for a catalog object that PUBLIC can read by default, used after that privilege was revoked,
 * because the monitoring roles do not include it. undefined if the error message names no such object, or is not in
 * English.
 */
export function catalogGrant(message: string, user: string): string | undefined {
  const [, kind, name] = /^permission denied for (schema|table|view|relation) (pg_\w+)$/.exec(message) ?? [];
  if (kind === undefined || name === undefined || notPublic.has(name)) return undefined;
  const right = kind === 'schema' ? `USAGE ON SCHEMA ${name}` : `SELECT ON pg_catalog.${name}`;
  return `GRANT ${right} TO ${quoteIdentifier(user)}`;
}

/**
 * Views for which GRANT SELECT is not sufficient, because a role also needs EXECUTE on a function. The queries of these
 * views define their own GRANT statement.
 */
const notPublic: ReadonlySet<string> = new Set(['pg_file_settings', 'pg_hba_file_rules']);

/** Names of databases. */
interface SharedAccess {
  /** Databases that a role other than the first superuser owns, or in which such a role owns an object. */
  readonly owned: ReadonlySet<string>;
  /** Databases with privileges or settings of their own, or all if a role has settings. */
  readonly configured: ReadonlySet<string>;
}

/** Which databases have an entry about access in the shared catalogs: one query for all of them. */
export const sharedAccessQuery: PostgresqlQuery<SharedAccess> = {
  id: 'shared-access',
  scope: 'server',
  sql: () => `
    SELECT
      d.datname,
      d.datdba <> '${firstSuperuserOid}'
        OR EXISTS (SELECT FROM pg_shdepend s WHERE s.dbid = d.oid AND s.deptype = 'o') AS is_owned,
      d.datacl IS NOT NULL
        OR EXISTS (SELECT FROM pg_db_role_setting s WHERE s.setdatabase IN (d.oid, '0')) AS is_configured
    FROM pg_database d
  `,
  decode: (rows) => {
    const names = (flag: string) =>
      new Set(rows.filter((row) => decodeBoolean(row, flag)).map((row) => decodeText(row, 'datname')));
    return { owned: names('is_owned'), configured: names('is_configured') };
  },
  absent: { owned: new Set(), configured: new Set() },
};

/** The maximum number of large objects that are counted; more would not change the fix. */
export const largeObjectLimit = 100_000;

export const largeObjectsQuery = rowQuery({
  id: 'large-objects',
  scope: 'database',
  when: featureCondition('large-objects'),
  sql: () => `
    SELECT count(*) AS objects
    FROM (SELECT FROM pg_largeobject_metadata LIMIT ${largeObjectLimit + 1}) o
  `,
  row: column.number('objects'),
});

/**
 * What creates large objects, or contains their ids: functions of users that call a function of large objects, and
 * columns of the type lo, whose extension has a trigger that removes them. Functions of the extension are functions of
 * users for `featureCondition`.
 */
export const largeObjectUsesQuery = rowsQuery({
  id: 'large-object-uses',
  scope: 'database',
  when: featureCondition('functions'),
  sql: (version) => `
    SELECT 'function ' || p.oid::regprocedure AS name
    FROM pg_proc p
    JOIN pg_language l ON l.oid = p.prolang
    WHERE p.oid >= '${firstNormalOid}'
      AND l.lanname NOT IN ('c', 'internal')
      AND ${isNotMemberSql('pg_proc', 'p.oid')}
      AND ${version < 140_000 ? 'p.prosrc' : 'coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)'} ~* '\\m(lo_from_bytea|lo_creat|lo_create|lo_import|lo_put|lo_open|lowrite)\\M'
    UNION ALL
    SELECT 'column ' || a.attrelid::regclass || '.' || quote_ident(a.attname)
    FROM pg_type t
    JOIN pg_attribute a ON a.atttypid = t.oid AND NOT a.attisdropped
    JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
    WHERE t.typname = 'lo' AND ${isMemberSql('pg_type', 't.oid')}
    ORDER BY 1
  `,
  row: column.text('name'),
});

/** Object ids of large objects that the role cannot read; pg_read_all_data does not include large objects. */
export const unreadableLargeObjectsQuery = rowsQuery({
  id: 'unreadable-large-objects',
  scope: 'database',
  when: featureCondition('large-objects'),
  sql: (_version, { superuser }) =>
    superuser
      ? undefined
      : `
        SELECT m.oid
        FROM pg_largeobject_metadata m
        WHERE current_setting('lo_compat_privileges') = 'off'
          AND NOT pg_has_role(m.lomowner, 'USAGE')
          AND NOT EXISTS (
            SELECT FROM aclexplode(m.lomacl) p
            WHERE p.privilege_type = 'SELECT'
              AND (p.grantee = 0 OR pg_has_role(p.grantee, 'USAGE'))
          )
        ORDER BY m.oid
        LIMIT ${largeObjectLimit}
      `,
  row: column.text('oid'),
});

/** An object that pg_dump reads, but that the role may not read. */
export interface UnreadableObject {
  readonly kind: 'table' | 'sequence';
  readonly name: string;
  /** Quoted. */
  readonly schema: string;
  /** Whether the role has USAGE on the schema of the object. */
  readonly usage: boolean;
  /** Whether the role has SELECT on the object. */
  readonly select: boolean;
}

/**
 * At most 1,000 objects are listed since PostgreSQL 14, in which one grant (pg_read_all_data) allows the role to read
 * all of them.
 */
export interface UnreadableObjects {
  readonly objects: readonly UnreadableObject[];
  readonly tables: number;
  readonly sequences: number;
}

/**
 * pg_dump locks every table and reads the rows of tables and sequences. Of materialized views and foreign tables
 * pg_dump reads only the definition, and of extensions only the tables that they declare as configuration.
 */
export const unreadableObjectsQuery: PostgresqlQuery<UnreadableObjects> = {
  id: 'unreadable-objects',
  scope: 'database',
  sql: (version, { superuser }) =>
    superuser
      ? undefined
      : `
        SELECT
          c.relkind = 'S' AS sequence,
          count(*) FILTER (WHERE c.relkind <> 'S') OVER () AS tables,
          count(*) FILTER (WHERE c.relkind = 'S') OVER () AS sequences,
          c.oid::regclass AS name,
          c.relnamespace::regnamespace AS schema,
          has_schema_privilege(c.relnamespace, 'USAGE') AS usage,
          ${mayRead} AS "select"
        FROM pg_class c
        WHERE c.oid >= '${firstNormalOid}'
          AND c.relkind IN ('r', 'p', 'S')
          AND c.relpersistence <> 't'
          AND NOT (${mayRead} AND has_schema_privilege(c.relnamespace, 'USAGE'))
          AND NOT EXISTS (
            SELECT FROM pg_depend d
            JOIN pg_extension e ON e.oid = d.refobjid
            WHERE d.classid = '${catalogOids.pg_class}'
              AND d.objid = c.oid
              AND d.refclassid = '${catalogOids.pg_extension}'
              AND d.deptype = 'e'
              AND (e.extconfig IS NULL OR c.oid <> ALL (e.extconfig))
          )${version < 140_000 ? '' : ' LIMIT 1000'}
      `,
  decode: (rows) => ({
    objects: rows.map((row) => ({
      kind: decodeBoolean(row, 'sequence') ? 'sequence' : 'table',
      name: decodeText(row, 'name'),
      schema: decodeText(row, 'schema'),
      usage: decodeBoolean(row, 'usage'),
      select: decodeBoolean(row, 'select'),
    })),
    tables: decodeNumber(rows[0] ?? {}, 'tables'),
    sequences: decodeNumber(rows[0] ?? {}, 'sequences'),
  }),
  absent: { objects: [], tables: 0, sequences: 0 },
};

const mayRead = `
  CASE c.relkind
    WHEN 'S' THEN has_sequence_privilege(c.oid, 'SELECT')
    ELSE has_table_privilege(c.oid, 'SELECT')
  END
`;

/** A function that only a superuser can create without a change, or that sets a locale. */
export type SuperuserFunction = RowOf<typeof superuserFunctionsQuery>;

const bringsLocale = '^(lc_[a-z]+|timezone_abbreviations)=';

/**
 * FROM and WHERE for settings in the SET clauses of a function (`p`) that only a superuser may use: those with the
 * context superuser, and custom settings, which the server does not know before their library is loaded. Source:
 * validate_option_array_item() in guc.c.
 */
const superuserSettings = `
  unnest(p.proconfig) s(set)
  LEFT JOIN pg_settings g ON g.name = split_part(s.set, '=', 1)
  WHERE g.context = 'superuser' OR strpos(split_part(s.set, '=', 1), '.') > 0
`;

/**
 * Functions of extensions and constructors of range types are left out, because they are created with the extension or
 * type. An aggregate function has the language internal, but creating it does not need a superuser.
 */
export const superuserFunctionsQuery = rowsQuery({
  id: 'restricted-functions',
  scope: 'database',
  when: featureCondition('functions'),
  sql: () => `
    SELECT
      p.oid::regprocedure AS name,
      pg_get_userbyid(p.proowner) AS owner,
      p.prosecdef,
      l.lanpltrusted,
      l.lanname,
      CASE WHEN l.lanname = 'c' THEN p.probin END AS library,
      (SELECT array_agg(s.set) FROM unnest(p.proconfig) s(set) WHERE s.set ~ '${bringsLocale}') AS locales,
      (
        SELECT array_agg(s.set) FROM ${superuserSettings}
      ) AS settings
    FROM pg_proc p
    JOIN pg_language l ON l.oid = p.prolang
    WHERE p.oid >= '${firstNormalOid}'
      AND (
        p.prosecdef
        OR NOT l.lanpltrusted
        OR p.proconfig::text ~ '(lc_|timezone_abb)'
        OR p.proconfig IS NOT NULL AND EXISTS (SELECT FROM ${superuserSettings})
      )
      AND NOT EXISTS (
        SELECT FROM pg_depend d
        WHERE d.classid = '${catalogOids.pg_proc}'
          AND d.objid = p.oid
          AND (d.deptype = 'e' OR d.deptype = 'i')
      )
      AND (p.prosecdef OR NOT EXISTS (SELECT FROM pg_aggregate a WHERE a.aggfnoid = p.oid))
  `,
  row: columns({
    /** With argument types. */
    name: column.text('name'),
    owner: column.text('owner'),
    securityDefiner: column.boolean('prosecdef'),
    /**
     * The language of the function, if it is untrusted: `c`, `internal`, `plpython3u`; undefined for a trusted language.
     */
    untrusted: (row) => (decodeBoolean(row, 'lanpltrusted') ? undefined : decodeText(row, 'lanname')),
    /** The library of a function in C: `$libdir/pgcrypto`. */
    library: column.optionalText('library'),
    /** SET clauses of the function that fail on a server without the locale or the file: `lc_time=de_DE.UTF-8`. */
    locales: column.texts('locales'),
    /**
     * Settings in SET clauses of the function that only a superuser can change, including custom settings such as
     * `my.own`.
     */
    superuserSettings: (row) =>
      decodeTextArray(row, 'settings').map((setting) => setting.slice(0, setting.indexOf('='))),
  }),
});

/** A procedural language that is not trusted. */
export const languagesQuery = rowsQuery({
  id: 'untrusted-languages',
  scope: 'database',
  when: featureCondition('superuser-objects'),
  sql: () => `
    SELECT
      l.lanname,
      NOT ${isMemberSql('pg_language', 'l.oid')}
        AND (l.lanplcallfoid < '${firstNormalOid}' OR ${isMemberSql('pg_proc', 'l.lanplcallfoid')}) AS bare
    FROM pg_language l
    WHERE l.lanispl AND NOT l.lanpltrusted
  `,
  row: columns({
    name: column.text('lanname'),
    /**
     * Whether the language was created without an extension, but with the handler function of an extension. A dump
     * contains only CREATE LANGUAGE for such a language, which on the target creates the extension with the same name.
     */
    bare: column.boolean('bare'),
  }),
});

/** Objects, other than functions in an untrusted language, that only a superuser can create; names are not quoted. */
export const superuserObjectsQuery = rowsQuery({
  id: 'superuser-objects',
  scope: 'database',
  when: featureCondition('functions', 'superuser-objects'),
  sql: (version) => `SELECT name FROM (${superuserObjectsSql(version)}) AS objects WHERE NOT is_code`,
  row: column.text('name'),
});
