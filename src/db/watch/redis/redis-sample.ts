import type { Identity } from '../identity.ts';
import type { MigrationWatchLimits } from '../migration-watch-limits.ts';
import { estimateSecondsLeft, type MovingAverageRate } from '../moving-average-rate.ts';
import type { DatabaseStatusSample, MigrationStatusSample, MigrationWatchPhase } from '../status-sample.ts';
import type { ConnectedReplica, WatchedRedisFacts } from './redis-facts.ts';

/** Values of a sample that are kept while the source cannot be reached. */
export type LastKnownSampleProgress = Required<
  Pick<MigrationStatusSample, 'percent' | 'bytes_done' | 'bytes_total' | 'lag_bytes'>
>;

/** Without a connection nothing is known of what the target has received. */
export function withoutUnknown(
  phase: MigrationWatchPhase,
  { percent, lag_bytes, ...bytes }: LastKnownSampleProgress,
): Pick<MigrationStatusSample, 'percent' | 'bytes_done' | 'bytes_total' | 'lag_bytes'> {
  return phase === 'gone' ? bytes : { ...bytes, percent, lag_bytes };
}

export interface WatchedRedisPhaseInput {
  readonly knownReplica: string | undefined;
  /** Whether a rule is violated whose violation stops replication. */
  readonly stopped: boolean;
  /** Milliseconds since the replica was last connected. */
  readonly missingMs: number;
  /** Bytes. */
  readonly lag: number;
  /** Whether the replica acknowledges nothing of what the source writes. */
  readonly isSilent: boolean;
  readonly limits: MigrationWatchLimits;
}

export function decideWatchedRedisPhase(
  replica: ConnectedReplica | undefined,
  { knownReplica, stopped, missingMs, lag, isSilent, limits }: WatchedRedisPhaseInput,
): MigrationWatchPhase {
  if (replica === undefined) {
    if (knownReplica === undefined) return 'waiting';
    return missingMs >= limits.unreachable ? 'gone' : 'stalled';
  }
  if (stopped) return 'stalled';
  if (replica.state !== 'online') return 'copying';
  return lag <= limits.streamingLag && !isSilent ? 'streaming' : 'catching_up';
}

/**
 * The completed fraction of the full synchronization, from 0 to below 1. The source first writes the snapshot and then
 * sends it; with repl-diskless-sync it does both at the same time.
 * @param sentBefore bytes sent to replicas when the transfer of the snapshot began
 */
export function computeFullSyncFraction(
  replica: ConnectedReplica | undefined,
  facts: WatchedRedisFacts,
  sentBefore: number | undefined,
): number {
  const { snapshot, sent, dataset } = facts;
  const written = snapshot === undefined || snapshot.total === 0 ? 0 : snapshot.done / snapshot.total;
  if (replica?.state === 'send_bulk') {
    const sentPart =
      sent === undefined || sentBefore === undefined || dataset === 0 ? 0 : (sent - sentBefore) / dataset;
    return Math.min(0.99, 0.5 + sentPart / 2);
  }
  if (replica?.state === 'unacknowledged') return 0.99;
  return facts.config.get('repl-diskless-sync') === 'yes' ? Math.min(0.99, written) : written / 2;
}

export interface RedisTransferProgress {
  /** The completed fraction of the full synchronization, 0 to 1. */
  readonly part: number;
  readonly bytesLeft: number;
  readonly lag: number;
  readonly copyRate: MovingAverageRate;
  readonly catchUpRate: MovingAverageRate;
  /** Bytes that the source writes per second. */
  readonly written: number;
}

/** Estimated seconds until the replica has received all writes; undefined if the rate is too low or not known yet. */
export function estimateRedisSecondsLeft(
  phase: MigrationWatchPhase,
  { part, bytesLeft, lag, copyRate, catchUpRate, written }: RedisTransferProgress,
): number | undefined {
  if (phase === 'streaming') return 0;
  if (phase === 'copying') return part === 0 ? undefined : estimateSecondsLeft(bytesLeft, copyRate.perSecond);
  return phase === 'catching_up' ? estimateSecondsLeft(lag, catchUpRate.perSecond - written) : undefined;
}

/** A replica copies the whole server, so there is one database in the sample, and its tables are the numbered databases. */
export function buildRedisServerStatusSample(
  facts: WatchedRedisFacts,
  phase: MigrationWatchPhase,
  totals: LastKnownSampleProgress,
  replica: string | undefined,
  identity: Identity | undefined,
): DatabaseStatusSample {
  const part = totals.bytes_total === 0 ? 0 : totals.bytes_done / totals.bytes_total;
  return {
    name: 'all',
    phase,
    ...withoutUnknown(phase, totals),
    ...(replica === undefined ? {} : { slot: replica }),
    ...(identity === undefined ? {} : { identified_by: identity }),
    tables: facts.keyspace.map(({ index, keys }) => ({
      name: `db${index}`,
      state: part >= 1 ? 'done' : part > 0 ? 'copying' : 'waiting',
      bytes_done: 0,
      bytes_total: 0,
      rows_done: Math.round(keys * part),
      rows_total: keys,
    })),
  };
}
