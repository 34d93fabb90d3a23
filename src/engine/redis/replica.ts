import type { RedisSession } from '../../redis/connection.ts';
import { infoNumber, parseInfo, type RedisInfo } from '../../redis/info.ts';
import type { RedisSource } from '../../redis/source.ts';

/** What following a source changes on the target, and what it was before. */
export type ReplicaSettings = Readonly<Record<string, string>>;

export async function readServerInfo(session: RedisSession): Promise<RedisInfo> {
  return parseInfo(String(await session.send(['INFO'])));
}

/** How many databases a server can hold; without an end where it does not tell. */
export async function readDatabaseLimit(session: RedisSession): Promise<number> {
  const reply = await session.send(['CONFIG', 'GET', 'databases']);
  const told = Array.isArray(reply) ? Number(reply[1]) : Number.NaN;
  return told > 0 ? told : Number.POSITIVE_INFINITY;
}

/** Names the server does not know are left out. */
export async function readReplicaSettings(session: RedisSession): Promise<ReplicaSettings> {
  const found: Record<string, string> = {};
  for (const name of replicaSettingNames) {
    const reply = await session.send(['CONFIG', 'GET', name]);
    if (Array.isArray(reply) && typeof reply[1] === 'string') found[name] = reply[1];
  }
  return found;
}

const replicaSettingNames = ['masteruser', 'masterauth', 'tls-replication'] as const;

/** Only what differs is written: a server without TLS refuses even to be told that it shall not use it. */
export async function writeReplicaSettings(
  session: RedisSession,
  settings: ReplicaSettings,
  now: ReplicaSettings,
): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    if (now[name] !== value) await session.send(['CONFIG', 'SET', name, value]);
  }
}

/** How the target enters the source. */
export function replicaSettingsFor(source: RedisSource): ReplicaSettings {
  return {
    masteruser: source.username ?? '',
    masterauth: source.password?.reveal() ?? '',
    'tls-replication': source.ssl === 'require' ? 'yes' : 'no',
  };
}

export async function startReplicaOf(session: RedisSession, source: RedisSource): Promise<void> {
  await session.send(['REPLICAOF', source.address ?? source.host, String(source.port)]);
}

/** Whether this server is a replica of that source. */
export function isReplicaOf(info: RedisInfo, source: RedisSource): boolean {
  const host = info.get('master_host');
  return (
    info.get('role') === 'slave' &&
    (host === source.host || host === source.address) &&
    infoNumber(info, 'master_port') === source.port
  );
}
