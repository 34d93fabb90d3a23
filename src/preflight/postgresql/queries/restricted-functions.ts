import { catalogOid, firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import type { PostgresqlQuery } from '../query.ts';
import { whenPresent } from './database-overview.ts';
import { decodeBoolean, decodeList, decodeOptionalText, decodeText } from './decode.ts';
import { grantMonitorRole } from './grants.ts';

/** A function that only a superuser could make as it is, or that brings a locale. */
export interface RestrictedFunction {
  /** With its argument types. */
  readonly name: string;
  readonly owner: string;
  readonly securityDefiner: boolean;
  /** Its language when that is not trusted: `c`, `internal`, `plpython3u`; undefined: trusted. */
  readonly untrusted: string | undefined;
  /** The file with its code, of one in the language C: `$libdir/pgcrypto`. */
  readonly library: string | undefined;
  /** Settings that are refused where the locale, or the file, is missing: `lc_time=de_DE.UTF-8`. */
  readonly locales: readonly string[];
}

const bringsLocale = '^(lc_[a-z]+|timezone_abbreviations)=';

/**
 * Those that an extension brings are left out: it brings them on the target too; and so does a range type its constructors.
 * Anybody makes an aggregate, whose own language is internal all the same. 1255 is pg_proc.
 */
export const restrictedFunctionsQuery: PostgresqlQuery<readonly RestrictedFunction[]> = {
  id: 'functions',
  scope: 'database',
  when: whenPresent('functions'),
  sql: () => `
    SELECT
      p.oid::regprocedure AS name,
      pg_get_userbyid(p.proowner) AS owner,
      p.prosecdef,
      l.lanpltrusted,
      l.lanname,
      CASE WHEN l.lanname = 'c' THEN p.probin END AS library,
      (SELECT json_agg(s.set) FROM unnest(p.proconfig) s(set) WHERE s.set ~ '${bringsLocale}') AS locales
    FROM pg_proc p
    JOIN pg_language l ON l.oid = p.prolang
    WHERE p.oid >= '${firstNormalObjectId}'
      AND (p.prosecdef OR NOT l.lanpltrusted OR p.proconfig::text ~ '(lc_|timezone_abb)')
      AND NOT EXISTS (
        SELECT FROM pg_depend d
        WHERE d.classid = '${catalogOid.pg_proc}'
          AND d.objid = p.oid
          AND (d.deptype = 'e' OR d.deptype = 'i')
      )
      AND (p.prosecdef OR NOT EXISTS (SELECT FROM pg_aggregate a WHERE a.aggfnoid = p.oid))
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeText(row, 'name'),
      owner: decodeText(row, 'owner'),
      securityDefiner: decodeBoolean(row, 'prosecdef'),
      untrusted: decodeBoolean(row, 'lanpltrusted') ? undefined : decodeText(row, 'lanname'),
      library: decodeOptionalText(row, 'library'),
      locales: decodeList(row, 'locales'),
    })),
  absent: [],
  grant: grantMonitorRole,
};

/** A procedural language in which a function can do anything. */
export interface UntrustedLanguage {
  readonly name: string;
  /** Made without an extension, over the handler of one: a dump writes CREATE LANGUAGE alone, which means the extension of that name. */
  readonly bare: boolean;
}

/** 2612 is pg_language; what initdb has made is older than 16384. */
export const untrustedLanguagesQuery: PostgresqlQuery<readonly UntrustedLanguage[]> = {
  id: 'languages',
  scope: 'database',
  // A language comes with an extension, or with a handler.
  when: whenPresent('functions', 'extensions'),
  sql: () => `
    SELECT
      l.lanname,
      NOT ${isMember('pg_language', 'l.oid')}
        AND (l.lanplcallfoid < '${firstNormalObjectId}' OR ${isMember('pg_proc', 'l.lanplcallfoid')}) AS bare
    FROM pg_language l
    WHERE l.lanispl AND NOT l.lanpltrusted
  `,
  decode: (rows) => rows.map((row) => ({ name: decodeText(row, 'lanname'), bare: decodeBoolean(row, 'bare') })),
  absent: [],
  grant: grantMonitorRole,
};

function isMember(catalog: keyof typeof catalogOid, oid: string): string {
  return `
    EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalogOid[catalog]}' AND d.objid = ${oid} AND d.deptype = 'e')
  `;
}
