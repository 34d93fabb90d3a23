import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../../../postgresql/connection.ts';
import { PostgresqlQueryError } from '../../../postgresql/query-error.ts';
import { buildReadOnlyTransactionSql } from '../../../postgresql/search-path-safe-sql.ts';
import { getPreflightQueryValue, type PreflightQueryResults } from '../query.ts';
import {
  type AccessExclusiveCatalogLock,
  accessExclusiveCatalogLocksQuery,
  accessExclusiveCatalogLocksSql,
  decodeAccessExclusiveCatalogLocks,
  isDatabaseBlockedByLock,
} from './queries/catalog-locks.ts';
import type { PostgresqlSourceConnectOptions } from './source-connect-options.ts';
import type { DatabaseAccessResult, UnansweredPostgresqlLoginDiagnosis } from './source-facts.ts';

/** Finds out why a login to PostgreSQL received no response. The diagnosis takes at most `limit` milliseconds. */
export async function diagnoseUnansweredPostgresqlLogin(
  options: PostgresqlSourceConnectOptions,
  limit = 3000,
): Promise<UnansweredPostgresqlLoginDiagnosis> {
  const others = ['postgres', 'template1'].filter((name) => name !== options.source.dbname);
  const [answersTlsRequest, ...found] = await Promise.all([
    asksForTls(options, limit),
    ...others.map((dbname) => readCatalogLocks(options, dbname, limit)),
  ]);
  const locks = found.find((one) => one.length > 0) ?? [];
  return { answersTlsRequest, locks: locks.filter((lock) => isDatabaseBlockedByLock(lock, options.source.dbname)) };
}

/** Connects without a password, so that no password is sent to a server that was not identified. */
async function asksForTls({ source, signal }: PostgresqlSourceConnectOptions, limit: number): Promise<boolean> {
  const asked = { ...source, ssl: 'require' as const, verify: undefined, password: undefined };
  try {
    const session = await connectPostgresql(asked, { dbname: source.dbname, limit, signal });
    await session.end();
    return true;
  } catch (error) {
    if (!(error instanceof DatabaseConnectError)) throw error;
    // The connection phase is `startup` from the TLS handshake on.
    return (
      error.phase === 'startup' ||
      error.code === clientSideDatabaseErrorCodes.noTls ||
      error.code === clientSideDatabaseErrorCodes.tls
    );
  }
}

async function readCatalogLocks(
  { source, signal, onSend }: PostgresqlSourceConnectOptions,
  dbname: string,
  limit: number,
): Promise<readonly AccessExclusiveCatalogLock[]> {
  let session: PostgresqlSession | undefined;
  try {
    session = await connectPostgresql(source, { dbname, limit, signal });
    onSend(dbname, message);
    return decodeAccessExclusiveCatalogLocks((await session.query(message, limit)).flat());
  } catch (error) {
    if (error instanceof DatabaseConnectError || error instanceof PostgresqlQueryError) return [];
    throw error;
  } finally {
    await session?.end();
  }
}

const message = buildReadOnlyTransactionSql([accessExclusiveCatalogLocksSql]);

/** The locks that block logins to a database which did not respond. */
export function addLoginBlockingLocks(
  access: DatabaseAccessResult,
  name: string,
  results: PreflightQueryResults,
): DatabaseAccessResult {
  if (access.kind !== 'lost') return access;
  const locks = getPreflightQueryValue(results, accessExclusiveCatalogLocksQuery) ?? [];
  return { ...access, locks: locks.filter((lock) => isDatabaseBlockedByLock(lock, name)) };
}
