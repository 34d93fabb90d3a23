import { infoNumber, type RedisInfo } from '../../redis/info.ts';
import type { RedisSourceFacts } from './source-facts.ts';

/** How much there is to copy, and how long that takes. */
export interface CopyEstimate {
  /** Memory the data takes, without buffers and overhead. */
  readonly bytes: number;
  /** Seconds to dump and carry them, at 50 and at 20 MB/s. */
  readonly shortest: number;
  readonly longest: number;
}

const fast = 50e6;
const slow = 20e6;

/** undefined: the server does not tell its memory. */
export function estimateCopy(info: RedisInfo): CopyEstimate | undefined {
  const used = infoNumber(info, 'used_memory');
  const data = infoNumber(info, 'used_memory_dataset') ?? used;
  if (data === undefined) return undefined;
  // An empty Valkey cluster counts more overhead than memory, and the difference wraps around to a huge number.
  const bytes = Math.min(data, used ?? data);
  const fork = (infoNumber(info, 'latest_fork_usec') ?? 0) / 1e6;
  return { bytes, shortest: Math.max(1, fork + bytes / fast), longest: Math.max(1, fork + bytes / slow) };
}

/** `about 1.2 MB/s written`, the words for a rate; of the network it is the most it can be. */
export function writeRateText(ground: RedisSourceFacts, bytesText: (bytes: number) => string): string {
  const { rate } = ground;
  if (rate?.writes === undefined) return 'the write rate could not be measured';
  if (rate.writes === 0) return 'nothing written while it was watched';
  return `${rate.source === 'network' ? 'at most ' : ''}${bytesText(rate.writes)}/s written`;
}
