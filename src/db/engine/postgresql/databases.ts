import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import type { PostgresqlRow } from '../../../postgresql/rows.ts';
import type { SafeSession } from '../../../postgresql/search-path-safe-session.ts';
import { sqlStateOf } from '../error.ts';
import { lastRows, singleValue } from './session.ts';

export interface DatabaseDefinition {
  readonly oid: string;
  readonly name: string;
  readonly encoding: string;
  readonly collate: string;
  readonly ctype: string;
  /** `pg_database.datlocprovider`: b (builtin), c (libc) or i (ICU). */
  readonly provider: string;
  readonly locale: string | null;
  /** ICU collation rules (PostgreSQL 16 and later). */
  readonly rules: string | null;
}

/** All databases of the source except templates and ignored databases. */
export async function listSourceDatabases(
  session: SafeSession,
  ignored: readonly string[],
): Promise<readonly DatabaseDefinition[]> {
  const rows = await lastRows(
    session,
    "SELECT * FROM pg_database WHERE NOT datistemplate AND datname NOT IN ('template0', 'template1') ORDER BY datname",
  );
  const encodings = new Map(
    (await lastRows(session, 'SELECT DISTINCT encoding, pg_encoding_to_char(encoding) AS name FROM pg_database')).map(
      (row) => [row.encoding, row.name ?? 'UTF8'] as const,
    ),
  );
  return rows.map((row) => parseDefinition(row, encodings)).filter(({ name }) => !ignored.includes(name));
}

/** Column names of pg_database depend on the release: daticulocale in 15 and 16, datlocale from 17 on. */
function parseDefinition(
  row: PostgresqlRow,
  encodings: ReadonlyMap<string | null | undefined, string>,
): DatabaseDefinition {
  return {
    oid: row.oid ?? '',
    name: row.datname ?? '',
    encoding: encodings.get(row.encoding) ?? 'UTF8',
    collate: row.datcollate ?? 'C',
    ctype: row.datctype ?? 'C',
    provider: row.datlocprovider ?? 'c',
    locale: row.datlocale ?? row.daticulocale ?? null,
    rules: row.daticurules ?? null,
  };
}

/**
 * Creates the database on the target if it does not exist.
 * @param session a session in any other database of the target
 * @returns warnings about properties that differ from the source
 */
export async function createDatabase(session: SafeSession, database: DatabaseDefinition): Promise<readonly string[]> {
  const existing = await singleValue(
    session,
    `SELECT 1 FROM pg_database WHERE datname = ${quoteLiteral(database.name)}`,
  );
  if (existing !== undefined) return [];
  const command = `CREATE DATABASE ${quoteIdentifier(database.name)} TEMPLATE template0 ENCODING ${quoteLiteral(database.encoding)}`;
  const release = Number(await singleValue(session, 'SHOW server_version_num')) / 10_000;
  try {
    await session.query(`${command} ${localeClause(database, release)}`, createDatabaseTimeout);
    return [];
  } catch (error) {
    if (!unknownLocaleCodes.has(sqlStateOf(error) ?? '')) throw error;
  }
  await session.query(`${command} LC_COLLATE 'C' LC_CTYPE 'C'${libcProviderClause(release)}`, createDatabaseTimeout);
  return [`the target does not have the locale ${database.locale ?? database.collate}: the database uses the locale C`];
}

const createDatabaseTimeout = 300_000;

/**
 * SQLSTATEs of a locale that the target does not have: wrong_object_type, invalid_parameter_value, undefined_object,
 * feature_not_supported.
 */
const unknownLocaleCodes: ReadonlySet<string> = new Set(['42809', '22023', '42704', '0A000']);

function localeClause({ collate, ctype, provider, locale, rules }: DatabaseDefinition, release: number): string {
  const clause = `LC_COLLATE ${quoteLiteral(collate)} LC_CTYPE ${quoteLiteral(ctype)}`;
  if (locale === null || provider === 'c') return `${clause}${libcProviderClause(release)}`;
  if (provider !== 'i') return `${clause} LOCALE_PROVIDER builtin BUILTIN_LOCALE ${quoteLiteral(locale)}`;
  const rulesClause = rules === null ? '' : ` ICU_RULES ${quoteLiteral(rules)}`;
  return `${clause} LOCALE_PROVIDER icu ICU_LOCALE ${quoteLiteral(locale)}${rulesClause}`;
}

/**
 * The locale provider is given explicitly from PostgreSQL 15 on, because template0 of the target may have another
 * provider, which the new database would inherit.
 */
function libcProviderClause(release: number): string {
  return release >= 15 ? ' LOCALE_PROVIDER libc' : '';
}

/** Names of at most four tables of users in the target database, without tables of extensions. */
export const firstTablesSql = `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
     AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
     ORDER BY 1 LIMIT 4`;

export async function firstTables(session: SafeSession): Promise<readonly string[]> {
  return (await lastRows(session, firstTablesSql)).map(({ name }) => name ?? '');
}
