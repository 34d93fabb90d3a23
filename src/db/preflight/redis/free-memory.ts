import { type RedisInfo, readRedisInfoNumber } from '../../../redis/info.ts';

/**
 * Bytes of memory that the server may use in addition to the present use, without eviction of keys, refused writes or
 * lack of memory on the machine. undefined if the server does not report its memory. A container may have less memory
 * than INFO reports for the machine.
 */
export function computeFreeRedisMemory(info: RedisInfo): number | undefined {
  const used = readRedisInfoNumber(info, 'used_memory');
  const limit = readRedisInfoNumber(info, 'maxmemory');
  const machine = computeFreeMemoryOfRedisHost(info);
  if (used === undefined || limit === undefined) return undefined;
  if (limit === 0) return machine;
  const counted = used - (readRedisInfoNumber(info, 'mem_not_counted_for_evict') ?? 0);
  const room = Math.max(0, limit - counted - limit * reserve);
  return machine === undefined ? room : Math.min(room, machine);
}

/**
 * Bytes of memory of the machine that are free for this server, less a reserve; undefined if the server does not report
 * them.
 */
export function computeFreeMemoryOfRedisHost(info: RedisInfo): number | undefined {
  const total = readRedisInfoNumber(info, 'total_system_memory');
  const used = Math.max(
    readRedisInfoNumber(info, 'used_memory_rss') ?? 0,
    readRedisInfoNumber(info, 'used_memory') ?? 0,
  );
  if (total === undefined || total === 0 || used === 0) return undefined;
  return Math.max(0, total * (1 - 2 * reserve) - used);
}

/** The fraction of a memory limit that is kept in reserve, because data grows while the migration runs. */
const reserve = 0.1;
