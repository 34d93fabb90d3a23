import { DatabaseError } from '../platform/connect-error.ts';
import { connectPostgresql, type PostgresqlSession } from '../postgresql/connection.ts';
import type { PostgresqlEndpoint } from '../postgresql/endpoint.ts';
import { makeSessionSearchPathSafe } from '../postgresql/search-path-safe-session.ts';
import {
  buildReadOnlyTransactionSql,
  buildReadWriteTransactionSql,
  searchPathSafeRollbackSql,
} from '../postgresql/search-path-safe-sql.ts';
import { connectRedis } from '../redis/connection.ts';
import type { RedisEndpoint } from '../redis/endpoint.ts';
import { sharedStoreTimeLimits } from './create-reconnecting-call.ts';
import { buildShareSchemaSql, sharedStoreSchemaVersion } from './postgresql-schema.ts';
import type { SharedStoreAddress } from './store-url.ts';

export type SharedStoreInitializationResult =
  | { readonly kind: 'ready' }
  /** The role may not create the schema, so a DBA runs the SQL. */
  | { readonly kind: 'forbidden'; readonly sql: string; readonly reason: string }
  /** A setting of the server would lose sessions. */
  | { readonly kind: 'unsuitable'; readonly reason: string };

/**
 * Creates or upgrades what the store needs: the schema in PostgreSQL; in Redis nothing, but its settings are checked. An upgrade
 * only adds, so older versions of the program keep working. Throws DatabaseConnectError or DatabaseError.
 * @param role the role with the right to execute the functions, created if it is missing
 */
export async function initializeSharedStore(
  address: SharedStoreAddress,
  role: string,
): Promise<SharedStoreInitializationResult> {
  return address.engine === 'postgresql' ? prepareSchema(address.source, role) : checkRedisSettings(address.source);
}

async function prepareSchema(source: PostgresqlEndpoint, role: string): Promise<SharedStoreInitializationResult> {
  const session = await connectPostgresql(source, {
    dbname: source.dbname,
    limit: sharedStoreTimeLimits.connectMs,
    applicationName: 'cloudctl-share',
  });
  try {
    const sql = buildShareSchemaSql(role);
    try {
      const direct = await makeSessionSearchPathSafe(session);
      await direct.query(`BEGIN;\n${sql}\nCOMMIT`);
      return { kind: 'ready' };
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.code !== insufficientPrivilege) throw error;
      await session.query(searchPathSafeRollbackSql);
      if ((await readSchemaVersion(session)) >= sharedStoreSchemaVersion) return { kind: 'ready' };
      return { kind: 'forbidden', sql: `BEGIN;\n\n${sql}\n\nCOMMIT;\n`, reason: error.message };
    }
  } finally {
    await session.end();
  }
}

const insufficientPrivilege = '42501';

/** The version of the schema; 0 if there is none, or if the role may not or must not execute its functions. */
async function readSchemaVersion(session: PostgresqlSession): Promise<number> {
  try {
    const [owner] = (await session.query(buildReadOnlyTransactionSql([schemaOwnerQuery]))).flat();
    if (owner?.is_safe !== 't') return 0;
    const sets = await session.query(
      buildReadWriteTransactionSql(['SELECT cloudctl_share.schema_version() AS version']),
    );
    return Number(sets.flat()[0]?.version ?? 0);
  } catch (error) {
    if (error instanceof DatabaseError && !error.lost) return 0;
    throw error;
  }
}

/**
 * Whether the functions of the schema can do nothing that their owner could not do anyway: a function of any other role would
 * get the rights of a superuser or an owner of the database that executes it.
 */
const schemaOwnerQuery = `SELECT o.rolsuper OR o.oid = d.datdba OR NOT (me.rolsuper OR me.rolcreaterole OR me.oid = d.datdba) AS is_safe
FROM pg_namespace n JOIN pg_roles o ON o.oid = n.nspowner
JOIN pg_database d ON d.datname = current_database() JOIN pg_roles me ON me.rolname = current_user
WHERE n.nspname = 'cloudctl_share'`;

async function checkRedisSettings(source: RedisEndpoint): Promise<SharedStoreInitializationResult> {
  const session = await connectRedis(source, { limit: sharedStoreTimeLimits.connectMs });
  try {
    const info = String(await session.send(['INFO'], sharedStoreTimeLimits.statementMs));
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? '';
    if (policy.startsWith('allkeys-'))
      return { kind: 'unsuitable', reason: `maxmemory-policy is ${policy}: the server may delete the session` };
    if (/^aof_enabled:0/m.test(info))
      return { kind: 'unsuitable', reason: 'appendonly is no: a restart of the server loses the session' };
    return { kind: 'ready' };
  } finally {
    session.end();
  }
}
