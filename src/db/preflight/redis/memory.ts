import { formatBytes } from '../../../base/text.ts';
import { infoNumber, type RedisInfo } from '../../../redis/info.ts';
import { isServerAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { type QueryResult, valueOr } from '../query.ts';
import type { ConfigValues, ReplicationSetting } from './queries.ts';
import type { RedisSourceFacts } from './source.ts';

/**
 * Bytes of memory that the server may use in addition to the present use, without eviction of keys, refused writes or
 * lack of memory on the machine. undefined if the server does not report its memory. A container may have less memory
 * than INFO reports for the machine.
 */
export function freeMemory(info: RedisInfo): number | undefined {
  const used = infoNumber(info, 'used_memory');
  const limit = infoNumber(info, 'maxmemory');
  const machine = freeHostMemory(info);
  if (used === undefined || limit === undefined) return undefined;
  if (limit === 0) return machine;
  const counted = used - (infoNumber(info, 'mem_not_counted_for_evict') ?? 0);
  const room = Math.max(0, limit - counted - limit * reserve);
  return machine === undefined ? room : Math.min(room, machine);
}

/**
 * Bytes of memory of the machine that are free for this server, less a reserve; undefined if the server does not report
 * them.
 */
export function freeHostMemory(info: RedisInfo): number | undefined {
  const total = infoNumber(info, 'total_system_memory');
  const used = Math.max(infoNumber(info, 'used_memory_rss') ?? 0, infoNumber(info, 'used_memory') ?? 0);
  if (total === undefined || total === 0 || used === 0) return undefined;
  return Math.max(0, total * (1 - 2 * reserve) - used);
}

/** The fraction of a memory limit that is kept in reserve, because data grows while the migration runs. */
const reserve = 0.1;

interface DisklessReplication {
  /** The value of `repl-diskless-sync`; undefined if the server hides CONFIG. */
  readonly setting: string | undefined;
  readonly isDiskless: boolean;
}

/** Whether a replica receives the initial copy without a file on the disk of the source. */
export function disklessReplication(
  settings: QueryResult<ConfigValues<ReplicationSetting>>,
  info: RedisInfo | undefined,
): DisklessReplication {
  const setting = valueOr(settings, undefined)?.get('repl-diskless-sync');
  if (setting !== undefined) return { setting, isDiskless: setting === 'yes' };
  // The default of `repl-diskless-sync` is yes in Redis 7.0 and newer, and in every version of Valkey.
  const version = info === undefined ? undefined : parseServerVersion(info);
  const isDiskless = isServerAtLeast(version, 7, 0);
  return { setting, isDiskless };
}

/** The amount of data to copy, and the estimated duration of the copy. */
export interface CopyEstimate {
  /** Bytes of memory that the data uses, without buffers and overhead. */
  readonly bytes: number;
  /** Estimated seconds to dump and transfer the data, at 50 and at 20 MB/s. */
  readonly shortest: number;
  readonly longest: number;
}

const fastBytesPerSecond = 50e6;
const slowBytesPerSecond = 20e6;

/** The copy estimate; undefined if the server does not report its memory. */
export function estimateRedisCopy(info: RedisInfo): CopyEstimate | undefined {
  const used = infoNumber(info, 'used_memory');
  const data = infoNumber(info, 'used_memory_dataset') ?? used;
  if (data === undefined) return undefined;
  // An empty Valkey cluster reports more overhead than used memory, and the unsigned difference of the two is a huge
  // number.
  const bytes = Math.min(data, used ?? data);
  const fork = (infoNumber(info, 'latest_fork_usec') ?? 0) / 1e6;
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
export function formatWriteRate({ rate }: RedisSourceFacts): string {
  if (rate?.writes === undefined) return 'the write rate could not be measured';
  if (rate.writes === 0) return 'the measurement found no writes';
  return `${rate.source === 'network' ? 'at most ' : ''}${formatBytes(rate.writes)}/s written`;
}
