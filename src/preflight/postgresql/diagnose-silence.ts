import { ConnectError, connectErrorCodes } from '../../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../../postgresql/connection.ts';
import { readOnlyTransaction } from '../../postgresql/pinned-message.ts';
import { QueryError } from '../../postgresql/query-error.ts';
import { knownQueryValue, type QueryResults } from '../query.ts';
import {
  type CatalogLock,
  catalogLocksQuery,
  catalogLocksSql,
  decodeCatalogLocks,
  locksDatabase,
} from './queries/catalog-locks.ts';
import type { SourceConnectOptions } from './source-connect-options.ts';
import type { DatabaseAccess, LoginSilence } from './source-facts.ts';

/** Finds out why a login to PostgreSQL received no response. The diagnosis takes at most `limit` milliseconds. */
export async function diagnoseSilence(options: SourceConnectOptions, limit = 3000): Promise<LoginSilence> {
  const others = ['postgres', 'template1'].filter((name) => name !== options.source.dbname);
  const [answersTlsRequest, ...found] = await Promise.all([
    asksForTls(options, limit),
    ...others.map((dbname) => readCatalogLocks(options, dbname, limit)),
  ]);
  const locks = found.find((one) => one.length > 0) ?? [];
  return { answersTlsRequest, locks: locks.filter((lock) => locksDatabase(lock, options.source.dbname)) };
}

/** Connects without a password, so that no password is sent to a server that was not identified. */
async function asksForTls({ source, signal }: SourceConnectOptions, limit: number): Promise<boolean> {
  const asked = { ...source, ssl: 'require' as const, verify: undefined, password: undefined };
  try {
    const session = await connectPostgresql(asked, { dbname: source.dbname, limit, signal });
    await session.end();
    return true;
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    // The connection phase is `startup` from the TLS handshake on.
    return error.phase === 'startup' || error.code === connectErrorCodes.noTls || error.code === connectErrorCodes.tls;
  }
}

async function readCatalogLocks(
  { source, signal, onSend }: SourceConnectOptions,
  dbname: string,
  limit: number,
): Promise<readonly CatalogLock[]> {
  let session: PostgresqlSession | undefined;
  try {
    session = await connectPostgresql(source, { dbname, limit, signal });
    onSend(dbname, message);
    return decodeCatalogLocks((await session.query(message, limit)).flat());
  } catch (error) {
    if (error instanceof ConnectError || error instanceof QueryError) return [];
    throw error;
  } finally {
    await session?.end();
  }
}

const message = readOnlyTransaction([catalogLocksSql]);

/** The locks that block logins to a database which did not respond. */
export function withCatalogLocks(access: DatabaseAccess, name: string, results: QueryResults): DatabaseAccess {
  if (access.kind !== 'lost') return access;
  const locks = knownQueryValue(results, catalogLocksQuery) ?? [];
  return { ...access, locks: locks.filter((lock) => locksDatabase(lock, name)) };
}
