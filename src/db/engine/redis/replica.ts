import { timeoutSignal } from '../../../platform/waiting.ts';
import type { RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { infoNumber, parseInfo, type RedisInfo } from '../../../redis/info.ts';
import { formatCommand } from '../../../redis/quote.ts';
import { redactReason } from '../error.ts';
import type { EngineSystem } from '../input.ts';
import type { RedisEntry } from '../journal.ts';
import type { Leftover } from '../state.ts';

/** Settings of the Redis target that replication changes. */
type RedisReplicaSettings = Readonly<Record<string, string>>;

export async function readServerInfo(session: RedisConnection): Promise<RedisInfo> {
  return parseInfo(String(await session.send(['INFO'])));
}

/** Number of databases of a server; infinity if the server does not report it. */
export async function readDatabaseLimit(session: RedisConnection): Promise<number> {
  const reply = await session.send(['CONFIG', 'GET', 'databases']);
  const count = Array.isArray(reply) ? Number(reply[1]) : Number.NaN;
  return count > 0 ? count : Number.POSITIVE_INFINITY;
}

/** Reads settings, and leaves out those that the server does not have. */
export async function readReplicaSettings(session: RedisConnection): Promise<RedisReplicaSettings> {
  const found: Record<string, string> = {};
  for (const name of replicaSettingNames) {
    const reply = await session.send(['CONFIG', 'GET', name]);
    if (Array.isArray(reply) && typeof reply[1] === 'string') found[name] = reply[1];
  }
  return found;
}

const replicaSettingNames = ['masteruser', 'masterauth', 'tls-replication'] as const;

/** Writes only changed settings: a server built without TLS rejects any CONFIG SET of tls-replication. */
export async function writeReplicaSettings(
  session: RedisConnection,
  settings: RedisReplicaSettings,
  current: RedisReplicaSettings,
): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    if (current[name] !== value) await session.send(['CONFIG', 'SET', name, value]);
  }
}

/** The settings with which the Redis target connects to the source. */
export function replicaSettings(source: RedisEndpoint): RedisReplicaSettings {
  return {
    masteruser: source.username ?? '',
    masterauth: source.password?.reveal() ?? '',
    'tls-replication': source.ssl === 'require' ? 'yes' : 'no',
  };
}

export async function replicate(session: RedisConnection, source: RedisEndpoint): Promise<void> {
  await session.send(['REPLICAOF', source.address ?? source.host, String(source.port)]);
}

/** True if the server is a replica of the given source. */
export function isReplicaOf(info: RedisInfo, source: RedisEndpoint): boolean {
  const host = info.get('master_host');
  return (
    info.get('role') === 'slave' &&
    (host === source.host || host === source.address) &&
    infoNumber(info, 'master_port') === source.port
  );
}

/**
 * Promotes the Redis target (REPLICAOF NO ONE) and restores its settings; the keys remain. Retries a failed command
 * until `removalTimeout` has passed.
 */
export async function detachTarget(entry: RedisEntry, deps: EngineSystem): Promise<readonly Leftover[]> {
  const signal = timeoutSignal(deps.limits.removalTimeout);
  for (let attempt = 0; ; attempt++) {
    try {
      await detachOnce(entry, deps);
      return [];
    } catch (error) {
      try {
        await deps.sleep(Math.min(100 * 2 ** attempt, 1000), signal);
      } catch {
        return [leftover(entry, error)];
      }
    }
  }
}

async function detachOnce({ source, target, settings }: RedisEntry, deps: EngineSystem): Promise<void> {
  const session = await deps.connectRedis(target, { limit: deps.limits.connectTimeout });
  try {
    if (isReplicaOf(await readServerInfo(session), source)) await session.send(['REPLICAOF', 'NO', 'ONE']);
    await writeReplicaSettings(session, settings, await readReplicaSettings(session));
  } finally {
    session.end();
  }
}

function leftover({ source, target }: RedisEntry, error: unknown): Leftover {
  return {
    side: 'target',
    database: '',
    object: 'replication',
    statement: formatCommand('REPLICAOF', 'NO', 'ONE'),
    reason: redactReason(error, source.password, target.password),
  };
}
