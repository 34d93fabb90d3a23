import type { RedisInfo } from '../../../redis/info.ts';
import type { PreflightQueryResult } from '../query.ts';

/**
 * A Sentinel implements the Redis protocol but no command that moves data; the check role-replica reports which server
 * to migrate.
 */
export function isSentinel(info: PreflightQueryResult<RedisInfo>): boolean {
  return info.kind === 'known' && info.value.get('redis_mode') === 'sentinel';
}

export const sentinelSkipReason = 'the server is a Sentinel (see role-replica)';
