import type { WatchLimits } from '../watch-limits.ts';
import type { ConnectedReplica, RedisFacts } from './redis-facts.ts';

/** Full copies for the migration since one of them held. A copy may take hours, so no window of time is long enough. */
export interface FullSyncCount {
  readonly started: number;
  /** When the first of them was seen; undefined: none was. */
  readonly since: number | undefined;
  /** Since when the replica has been online; undefined: it is not. */
  readonly online: number | undefined;
}

export const noFullSyncs: FullSyncCount = { started: 0, since: undefined, online: undefined };

/** @param before the look before; undefined: this is the first, and what was copied until then may have held */
export function countFullSyncs(
  previous: FullSyncCount,
  before: Pick<RedisFacts, 'fullSyncs' | 'runId'> | undefined,
  now: Pick<RedisFacts, 'at' | 'fullSyncs' | 'runId' | 'replicas'>,
  replica: Pick<ConnectedReplica, 'name' | 'state'> | undefined,
  { unreachable }: Pick<WatchLimits, 'unreachable'>,
): FullSyncCount {
  const isOnline = replica?.state === 'online';
  const online = isOnline ? (previous.online ?? now.at) : undefined;
  // One that is cut off again at once got nothing out of its copy.
  if (online !== undefined && now.at - online >= unreachable) return { ...noFullSyncs, online };
  // A server that was started anew counts from nothing.
  const all = before === undefined ? 0 : now.fullSyncs - (before.runId === now.runId ? before.fullSyncs : 0);
  // Replicas of others are copied to as well.
  const isOfOthers = now.replicas.some(({ name, state }) => name !== replica?.name && state !== 'online');
  const fresh = isOfOthers ? 0 : Math.max(0, all);
  return { started: previous.started + fresh, since: previous.since ?? (fresh > 0 ? now.at : undefined), online };
}
