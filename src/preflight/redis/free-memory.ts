import { infoNumber, type RedisInfo } from '../../redis/info.ts';

/**
 * Bytes that settings may make the server use beyond what it uses now, so that neither keys are evicted (or writes refused)
 * nor the machine runs out of memory. undefined: the server does not report it. A container can have less than the machine.
 */
export function freeRedisMemory(info: RedisInfo): number | undefined {
  const used = infoNumber(info, 'used_memory');
  const limit = infoNumber(info, 'maxmemory');
  const machine = freeMachineMemory(info);
  if (used === undefined || limit === undefined) return undefined;
  if (limit === 0) return machine;
  const counted = used - (infoNumber(info, 'mem_not_counted_for_evict') ?? 0);
  const room = Math.max(0, limit - counted - limit * reserve);
  return machine === undefined ? room : Math.min(room, machine);
}

/** Bytes of the machine that are free for this server, less a reserve; undefined: not reported. */
export function freeMachineMemory(info: RedisInfo): number | undefined {
  const total = infoNumber(info, 'total_system_memory');
  const used = Math.max(infoNumber(info, 'used_memory_rss') ?? 0, infoNumber(info, 'used_memory') ?? 0);
  if (total === undefined || total === 0 || used === 0) return undefined;
  return Math.max(0, total * (1 - 2 * reserve) - used);
}

/** The part of a limit that stays free: data grows while the migration runs. */
const reserve = 0.1;
