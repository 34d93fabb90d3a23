import type { RedisInfo } from '../../redis/info.ts';
import type { RedisQueryResult } from './query.ts';

/** A Sentinel speaks the protocol and knows none of the commands that move data; role-replica says what to give instead. */
export function isSentinel(server: RedisQueryResult<RedisInfo>): boolean {
  return server.kind === 'known' && server.value.get('redis_mode') === 'sentinel';
}

export const sentinelReason = 'it is a Sentinel: see role-replica';
