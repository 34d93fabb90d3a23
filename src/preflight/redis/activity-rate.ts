import { infoNumber, type RedisInfo } from '../../redis/info.ts';
import type { RedisActivityRate } from './source-facts.ts';

/** What we ourselves sent. */
export interface SentTraffic {
  readonly bytes: number;
  readonly commands: number;
}

/** What happened between two readings, a second of it. `own` is what we sent in between. */
export function activityRateOf(
  before: RedisInfo,
  after: RedisInfo,
  seconds: number,
  own: SentTraffic,
): RedisActivityRate {
  const perSecond = (name: string, ours = 0) => {
    const [first, last] = [infoNumber(before, name), infoNumber(after, name)];
    return first === undefined || last === undefined ? undefined : Math.max(0, last - first - ours) / seconds;
  };
  // Without a replica there never was a stream to count, and the number stands still.
  const streams = before.get('repl_backlog_active') === '1';
  const stream = streams ? perSecond('master_repl_offset') : undefined;
  const writes = stream ?? perSecond('total_net_input_bytes', own.bytes);
  // Where every other command changes something, what comes in is what is written.
  const changes = perSecond('rdb_changes_since_last_save') ?? 0;
  const isWritten =
    changes > 0 && changes >= (perSecond('total_commands_processed', own.commands) ?? Number.POSITIVE_INFINITY) / 2;
  return {
    writes,
    source: stream !== undefined ? 'stream' : isWritten ? 'writes' : 'network',
    evicted: perSecond('evicted_keys') ?? 0,
    expired: perSecond('expired_keys') ?? 0,
  };
}
