import type { RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { parseRedisInfo, type RedisInfo, readRedisInfoNumber } from '../../../redis/info.ts';

/** Settings of the Redis target that replication changes. */
export type RedisReplicaSettings = Readonly<Record<string, string>>;

export async function readRedisServerInfo(session: RedisConnection): Promise<RedisInfo> {
  return parseRedisInfo(String(await session.send(['INFO'])));
}

/** Number of databases of a server; infinity if the server does not report it. */
export async function readRedisDatabaseLimit(session: RedisConnection): Promise<number> {
  const reply = await session.send(['CONFIG', 'GET', 'databases']);
  const count = Array.isArray(reply) ? Number(reply[1]) : Number.NaN;
  return count > 0 ? count : Number.POSITIVE_INFINITY;
}

/** Reads settings, and leaves out those that the server does not have. */
export async function readReplicationSettingsOfRedisReplica(session: RedisConnection): Promise<RedisReplicaSettings> {
  const found: Record<string, string> = {};
  for (const name of replicaSettingNames) {
    const reply = await session.send(['CONFIG', 'GET', name]);
    if (Array.isArray(reply) && typeof reply[1] === 'string') found[name] = reply[1];
  }
  return found;
}

const replicaSettingNames = ['masteruser', 'masterauth', 'tls-replication'] as const;

/** Writes only changed settings: a server built without TLS rejects any CONFIG SET of tls-replication. */
export async function writeRedisReplicaSettings(
  session: RedisConnection,
  settings: RedisReplicaSettings,
  current: RedisReplicaSettings,
): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    if (current[name] !== value) await session.send(['CONFIG', 'SET', name, value]);
  }
}

/** The settings with which the Redis target connects to the source. */
export function buildRedisReplicaSettings(source: RedisEndpoint): RedisReplicaSettings {
  return {
    masteruser: source.username ?? '',
    masterauth: source.password?.reveal() ?? '',
    'tls-replication': source.ssl === 'require' ? 'yes' : 'no',
  };
}

export async function startRedisReplication(session: RedisConnection, source: RedisEndpoint): Promise<void> {
  await session.send(['REPLICAOF', source.address ?? source.host, String(source.port)]);
}

/** True if the server is a replica of the given source. */
export function isRedisReplicaOfSource(info: RedisInfo, source: RedisEndpoint): boolean {
  const host = info.get('master_host');
  return (
    info.get('role') === 'slave' &&
    (host === source.host || host === source.address) &&
    readRedisInfoNumber(info, 'master_port') === source.port
  );
}
