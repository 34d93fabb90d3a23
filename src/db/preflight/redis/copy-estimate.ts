import { formatBytes } from '../../../base/text.ts';
import { type RedisInfo, readRedisInfoNumber } from '../../../redis/info.ts';
import type { RedisSourceFacts } from './source-facts.ts';

/** The amount of data to copy, and the estimated duration of the copy. */
export interface RedisCopyEstimate {
  /** Bytes of memory that the data uses, without buffers and overhead. */
  readonly bytes: number;
  /** Estimated seconds to dump and transfer the data, at 50 and at 20 MB/s. */
  readonly shortest: number;
  readonly longest: number;
}

const fastBytesPerSecond = 50e6;
const slowBytesPerSecond = 20e6;

/** The copy estimate; undefined if the server does not report its memory. */
export function estimateRedisCopy(info: RedisInfo): RedisCopyEstimate | undefined {
  const used = readRedisInfoNumber(info, 'used_memory');
  const data = readRedisInfoNumber(info, 'used_memory_dataset') ?? used;
  if (data === undefined) return undefined;
  // An empty Valkey cluster reports more overhead than used memory, and the unsigned difference of the two is a huge
  // number.
  const bytes = Math.min(data, used ?? data);
  const fork = (readRedisInfoNumber(info, 'latest_fork_usec') ?? 0) / 1e6;
  return {
    bytes,
    shortest: Math.max(1, fork + bytes / fastBytesPerSecond),
    longest: Math.max(1, fork + bytes / slowBytesPerSecond),
  };
}

/**
 * Describes the measured write rate: `1.2 MB/s written`. A write rate that was measured as network traffic is an upper
 * bound.
 */
export function formatRedisWriteRate({ rate }: RedisSourceFacts): string {
  if (rate?.writes === undefined) return 'the write rate could not be measured';
  if (rate.writes === 0) return 'the measurement found no writes';
  return `${rate.source === 'network' ? 'at most ' : ''}${formatBytes(rate.writes)}/s written`;
}
