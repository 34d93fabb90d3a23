import { CliError } from '../../base/errors.ts';
import { ConnectError, clientErrorCodes } from '../../platform/network-errors.ts';
import { type PostgresqlEndpoint, parsePostgresqlEndpoint as readPostgres } from '../../postgresql/endpoint.ts';
import { formatVersion } from '../../postgresql/version.ts';
import { type RedisEndpoint, parseRedisEndpoint as readRedis } from '../../redis/endpoint.ts';
import { parseServerVersion } from '../../redis/version.ts';
import { MigrationError, redactReason } from './error.ts';
import type { EngineSystem } from './input.ts';
import { readIdentity } from './postgresql/identity.ts';
import { engineName } from './postgresql/names.ts';
import { withSession } from './postgresql/session.ts';
import { readServerInfo } from './redis/replica.ts';

interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** The version of the database server, as the server reports it. */
  readonly version: string;
  /** Whether the server is a Valkey, which has its own versions. */
  readonly isValkey?: boolean;
}

/** The server behind a database cluster of the sandbox: migrations into the cluster write to it. */
export type DataPlane = ServerAddress &
  (
    | { readonly engine: 'postgresql'; readonly endpoint: PostgresqlEndpoint }
    | { readonly engine: 'redis'; readonly endpoint: RedisEndpoint }
  );

/**
 * Connects to a server and reads its version. Throws a MigrationError without the URL, which may contain a password.
 * @param url `postgres://…`, `redis://…` or `rediss://…`
 */
export async function probePlane(url: string, deps: EngineSystem): Promise<DataPlane> {
  if (/^(redis|valkey)s?:\/\//i.test(url)) {
    const endpoint = parseAddress(() => readRedis({ url }).source);
    return {
      engine: 'redis',
      endpoint,
      ...addressOf(endpoint),
      ...(await withAddressInError(endpoint, () => readRedisVersion(endpoint, deps))),
    };
  }
  const requested = parseAddress(() => readPostgres({ source: url }, () => undefined).source);
  const hasTlsOption = /[?&\s](sslmode|ssl)=/.test(url);
  const { endpoint, version } = await withAddressInError(requested, () => probePostgres(requested, hasTlsOption, deps));
  return { engine: 'postgresql', endpoint, ...addressOf(endpoint), version };
}

function addressOf({ host, port }: PostgresqlEndpoint | RedisEndpoint): Pick<ServerAddress, 'host' | 'port'> {
  return { host, port };
}

/** Replaces errors of the option parsers: the errors name command-line options, but the address here comes from a URL. */
function parseAddress<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new MigrationError(error.message.replaceAll(/the URL of the source|the source|--source/g, 'the URL'));
  }
}

async function withAddressInError<T>(
  endpoint: PostgresqlEndpoint | RedisEndpoint,
  enter: () => Promise<T>,
): Promise<T> {
  try {
    return await enter();
  } catch (error) {
    throw new MigrationError(`${endpoint.host}:${endpoint.port}: ${redactReason(error, endpoint.password)}`);
  }
}

/**
 * Without `sslmode` in the URL, the connection uses TLS if the server supports it, as libpq does with `sslmode=prefer`.
 */
async function probePostgres(
  endpoint: PostgresqlEndpoint,
  hasTlsOption: boolean,
  deps: EngineSystem,
): Promise<{ readonly endpoint: PostgresqlEndpoint; readonly version: string }> {
  try {
    const { version } = await withSession(endpoint, deps, { name: engineName }, readIdentity);
    return { endpoint, version: formatVersion(version) };
  } catch (error) {
    if (hasTlsOption || !(error instanceof ConnectError) || error.code !== clientErrorCodes.noTls) throw error;
    return probePostgres({ ...endpoint, ssl: 'disable' }, true, deps);
  }
}

async function readRedisVersion(
  endpoint: RedisEndpoint,
  deps: EngineSystem,
): Promise<Pick<ServerAddress, 'version' | 'isValkey'>> {
  const session = await deps.connectRedis(endpoint, { limit: deps.limits.connectTimeout });
  try {
    const { version = 'unknown', product } = parseServerVersion(await readServerInfo(session)) ?? {};
    return { version, ...(product === 'valkey' ? { isValkey: true } : {}) };
  } finally {
    session.end();
  }
}
