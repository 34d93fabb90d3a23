import { CliError } from '../errors.ts';
import { ownCodes, ConnectError as PgConnectError } from '../postgresql/failure.ts';
import { type PostgresSource, readSource as readPostgres } from '../postgresql/source.ts';
import { versionWords } from '../postgresql/version.ts';
import { type RedisSource, readSource as readRedis } from '../redis/source.ts';
import { serverVersion } from '../redis/version.ts';
import type { EnginePorts } from './job.ts';
import { watchName } from './postgresql/names.ts';
import { readServer } from './postgresql/servers.ts';
import { within } from './postgresql/session.ts';
import { infoOf } from './redis/target.ts';
import { MigrationError, reasonOf } from './words.ts';

interface Seen {
  readonly host: string;
  readonly port: number;
  /** As the server says it. */
  readonly version: string;
}

/** A server that stands behind a cluster: migrations into the cluster go there. */
export type DataPlane = Seen &
  (
    | { readonly engine: 'postgresql'; readonly door: PostgresSource }
    | { readonly engine: 'redis'; readonly door: RedisSource }
  );

/**
 * Enters the server once and asks which it is. Throws a MigrationError that quotes nothing of the address.
 * @param url `postgres://…`, `redis://…` or `rediss://…`
 */
export async function openDataPlane(url: string, ports: EnginePorts): Promise<DataPlane> {
  if (/^(redis|valkey)s?:\/\//i.test(url)) {
    const door = told(() => readRedis({ url }).source);
    return { engine: 'redis', door, ...placeOf(door), version: await entered(door, () => redisVersion(door, ports)) };
  }
  const wanted = told(() => readPostgres({ source: url }, () => undefined).source);
  const isSaid = /[?&\s](sslmode|ssl)=/.test(url);
  const { door, version } = await entered(wanted, () => enterPostgres(wanted, isSaid, ports));
  return { engine: 'postgresql', door, ...placeOf(door), version };
}

function placeOf({ host, port }: PostgresSource | RedisSource): Omit<Seen, 'version'> {
  return { host, port };
}

/** The readers speak of a source and of options; here it is one address. */
function told<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new MigrationError(error.message.replaceAll('--source', 'it').replaceAll('the source', 'it'));
  }
}

async function entered<T>(door: PostgresSource | RedisSource, enter: () => Promise<T>): Promise<T> {
  try {
    return await enter();
  } catch (error) {
    throw new MigrationError(`${door.host}:${door.port}: ${reasonOf(error, door.password)}`);
  }
}

/** As libpq's `prefer` does: an address that says nothing of TLS goes without it where the server has none. */
async function enterPostgres(
  door: PostgresSource,
  isSaid: boolean,
  ports: EnginePorts,
): Promise<{ readonly door: PostgresSource; readonly version: string }> {
  try {
    const { version } = await within(door, ports, { name: watchName }, readServer);
    return { door, version: versionWords(version) };
  } catch (error) {
    if (isSaid || !(error instanceof PgConnectError) || error.code !== ownCodes.noTls) throw error;
    return enterPostgres({ ...door, ssl: 'disable' }, true, ports);
  }
}

async function redisVersion(door: RedisSource, ports: EnginePorts): Promise<string> {
  const session = await ports.connectRedis(door, { limit: ports.waits.connect });
  try {
    return serverVersion(await infoOf(session))?.version ?? 'unknown';
  } finally {
    session.end();
  }
}
