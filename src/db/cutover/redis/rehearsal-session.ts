import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { defaultMigrationEngineTimeLimits } from '../../engine/migration-engine-input.ts';
import { readRedisServerInfo } from '../../engine/redis/replica.ts';

/** Runs a task in a new session and closes it in any case. */
export async function withRehearsalSession<T>(
  server: RedisEndpoint,
  work: (session: RedisConnection) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const session = await connectRedis(server, { limit: defaultMigrationEngineTimeLimits.connectTimeout, signal });
  try {
    return await work(session);
  } finally {
    session.end();
  }
}

/** The identity of the running server; undefined if it cannot be read, which a later step reports. */
export async function readRedisRunId(target: RedisEndpoint, signal: AbortSignal): Promise<string | undefined> {
  const info = await withRehearsalSession(target, readRedisServerInfo, signal).catch(() => undefined);
  return info?.get('run_id');
}
