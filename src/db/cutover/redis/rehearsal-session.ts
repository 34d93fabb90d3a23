import { connectRedis, type RedisConnection } from '../../../redis/connection.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { defaultLimits } from '../../engine/input.ts';
import { readServerInfo } from '../../engine/redis/replica.ts';

/** Runs a task in a new session and closes it in any case. */
export async function withRehearsalSession<T>(
  server: RedisEndpoint,
  work: (session: RedisConnection) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const session = await connectRedis(server, { limit: defaultLimits.connectTimeout, signal });
  try {
    return await work(session);
  } finally {
    session.end();
  }
}

/** The identity of the running server; undefined if it cannot be read, which a later step reports. */
export async function readRedisRunId(target: RedisEndpoint, signal: AbortSignal): Promise<string | undefined> {
  const info = await withRehearsalSession(target, readServerInfo, signal).catch(() => undefined);
  return info?.get('run_id');
}
