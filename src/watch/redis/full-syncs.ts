import type { MigrationWatchLimits } from '../migration-watch-limits.ts';
import type { ConnectedReplica, RedisFacts } from './redis-facts.ts';

/** Full synchronizations since the last successful one. One may take hours, so they are counted without a time window. */
export interface FullSyncCount {
  readonly started: number;
  /** Milliseconds since the epoch of the first one; undefined: none. */
  readonly since: number | undefined;
  /** Milliseconds since the epoch when the replica came online; undefined: it is not online. */
  readonly online: number | undefined;
}

export const initialFullSyncCount: FullSyncCount = { started: 0, since: undefined, online: undefined };

/** @param before the previous poll; undefined: this is the first one, and earlier synchronizations do not count */
export function countFullSyncs(
  previous: FullSyncCount,
  before: Pick<RedisFacts, 'fullSyncs' | 'runId'> | undefined,
  now: Pick<RedisFacts, 'at' | 'fullSyncs' | 'runId' | 'replicas'>,
  replica: Pick<ConnectedReplica, 'name' | 'state'> | undefined,
  { unreachable }: Pick<MigrationWatchLimits, 'unreachable'>,
): FullSyncCount {
  const isOnline = replica?.state === 'online';
  const online = isOnline ? (previous.online ?? now.at) : undefined;
  // A synchronization succeeded when the replica stays online for a while.
  if (online !== undefined && now.at - online >= unreachable) return { ...initialFullSyncCount, online };
  // A restarted server counts from zero.
  const all = before === undefined ? 0 : now.fullSyncs - (before.runId === now.runId ? before.fullSyncs : 0);
  // sync_full counts the synchronizations of all replicas.
  const isOfOthers = now.replicas.some(({ name, state }) => name !== replica?.name && state !== 'online');
  const fresh = isOfOthers ? 0 : Math.max(0, all);
  return { started: previous.started + fresh, since: previous.since ?? (fresh > 0 ? now.at : undefined), online };
}
