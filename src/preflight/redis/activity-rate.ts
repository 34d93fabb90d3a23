import { type RedisInfo, type RedisInfoField, readRedisInfoNumber } from '../../redis/info.ts';
import type { RedisActivityRate } from './source-facts.ts';

/** The number of bytes and commands that this program sent to the server. */
export interface OwnRedisTraffic {
  readonly bytes: number;
  readonly commands: number;
}

/**
 * The activity of the server per second, calculated from two replies to INFO. `own`: the traffic that this program
 * itself sent between the two replies.
 */
export function computeRedisActivityRate(
  before: RedisInfo,
  after: RedisInfo,
  seconds: number,
  own: OwnRedisTraffic,
): RedisActivityRate {
  const perSecond = (field: RedisInfoField, ours = 0) => {
    const [first, last] = [readRedisInfoNumber(before, field), readRedisInfoNumber(after, field)];
    return first === undefined || last === undefined ? undefined : Math.max(0, last - first - ours) / seconds;
  };
  // On a server that never had a replica, no replication stream exists and master_repl_offset does not change.
  const hasStream = before.get('repl_backlog_active') === '1';
  const stream = hasStream ? perSecond('master_repl_offset') : undefined;
  const writes = stream ?? perSecond('total_net_input_bytes', own.bytes);
  // If at least every second command changes a key, the received bytes count as writes.
  const changes = perSecond('rdb_changes_since_last_save') ?? 0;
  const isMostlyWrites =
    changes > 0 && changes >= (perSecond('total_commands_processed', own.commands) ?? Number.POSITIVE_INFINITY) / 2;
  return {
    writes,
    source: stream !== undefined ? 'stream' : isMostlyWrites ? 'writes' : 'network',
    evicted: perSecond('evicted_keys') ?? 0,
    expired: perSecond('expired_keys') ?? 0,
  };
}
