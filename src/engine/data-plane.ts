import { CliError } from '../errors.ts';
import { ConnectError, connectErrorCodes } from '../platform/connect-error.ts';
import { type PostgresqlSource, parsePostgresqlSource as readPostgres } from '../postgresql/source.ts';
import { formatServerVersion } from '../postgresql/version.ts';
import { type RedisSource, parseRedisSource as readRedis } from '../redis/source.ts';
import { parseServerVersion } from '../redis/version.ts';
import { MigrationError, redactedReason } from './migration-error.ts';
import type { EngineDependencies } from './migration-job.ts';
import { withEngineSession } from './postgresql/engine-session.ts';
import { engineApplicationName } from './postgresql/object-names.ts';
import { readServerIdentity } from './postgresql/server-identity.ts';
import { readServerInfo } from './redis/replica.ts';

interface ServerAddress {
  readonly host: string;
  readonly port: number;
  /** As the server says it. */
  readonly version: string;
}

/** A server that stands behind a cluster: migrations into the cluster go there. */
export type DataPlane = ServerAddress &
  (
    | { readonly engine: 'postgresql'; readonly door: PostgresqlSource }
    | { readonly engine: 'redis'; readonly door: RedisSource }
  );

/**
 * Enters the server once and asks which it is. Throws a MigrationError that quotes nothing of the address.
 * @param url `postgres://…`, `redis://…` or `rediss://…`
 */
export async function connectDataPlane(url: string, ports: EngineDependencies): Promise<DataPlane> {
  if (/^(redis|valkey)s?:\/\//i.test(url)) {
    const door = parseAddress(() => readRedis({ url }).source);
    return {
      engine: 'redis',
      door,
      ...addressOf(door),
      version: await withAddressInError(door, () => readRedisVersion(door, ports)),
    };
  }
  const wanted = parseAddress(() => readPostgres({ source: url }, () => undefined).source);
  const isSaid = /[?&\s](sslmode|ssl)=/.test(url);
  const { door, version } = await withAddressInError(wanted, () => probePostgres(wanted, isSaid, ports));
  return { engine: 'postgresql', door, ...addressOf(door), version };
}

function addressOf({ host, port }: PostgresqlSource | RedisSource): Omit<ServerAddress, 'version'> {
  return { host, port };
}

/** The readers speak of a source and of options; here it is one address. */
function parseAddress<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new MigrationError(error.message.replaceAll('--source', 'it').replaceAll('the source', 'it'));
  }
}

async function withAddressInError<T>(door: PostgresqlSource | RedisSource, enter: () => Promise<T>): Promise<T> {
  try {
    return await enter();
  } catch (error) {
    throw new MigrationError(`${door.host}:${door.port}: ${redactedReason(error, door.password)}`);
  }
}

/** As libpq's `prefer` does: an address that says nothing of TLS goes without it where the server has none. */
async function probePostgres(
  door: PostgresqlSource,
  isSaid: boolean,
  ports: EngineDependencies,
): Promise<{ readonly door: PostgresqlSource; readonly version: string }> {
  try {
    const { version } = await withEngineSession(door, ports, { name: engineApplicationName }, readServerIdentity);
    return { door, version: formatServerVersion(version) };
  } catch (error) {
    if (isSaid || !(error instanceof ConnectError) || error.code !== connectErrorCodes.noTls) throw error;
    return probePostgres({ ...door, ssl: 'disable' }, true, ports);
  }
}

async function readRedisVersion(door: RedisSource, ports: EngineDependencies): Promise<string> {
  const session = await ports.connectRedis(door, { limit: ports.limits.connectTimeout });
  try {
    return parseServerVersion(await readServerInfo(session))?.version ?? 'unknown';
  } finally {
    session.end();
  }
}
