import type { Ask } from '../ask.ts';
import { numberIn, textIn, textOrNone, truthIn } from './decode.ts';
import { grantMonitor } from './grants.ts';

export interface Database {
  readonly name: string;
  readonly allowsConnections: boolean;
  readonly template: boolean;
  /** -1: no limit; -2: half dropped. */
  readonly connectionLimit: number;
  readonly encoding: string;
  readonly collate: string;
  readonly ctype: string;
  /** `c` libc, `i` ICU, `b` built in. */
  readonly provider: string;
  /** Of ICU or the built-in provider. */
  readonly locale: string | undefined;
  /** Version of the collation when the database was made, and of the library now (15 and newer). */
  readonly collationVersion: string | undefined;
  readonly libraryVersion: string | undefined;
  /** The role may connect. */
  readonly mayConnect: boolean;
  /** Bytes of the name. */
  readonly length: number;
  /** The name needs no quotes. */
  readonly plain: boolean;
}

/** Every database but template0 and template1, by name. */
export const databases: Ask<readonly Database[]> = {
  id: 'databases',
  scope: 'server',
  sql: (version) =>
    `SELECT datname, datallowconn, datistemplate, datconnlimit, pg_encoding_to_char(encoding) AS encoding, datcollate, datctype, has_database_privilege(oid, 'CONNECT') AS may_connect, octet_length(datname) AS length, datname ~ '^[a-z_][a-z0-9_]*$' AS plain${localeColumns(version)} FROM pg_database WHERE datname NOT IN ('template0', 'template1') ORDER BY datname`,
  decode: (rows) =>
    rows.map((row) => ({
      name: textIn(row, 'datname'),
      allowsConnections: truthIn(row, 'datallowconn'),
      template: truthIn(row, 'datistemplate'),
      connectionLimit: numberIn(row, 'datconnlimit'),
      encoding: textIn(row, 'encoding'),
      collate: textIn(row, 'datcollate'),
      ctype: textIn(row, 'datctype'),
      provider: textOrNone(row, 'provider') ?? 'c',
      locale: textOrNone(row, 'locale'),
      collationVersion: textOrNone(row, 'collation_version'),
      libraryVersion: textOrNone(row, 'library_version'),
      mayConnect: truthIn(row, 'may_connect'),
      length: numberIn(row, 'length'),
      plain: truthIn(row, 'plain'),
    })),
  absent: [],
  grant: grantMonitor,
};

function localeColumns(version: number): string {
  if (version < 150_000) return '';
  const locale = version < 170_000 ? 'daticulocale' : 'datlocale';
  return `, datlocprovider AS provider, ${locale} AS locale, datcollversion AS collation_version, pg_database_collation_actual_version(oid) AS library_version`;
}
