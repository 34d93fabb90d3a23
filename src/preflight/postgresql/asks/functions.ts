import type { Ask } from '../ask.ts';
import { textIn, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';
import { type Overview, overview } from './overview.ts';

/** A function that only a superuser could make as it is. */
export interface MarkedFunction {
  /** With its argument types. */
  readonly name: string;
  readonly owner: string;
  readonly securityDefiner: boolean;
  /** Its language when that is not trusted: `c`, `internal`, `plpython3u`; undefined: trusted. */
  readonly untrusted: string | undefined;
}

/** Those that an extension brings are left out: it brings them on the target too. 1255 is pg_proc. */
export const markedFunctions: Ask<readonly MarkedFunction[]> = {
  id: 'functions',
  scope: 'database',
  when: (known) => known(overview)?.functions ?? true,
  sql: () =>
    "SELECT p.oid::regprocedure AS name, pg_get_userbyid(p.proowner) AS owner, p.prosecdef, l.lanpltrusted, l.lanname FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.oid >= '16384' AND (p.prosecdef OR NOT l.lanpltrusted) AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '1255' AND d.objid = p.oid AND d.deptype = 'e')",
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'name'),
      owner: textIn(row, 'owner'),
      securityDefiner: truthIn(row, 'prosecdef'),
      untrusted: truthIn(row, 'lanpltrusted') ? undefined : textIn(row, 'lanname'),
    })),
  absent: [],
  grant: grantMonitor,
};

/** Names of procedural languages in which a function can do anything. */
export const untrustedLanguages: Ask<readonly string[]> = {
  id: 'languages',
  scope: 'database',
  when: (known) => hasLanguage(known(overview)),
  sql: () => 'SELECT lanname FROM pg_language WHERE lanispl AND NOT lanpltrusted',
  decode: (rows) => rows.map((row) => textIn(row, 'lanname')),
  absent: [],
  grant: grantMonitor,
};

/** A language comes with an extension, or with a handler. */
function hasLanguage(seen: Overview | undefined): boolean {
  return seen === undefined || seen.functions || seen.extensions;
}
