import { type Info, numberIn } from '../../redis/info.ts';
import type { Rate } from './ground.ts';

/** What happened between two readings, a second of it. `wrote` is what we ourselves sent in between. */
export function rateOf(before: Info, after: Info, seconds: number, wrote: number): Rate {
  const perSecond = (name: string, own = 0) => {
    const [first, last] = [numberIn(before, name), numberIn(after, name)];
    return first === undefined || last === undefined ? undefined : Math.max(0, last - first - own) / seconds;
  };
  // Without a replica there never was a stream to count, and the number stands still.
  const streams = before.get('repl_backlog_active') === '1';
  const stream = streams ? perSecond('master_repl_offset') : undefined;
  const writes = stream ?? perSecond('total_net_input_bytes', wrote);
  return {
    writes,
    source: stream === undefined ? 'network' : 'stream',
    evicted: perSecond('evicted_keys') ?? 0,
    expired: perSecond('expired_keys') ?? 0,
  };
}
