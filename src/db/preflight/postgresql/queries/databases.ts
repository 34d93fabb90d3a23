import {
  decodeBooleanColumn,
  decodeNumberColumnOrZero,
  decodeOptionalTextColumn,
  decodeTextColumn,
} from '../../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';

export interface PostgresqlDatabase {
  readonly name: string;
  readonly allowsConnections: boolean;
  readonly template: boolean;
  /** The connection limit; -1: no limit; -2: DROP DATABASE was interrupted. */
  readonly connectionLimit: number;
  readonly encoding: string;
  readonly collate: string;
  readonly ctype: string;
  /** `c`: libc; `i`: ICU; `b`: builtin. */
  readonly provider: string;
  /** Locale of the ICU or builtin locale provider. */
  readonly locale: string | undefined;
  /** Collation version at the creation of the database, and present version of the library (since PostgreSQL 15). */
  readonly collationVersion: string | undefined;
  readonly libraryVersion: string | undefined;
  /** Whether the role has the CONNECT privilege for the database. */
  readonly mayConnect: boolean;
  /** Length of the database name in bytes. */
  readonly length: number;
}

/** All databases except template0 and template1, ordered by name. */
export const databasesQuery: PostgresqlPreflightQuery<readonly PostgresqlDatabase[]> = {
  id: 'databases',
  scope: 'server',
  sql: (version) => `
    SELECT
      datname,
      datallowconn,
      datistemplate,
      datconnlimit,
      pg_encoding_to_char(encoding) AS encoding,
      datcollate,
      datctype,
      has_database_privilege(oid, 'CONNECT') AS may_connect,
      octet_length(datname) AS length${localeColumns(version)}
    FROM pg_database
    WHERE datname NOT IN ('template0', 'template1')
    ORDER BY datname
  `,
  decode: (rows) =>
    rows.map((row) => ({
      name: decodeTextColumn(row, 'datname'),
      allowsConnections: decodeBooleanColumn(row, 'datallowconn'),
      template: decodeBooleanColumn(row, 'datistemplate'),
      connectionLimit: decodeNumberColumnOrZero(row, 'datconnlimit'),
      encoding: decodeTextColumn(row, 'encoding'),
      collate: decodeTextColumn(row, 'datcollate'),
      ctype: decodeTextColumn(row, 'datctype'),
      provider: decodeOptionalTextColumn(row, 'provider') ?? 'c',
      locale: decodeOptionalTextColumn(row, 'locale'),
      collationVersion: decodeOptionalTextColumn(row, 'collation_version'),
      libraryVersion: decodeOptionalTextColumn(row, 'library_version'),
      mayConnect: decodeBooleanColumn(row, 'may_connect'),
      length: decodeNumberColumnOrZero(row, 'length'),
    })),
  absent: [],
};

function localeColumns(version: number): string {
  if (version < 150_000) return '';
  const locale = version < 170_000 ? 'daticulocale' : 'datlocale';
  return `, datlocprovider AS provider, ${locale} AS locale, datcollversion AS collation_version, pg_database_collation_actual_version(oid) AS library_version`;
}
