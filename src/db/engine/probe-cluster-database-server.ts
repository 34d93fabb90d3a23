import { CliError } from '../../base/errors.ts';
import { clientSideDatabaseErrorCodes, DatabaseConnectError } from '../../platform/connect-error.ts';
import { type PostgresqlEndpoint, parsePostgresqlEndpoint as readPostgres } from '../../postgresql/endpoint.ts';
import { formatPostgresqlVersion } from '../../postgresql/version.ts';
import { type RedisEndpoint, parseRedisEndpoint as readRedis } from '../../redis/endpoint.ts';
import { parseRedisServerVersion } from '../../redis/version.ts';
import type { MigrationEngineDependencies } from './migration-engine-input.ts';
import { MigrationError, redactErrorReason } from './migration-error.ts';
import { withEngineDatabaseSession } from './postgresql/engine-session.ts';
import { migrationEngineApplicationName } from './postgresql/replication-object-names.ts';
import { readPostgresqlServerIdentity } from './postgresql/server-identity.ts';
import { readRedisServerInfo } from './redis/replica.ts';

interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** The version of the database server, as the server reports it. */
  readonly version: string;
}

/** The server behind a database cluster of the sandbox: migrations into the cluster write to it. */
export type ProbedClusterDatabaseServer = ServerAddress &
  (
    | { readonly engine: 'postgresql'; readonly endpoint: PostgresqlEndpoint }
    | { readonly engine: 'redis'; readonly endpoint: RedisEndpoint }
  );

/**
 * Connects to a server and reads its version. Throws a MigrationError without the URL, which may contain a password.
 * @param url `postgres://…`, `redis://…` or `rediss://…`
 */
export async function probeClusterDatabaseServer(
  url: string,
  deps: MigrationEngineDependencies,
): Promise<ProbedClusterDatabaseServer> {
  if (/^(redis|valkey)s?:\/\//i.test(url)) {
    const endpoint = parseAddress(() => readRedis({ url }).source);
    return {
      engine: 'redis',
      endpoint,
      ...addressOf(endpoint),
      version: await withAddressInError(endpoint, () => readRedisVersion(endpoint, deps)),
    };
  }
  const requested = parseAddress(() => readPostgres({ source: url }, () => undefined).source);
  const hasTlsOption = /[?&\s](sslmode|ssl)=/.test(url);
  const { endpoint, version } = await withAddressInError(requested, () => probePostgres(requested, hasTlsOption, deps));
  return { engine: 'postgresql', endpoint, ...addressOf(endpoint), version };
}

function addressOf({ host, port }: PostgresqlEndpoint | RedisEndpoint): Omit<ServerAddress, 'version'> {
  return { host, port };
}

/** Replaces errors of the option parsers: the errors name command-line options, but the address here comes from a URL. */
function parseAddress<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new MigrationError(error.message.replaceAll('--source', 'the URL').replaceAll('the source', 'the URL'));
  }
}

async function withAddressInError<T>(
  endpoint: PostgresqlEndpoint | RedisEndpoint,
  enter: () => Promise<T>,
): Promise<T> {
  try {
    return await enter();
  } catch (error) {
    throw new MigrationError(`${endpoint.host}:${endpoint.port}: ${redactErrorReason(error, endpoint.password)}`);
  }
}

/**
 * Without `sslmode` in the URL, the connection uses TLS if the server supports it, as libpq does with `sslmode=prefer`.
 */
async function probePostgres(
  endpoint: PostgresqlEndpoint,
  hasTlsOption: boolean,
  deps: MigrationEngineDependencies,
): Promise<{ readonly endpoint: PostgresqlEndpoint; readonly version: string }> {
  try {
    const { version } = await withEngineDatabaseSession(
      endpoint,
      deps,
      { name: migrationEngineApplicationName },
      readPostgresqlServerIdentity,
    );
    return { endpoint, version: formatPostgresqlVersion(version) };
  } catch (error) {
    if (hasTlsOption || !(error instanceof DatabaseConnectError) || error.code !== clientSideDatabaseErrorCodes.noTls)
      throw error;
    return probePostgres({ ...endpoint, ssl: 'disable' }, true, deps);
  }
}

async function readRedisVersion(endpoint: RedisEndpoint, deps: MigrationEngineDependencies): Promise<string> {
  const session = await deps.connectRedis(endpoint, { limit: deps.limits.connectTimeout });
  try {
    return parseRedisServerVersion(await readRedisServerInfo(session))?.version ?? 'unknown';
  } finally {
    session.end();
  }
}
