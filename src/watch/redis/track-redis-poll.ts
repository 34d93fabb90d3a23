import { checkDeadline, deadlineFields, type MigrationStart } from '../migration-deadline.ts';
import { type MigrationWatchLimits, sampleRetentionMs } from '../migration-watch-limits.ts';
import { type MovingAverageRate, updateMovingRate } from '../moving-average-rate.ts';
import { progressPercent } from '../progress-percent.ts';
import type { TrackingResult } from '../tracking-result.ts';
import { countFullSyncs, type FullSyncCount, initialFullSyncCount } from './full-syncs.ts';
import type { ConnectedReplica, RedisFacts, RedisOutage, RedisPoll } from './redis-facts.ts';
import { redisOutageViolations, redisStoppingRules, runRedisRules } from './redis-rules.ts';
import { copiedFraction, decideRedisPhase, estimateRedisEta, type SampleTotals, sampleServer } from './redis-sample.ts';

/** The state that is kept between two polls of a Redis source. */
export interface RedisTrackingState {
  readonly first: RedisFacts | undefined;
  /** The facts of recent polls, oldest first. */
  readonly window: readonly RedisFacts[];
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
  readonly fullSyncs: FullSyncCount;
  readonly copyRate: MovingAverageRate | undefined;
  readonly catchUpRate: MovingAverageRate | undefined;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  readonly outage: { readonly since: number; readonly reason: string } | undefined;
  readonly last: SampleTotals;
}

export interface RedisTrackingOptions {
  readonly limits: MigrationWatchLimits;
  /** Addresses of replicas given with `--slot`. */
  readonly named: readonly string[];
  readonly migrationStart: (firstSeen: number | undefined) => MigrationStart | undefined;
}

export function initialRedisState(
  knownReplica: string | undefined,
  otherReplicas: readonly string[] | undefined,
  firstSeen: number | undefined,
  now: number,
): RedisTrackingState {
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
    fullSyncs: initialFullSyncCount,
    copyRate: undefined,
    catchUpRate: undefined,
    idlePolls: 0,
    outage: undefined,
    last: { percent: 0, bytes_done: 0, bytes_total: 0, lag_bytes: 0 },
  };
}

export function trackRedisPoll(
  state: RedisTrackingState,
  poll: RedisPoll,
  tracking: RedisTrackingOptions,
): TrackingResult<RedisTrackingState> {
  return poll.kind === 'outage' ? trackOutage(state, poll.outage, tracking) : trackFacts(state, poll.facts, tracking);
}

/**
 * Chooses the replica of the migration: the replica given with `--slot`, else the replica of an earlier poll, else the
 * first replica that did not exist before the migration.
 */
export function chooseReplica(
  replicas: readonly ConnectedReplica[],
  {
    named,
    knownReplica,
    otherReplicas,
  }: { readonly named: readonly string[] } & Pick<RedisTrackingState, 'knownReplica' | 'otherReplicas'>,
): ConnectedReplica | undefined {
  if (named.length > 0) return replicas.find(({ name }) => named.includes(name));
  return (
    replicas.find(({ name }) => name === knownReplica) ??
    replicas.find(({ name }) => otherReplicas?.includes(name) !== true)
  );
}

function trackFacts(
  previous: RedisTrackingState,
  facts: RedisFacts,
  { limits, named, migrationStart }: RedisTrackingOptions,
): TrackingResult<RedisTrackingState> {
  const { at } = facts;
  const { knownReplica: earlier, otherReplicas } = previous;
  const replica = chooseReplica(facts.replicas, { named, knownReplica: earlier, otherReplicas });
  const knownReplica = replica?.name ?? earlier;
  // If the machine was suspended or the clock was set, the time between two polls does not count as time without the
  // replica.
  const isLeap = at < previous.lastPollAt || at - previous.lastPollAt >= limits.unreachable + limits.maxBackoff;
  const lastConnectedAt = replica === undefined && !isLeap ? previous.lastConnectedAt : at;
  const window = [...previous.window.filter((one) => one.at >= at - sampleRetentionMs(limits)), facts];
  // When the first replica connects, the server creates a new replication id, which must not change afterwards.
  const first =
    previous.first === undefined || earlier !== undefined
      ? (previous.first ?? facts)
      : { ...previous.first, replicationId: facts.replicationId };
  const missingMs = at - lastConnectedAt;
  const fullSyncs = countFullSyncs(previous.fullSyncs, previous.window.at(-1), facts, replica, limits);
  const broken = runRedisRules({ now: facts, first, window, replica, knownReplica, missingMs, fullSyncs, limits });
  const stopped = broken.some(({ rule }) => redisStoppingRules.has(rule));
  const lag = replica?.state === 'online' ? Math.max(0, facts.offset - replica.offset) : 0;
  const phase = decideRedisPhase(replica, { knownReplica, stopped, missingMs, lag, limits });
  const sentBefore = replica?.state === 'send_bulk' ? (previous.sentBefore ?? facts.sent) : undefined;
  const copyFinished =
    replica === undefined || replica.state === 'online' ? previous.copyFinished || replica !== undefined : false;
  const part = copyFinished ? 1 : copiedFraction(replica, facts, sentBefore);
  const peakLag = copyFinished ? Math.max(previous.peakLag, lag) : 0;
  const done = Math.round(part * facts.dataset);
  const copyRate = updateMovingRate(previous.copyRate, done, at);
  const catchUpRate = updateMovingRate(previous.catchUpRate, facts.offset - lag, at);
  const oldest = window[0] ?? facts;
  const written = (facts.offset - oldest.offset) / Math.max(1, (at - oldest.at) / 1000);
  const eta = estimateRedisEta(phase, { part, bytesLeft: facts.dataset - done, lag, copyRate, catchUpRate, written });
  const percent = progressPercent(phase, part, peakLag === 0 ? 1 : 1 - lag / peakLag, previous.last.percent);
  const firstSeen = previous.firstSeen ?? (replica === undefined ? undefined : at);
  const start = migrationStart(firstSeen);
  const last = { percent, bytes_done: done, bytes_total: facts.dataset, lag_bytes: lag };
  const idlePolls = phase === 'streaming' && lag === 0 ? previous.idlePolls + 1 : 0;
  // Time without the replica after which the migration counts as stopped, because a target retries its connection much
  // more often.
  const hasMigrationEnded = replica === undefined && knownReplica !== undefined && missingMs >= 5 * limits.unreachable;
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
      outage: undefined,
      last,
    },
    sample: {
      at: new Date(at).toISOString(),
      phase,
      ...last,
      ...(eta === undefined ? {} : { eta_seconds: eta }),
      ...deadlineFields(start),
      databases: [sampleServer(facts, phase, last, knownReplica)],
      violations: [...broken, ...checkDeadline(start, at, eta)],
      ...(phase === 'waiting' ? { notes: ['no replica of a migration is connected yet'] } : {}),
    },
    idlePolls,
    ...(hasMigrationEnded && gone !== undefined ? { ending: { message: gone.observed, hint: gone.hint } } : {}),
  };
}

/** Keeps the last values while the source cannot be reached. */
function trackOutage(
  previous: RedisTrackingState,
  outage: RedisOutage,
  { limits, migrationStart }: RedisTrackingOptions,
): TrackingResult<RedisTrackingState> {
  const since = previous.outage?.since ?? outage.at;
  const start = migrationStart(previous.firstSeen);
  const phase = outage.at - since >= limits.unreachable ? 'gone' : 'stalled';
  const facts = previous.window.at(-1);
  return {
    state: {
      ...previous,
      idlePolls: 0,
      outage: { since, reason: outage.reason },
      // An outage of the source does not count as time without the replica, because only a response of the source
      // proves that the replica is missing.
      lastConnectedAt: outage.at,
      lastPollAt: outage.at,
    },
    sample: {
      at: new Date(outage.at).toISOString(),
      phase,
      ...previous.last,
      ...deadlineFields(start),
      databases: facts === undefined ? [] : [sampleServer(facts, phase, previous.last, previous.knownReplica)],
      violations: [...redisOutageViolations(outage, since), ...checkDeadline(start, outage.at, undefined)],
    },
    idlePolls: 0,
  };
}
