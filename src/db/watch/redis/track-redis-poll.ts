import { computeOverallMigrationPercent } from '../compute-overall-migration-percent.ts';
import { hasTargetCaughtUp } from '../has-target-caught-up.ts';
import {
  buildMigrationDeadlineFields,
  checkMigrationDeadline,
  type KnownMigrationStart,
} from '../migration-deadline.ts';
import { computeWatchSampleRetentionMs, type MigrationWatchLimits } from '../migration-watch-limits.ts';
import { type MovingAverageRate, updateMovingRate } from '../moving-average-rate.ts';
import type { WatchPollResult } from '../watch-poll-result.ts';
import {
  emptyRedisFullSyncsSinceSuccess,
  type RedisFullSyncsSinceSuccess,
  updateRedisFullSyncCount,
} from './full-syncs.ts';
import type { ConnectedReplica, RedisPollFailure, RedisWatchPoll, WatchedRedisFacts } from './redis-facts.ts';
import { redisOutageViolations, redisWatchRulesStoppingReplication, runRedisWatchRules } from './redis-rules.ts';
import {
  buildRedisServerStatusSample,
  computeFullSyncFraction,
  decideWatchedRedisPhase,
  estimateRedisSecondsLeft,
  type LastKnownSampleProgress,
} from './redis-sample.ts';

/** The state that is kept between two polls of a Redis source. */
export interface RedisMigrationWatchState {
  readonly first: WatchedRedisFacts | undefined;
  /** The facts of recent polls, oldest first. */
  readonly window: readonly WatchedRedisFacts[];
  /** `ADDRESS:PORT` of the replica of the migration. */
  readonly knownReplica: string | undefined;
  /** Time in milliseconds since the epoch at which the replica was last connected. */
  readonly lastConnectedAt: number;
  readonly lastPollAt: number;
  /** Addresses of replicas that do not belong to the migration. */
  readonly otherReplicas: readonly string[] | undefined;
  readonly firstSeen: number | undefined;
  /** Bytes that had been sent to replicas when the transfer of the snapshot began. */
  readonly sentBefore: number | undefined;
  readonly copyFinished: boolean;
  /** Largest lag in bytes after the full synchronization. */
  readonly peakLag: number;
  readonly fullSyncs: RedisFullSyncsSinceSuccess;
  readonly copyRate: MovingAverageRate | undefined;
  readonly catchUpRate: MovingAverageRate | undefined;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  readonly caughtUpPolls: number;
  readonly outage: { readonly since: number; readonly code: string; readonly reason: string } | undefined;
  readonly last: LastKnownSampleProgress;
}

export interface RedisWatchOptions {
  readonly limits: MigrationWatchLimits;
  /** Addresses of replicas given with `--slot`. */
  readonly named: readonly string[];
  readonly migrationStart: (firstSeen: number | undefined) => KnownMigrationStart | undefined;
}

export function createRedisMigrationWatchState(
  knownReplica: string | undefined,
  otherReplicas: readonly string[] | undefined,
  firstSeen: number | undefined,
  now: number,
): RedisMigrationWatchState {
  return {
    first: undefined,
    window: [],
    knownReplica,
    lastConnectedAt: now,
    lastPollAt: now,
    otherReplicas,
    firstSeen,
    sentBefore: undefined,
    copyFinished: false,
    peakLag: 0,
    fullSyncs: emptyRedisFullSyncsSinceSuccess,
    copyRate: undefined,
    catchUpRate: undefined,
    idlePolls: 0,
    caughtUpPolls: 0,
    outage: undefined,
    last: { percent: 0, bytes_done: 0, bytes_total: 0, lag_bytes: 0 },
  };
}

export function updateRedisWatchState(
  state: RedisMigrationWatchState,
  poll: RedisWatchPoll,
  tracking: RedisWatchOptions,
): WatchPollResult<RedisMigrationWatchState> {
  return poll.kind === 'outage' ? trackOutage(state, poll.outage, tracking) : trackFacts(state, poll.facts, tracking);
}

/**
 * Chooses the replica of the migration: the replica given with `--slot`, else the replica of an earlier poll, else the
 * first replica that did not exist before the migration.
 */
export function identifyTargetReplica(
  replicas: readonly ConnectedReplica[],
  {
    named,
    knownReplica,
    otherReplicas,
  }: { readonly named: readonly string[] } & Pick<RedisMigrationWatchState, 'knownReplica' | 'otherReplicas'>,
): ConnectedReplica | undefined {
  if (named.length > 0) return replicas.find(({ name }) => named.includes(name));
  return (
    replicas.find(({ name }) => name === knownReplica) ??
    replicas.find(({ name }) => otherReplicas?.includes(name) !== true)
  );
}

function trackFacts(
  previous: RedisMigrationWatchState,
  facts: WatchedRedisFacts,
  { limits, named, migrationStart }: RedisWatchOptions,
): WatchPollResult<RedisMigrationWatchState> {
  const { at } = facts;
  const { knownReplica: earlier, otherReplicas } = previous;
  const replica = identifyTargetReplica(facts.replicas, { named, knownReplica: earlier, otherReplicas });
  const knownReplica = replica?.name ?? earlier;
  // If the machine was suspended or the clock was set, the time between two polls does not count as time without the
  // replica.
  const isLeap = at < previous.lastPollAt || at - previous.lastPollAt >= limits.unreachable + limits.maxBackoff;
  const lastConnectedAt = replica === undefined && !isLeap ? previous.lastConnectedAt : at;
  const window = [...previous.window.filter((one) => one.at >= at - computeWatchSampleRetentionMs(limits)), facts];
  // When the first replica connects, the server creates a new replication id, which must not change afterwards.
  const first =
    previous.first === undefined || earlier !== undefined
      ? (previous.first ?? facts)
      : { ...previous.first, replicationId: facts.replicationId };
  const missingMs = at - lastConnectedAt;
  const fullSyncs = updateRedisFullSyncCount(previous.fullSyncs, previous.window.at(-1), facts, replica, limits);
  const broken = runRedisWatchRules({ now: facts, first, window, replica, knownReplica, missingMs, fullSyncs, limits });
  const stopped = broken.some(({ rule }) => redisWatchRulesStoppingReplication.has(rule));
  const lag = replica?.state === 'online' ? Math.max(0, facts.offset - replica.offset) : 0;
  const phase = decideWatchedRedisPhase(replica, { knownReplica, stopped, missingMs, lag, limits });
  const sentBefore = replica?.state === 'send_bulk' ? (previous.sentBefore ?? facts.sent) : undefined;
  const copyFinished =
    replica === undefined || replica.state === 'online' ? previous.copyFinished || replica !== undefined : false;
  const part = copyFinished ? 1 : computeFullSyncFraction(replica, facts, sentBefore);
  const peakLag = copyFinished ? Math.max(previous.peakLag, lag) : 0;
  const done = Math.round(part * facts.dataset);
  const copyRate = updateMovingRate(previous.copyRate, done, at);
  const catchUpRate = updateMovingRate(previous.catchUpRate, facts.offset - lag, at);
  const oldest = window[0] ?? facts;
  const written = (facts.offset - oldest.offset) / Math.max(1, (at - oldest.at) / 1000);
  const eta = estimateRedisSecondsLeft(phase, {
    part,
    bytesLeft: facts.dataset - done,
    lag,
    copyRate,
    catchUpRate,
    written,
  });
  const percent = computeOverallMigrationPercent(
    phase,
    part,
    peakLag === 0 ? 1 : 1 - lag / peakLag,
    previous.last.percent,
  );
  const firstSeen = previous.firstSeen ?? (replica === undefined ? undefined : at);
  const start = migrationStart(firstSeen);
  const last = { percent, bytes_done: done, bytes_total: facts.dataset, lag_bytes: lag };
  const idlePolls = phase === 'streaming' && lag === 0 ? previous.idlePolls + 1 : 0;
  const isCaughtUp = phase === 'streaming' && hasTargetCaughtUp(window, (one) => one.offset, lag, limits.caughtUpDelay);
  const caughtUpPolls = isCaughtUp ? previous.caughtUpPolls + 1 : 0;
  // Time without the replica after which the migration counts as stopped, because a target retries its connection much
  // more often.
  const isEnded = replica === undefined && knownReplica !== undefined && missingMs >= 5 * limits.unreachable;
  const [gone] = broken.filter(({ rule }) => rule === 'replica-gone');
  return {
    state: {
      first,
      window,
      knownReplica,
      lastConnectedAt,
      lastPollAt: at,
      otherReplicas: otherReplicas ?? (replica === undefined ? facts.replicas.map(({ name }) => name) : undefined),
      firstSeen,
      sentBefore,
      copyFinished,
      peakLag,
      fullSyncs,
      copyRate,
      catchUpRate,
      idlePolls,
      caughtUpPolls,
      outage: undefined,
      last,
    },
    sample: {
      at: new Date(at).toISOString(),
      phase,
      ...last,
      ...(eta === undefined ? {} : { eta_seconds: eta }),
      ...buildMigrationDeadlineFields(start),
      databases: [buildRedisServerStatusSample(facts, phase, last, knownReplica)],
      violations: [...broken, ...checkMigrationDeadline(start, at, eta)],
      ...(phase === 'waiting' ? { notes: ['no replica of a migration is connected yet'] } : {}),
    },
    idlePolls,
    caughtUpPolls,
    ...(isEnded && gone !== undefined ? { ending: { message: gone.observed, hint: gone.hint } } : {}),
  };
}

/** Returns the result of a poll that could not reach the source: the values of the last successful poll are kept. */
function trackOutage(
  previous: RedisMigrationWatchState,
  outage: RedisPollFailure,
  { limits, migrationStart }: RedisWatchOptions,
): WatchPollResult<RedisMigrationWatchState> {
  const since = previous.outage?.since ?? outage.at;
  const start = migrationStart(previous.firstSeen);
  const phase = outage.at - since >= limits.unreachable ? 'gone' : 'stalled';
  const facts = previous.window.at(-1);
  return {
    state: {
      ...previous,
      idlePolls: 0,
      caughtUpPolls: 0,
      outage: { since, code: outage.code, reason: outage.reason },
      // Time in which the source does not respond does not count as time without a replica, because only a response of the
      // source proves that the replica is missing.
      lastConnectedAt: outage.at,
      lastPollAt: outage.at,
    },
    sample: {
      at: new Date(outage.at).toISOString(),
      phase,
      ...previous.last,
      ...buildMigrationDeadlineFields(start),
      databases:
        facts === undefined ? [] : [buildRedisServerStatusSample(facts, phase, previous.last, previous.knownReplica)],
      violations: [...redisOutageViolations(outage, since), ...checkMigrationDeadline(start, outage.at, undefined)],
    },
    idlePolls: 0,
    caughtUpPolls: 0,
  };
}
