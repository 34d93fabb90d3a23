import type { MigrationWatchLimits } from '../migration-watch-limits.ts';
import type { ConnectedReplica, WatchedRedisFacts } from './redis-facts.ts';

/**
 * Counts full synchronizations since the last successful one. A full synchronization may take hours, so the count has
 * no time window.
 */
export interface RedisFullSyncsSinceSuccess {
  readonly started: number;
  /** Time of the first full synchronization in milliseconds since the epoch; undefined if there was none. */
  readonly since: number | undefined;
  /** Time at which the replica came online, in milliseconds since the epoch; undefined if it is not online. */
  readonly online: number | undefined;
}

export const emptyRedisFullSyncsSinceSuccess: RedisFullSyncsSinceSuccess = {
  started: 0,
  since: undefined,
  online: undefined,
};

/**
 * Counts the full synchronizations that the source has started.
 * @param before the facts of the previous poll; undefined in the first poll, which does not count full synchronizations that
 * started before it
 */
export function updateRedisFullSyncCount(
  previous: RedisFullSyncsSinceSuccess,
  before: Pick<WatchedRedisFacts, 'fullSyncs' | 'runId'> | undefined,
  now: Pick<WatchedRedisFacts, 'at' | 'fullSyncs' | 'runId' | 'replicas'>,
  replica: Pick<ConnectedReplica, 'name' | 'state'> | undefined,
  { unreachable }: Pick<MigrationWatchLimits, 'unreachable'>,
): RedisFullSyncsSinceSuccess {
  const isOnline = replica?.state === 'online';
  const online = isOnline ? (previous.online ?? now.at) : undefined;
  // A full synchronization counts as successful if the replica then stays online for some time.
  if (online !== undefined && now.at - online >= unreachable) return { ...emptyRedisFullSyncsSinceSuccess, online };
  // After a restart of the server, its counter sync_full begins at zero.
  const all = before === undefined ? 0 : now.fullSyncs - (before.runId === now.runId ? before.fullSyncs : 0);
  // sync_full in INFO counts the full synchronizations of all replicas.
  const isOfOthers = now.replicas.some(({ name, state }) => name !== replica?.name && state !== 'online');
  const fresh = isOfOthers ? 0 : Math.max(0, all);
  return { started: previous.started + fresh, since: previous.since ?? (fresh > 0 ? now.at : undefined), online };
}
