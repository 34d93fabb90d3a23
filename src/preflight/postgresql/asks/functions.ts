import type { Ask } from '../ask.ts';
import { listIn, textIn, textOrNone, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { where } from './overview.ts';

/** A function that only a superuser could make as it is, or that brings a locale. */
export interface MarkedFunction {
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
export const markedFunctions: Ask<readonly MarkedFunction[]> = {
  id: 'functions',
  scope: 'database',
  when: where('functions'),
  sql: () =>
    `SELECT p.oid::regprocedure AS name, pg_get_userbyid(p.proowner) AS owner, p.prosecdef, l.lanpltrusted, l.lanname, CASE WHEN l.lanname = 'c' THEN p.probin END AS library, (SELECT json_agg(s.set) FROM unnest(p.proconfig) s(set) WHERE s.set ~ '${bringsLocale}') AS locales FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.oid >= '16384' AND (p.prosecdef OR NOT l.lanpltrusted OR p.proconfig::text ~ '(lc_|timezone_abb)') AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '1255' AND d.objid = p.oid AND (d.deptype = 'e' OR d.deptype = 'i')) AND (p.prosecdef OR NOT EXISTS (SELECT FROM pg_aggregate a WHERE a.aggfnoid = p.oid))`,
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'name'),
      owner: textIn(row, 'owner'),
      securityDefiner: truthIn(row, 'prosecdef'),
      untrusted: truthIn(row, 'lanpltrusted') ? undefined : textIn(row, 'lanname'),
      library: textOrNone(row, 'library'),
      locales: listIn(row, 'locales'),
    })),
  absent: [],
  grant: grantMonitor,
};

/** A procedural language in which a function can do anything. */
export interface UntrustedLanguage {
  readonly name: string;
  /** Made without an extension, over the handler of one: a dump writes CREATE LANGUAGE alone, which means the extension of that name. */
  readonly bare: boolean;
}

/** 2612 is pg_language; what initdb has made is older than 16384. */
export const untrustedLanguages: Ask<readonly UntrustedLanguage[]> = {
  id: 'languages',
  scope: 'database',
  // A language comes with an extension, or with a handler.
  when: where('functions', 'extensions'),
  sql: () =>
    `SELECT l.lanname, NOT ${isMember('2612', 'l.oid')} AND (l.lanplcallfoid < '16384' OR ${isMember('1255', 'l.lanplcallfoid')}) AS bare FROM pg_language l WHERE l.lanispl AND NOT l.lanpltrusted`,
  decode: (rows) => rows.map((row) => ({ name: textIn(row, 'lanname'), bare: truthIn(row, 'bare') })),
  absent: [],
  grant: grantMonitor,
};

function isMember(catalogue: string, oid: string): string {
  return `EXISTS (SELECT FROM pg_depend d WHERE d.classid = '${catalogue}' AND d.objid = ${oid} AND d.deptype = 'e')`;
}
