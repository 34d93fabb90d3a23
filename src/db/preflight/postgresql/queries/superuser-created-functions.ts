import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean, decodeText, decodeTextArray } from '../../../../postgresql/rows.ts';
import { superuserObjectsSql } from '../../../../postgresql/superuser-objects.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';
import { isMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';

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
