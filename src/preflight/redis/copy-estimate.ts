import { infoNumber, type RedisInfo } from '../../redis/info.ts';
import type { RedisSourceFacts } from './source-facts.ts';

/** The amount of data to copy, and how long that takes. */
export interface CopyEstimate {
  /** Bytes of memory of the data, without buffers and overhead. */
  readonly bytes: number;
  /** Seconds to dump and transfer them, at 50 and at 20 MB/s. */
  readonly shortest: number;
  readonly longest: number;
}

const fastBytesPerSecond = 50e6;
const slowBytesPerSecond = 20e6;

/** undefined: the server does not report its memory. */
export function estimateCopy(info: RedisInfo): CopyEstimate | undefined {
  const used = infoNumber(info, 'used_memory');
  const data = infoNumber(info, 'used_memory_dataset') ?? used;
  if (data === undefined) return undefined;
  // An empty Valkey cluster counts more overhead than memory, and the unsigned difference becomes a huge number.
  const bytes = Math.min(data, used ?? data);
  const fork = (infoNumber(info, 'latest_fork_usec') ?? 0) / 1e6;
  return {
    bytes,
    shortest: Math.max(1, fork + bytes / fastBytesPerSecond),
    longest: Math.max(1, fork + bytes / slowBytesPerSecond),
  };
}

/** The measured write rate in words: `1.2 MB/s written`. A rate measured on the network is an upper bound. */
export function writeRateText({ rate }: RedisSourceFacts, formatBytes: (bytes: number) => string): string {
  if (rate?.writes === undefined) return 'the write rate could not be measured';
  if (rate.writes === 0) return 'no writes were measured';
  return `${rate.source === 'network' ? 'at most ' : ''}${formatBytes(rate.writes)}/s written`;
}
