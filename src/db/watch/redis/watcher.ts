import { formatBytes, formatDuration } from '../../../base/text.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { type Identity, type IdentityHints, identifyConsumer } from '../identity.ts';
import { retentionMs, type WatchLimits } from '../limits.ts';
import { knownStart, type RecordedSlot, toRecordedSlot } from '../record.ts';
import {
  checkDeadline,
  type DatabaseSample,
  deadlineFields,
  estimateSecondsLeft,
  hasTargetCaughtUp,
  type KnownStart,
  type MovingRate,
  overallPercent,
  type StatusSample,
  updateMovingRate,
  type WatchPhase,
} from '../sample.ts';
import type { FoldResult, SourceWatcher, WatcherOptions } from '../watcher.ts';
import type { ConnectedReplica, RedisFacts, RedisOutage, RedisPoll } from './facts.ts';
import { findLostKeys, keepRunKeys, type RunKeys } from './lost.ts';
import { createRedisObserver } from './observe.ts';
import {
  countFullSyncs,
  type FullSyncs,
  noFullSyncs,
  redisOutages,
  runRedisRules,
  stoppingRedisRules,
} from './rules.ts';

/** Watches a Redis source without writing to it. */
export function createRedisWatcher(source: RedisEndpoint, options: WatcherOptions): SourceWatcher {
  const { record, limits, clock, signal, onSent = () => {} } = options;
  const now = () => clock.now();
  const observer = createRedisObserver({ source, limits, now, signal, onSent });
  const tracking = {
    limits,
    hints: { named: options.slots ?? [], id: record?.started?.id, before: record?.before },
    user: source.username,
    migrationStart: (firstSeen: number | undefined) =>
      knownStart({ ...record, firstSeen: record?.firstSeen ?? firstSeen }, now()),
  };
  let state = createRedisState(record?.slots?.[0], record?.firstSeen, now(), record?.runKeys);
  return {
    async poll() {
      const step = foldRedisPoll(state, await observer.poll(), tracking);
      state = step.state;
      const { sample, idlePolls, caughtUpPolls, ending } = step;
      const { knownReplica, identity, lastConnectedAt, window, runKeys } = state;
      return {
        sample,
        idlePolls,
        caughtUpPolls,
        reached: state.outage === undefined,
        ...(state.outage === undefined ? {} : { outage: state.outage.reason, outageCode: state.outage.code }),
        missingMs: Math.max(0, state.lastPollAt - lastConnectedAt),
        activeSlots:
          knownReplica === undefined || lastConnectedAt !== window.at(-1)?.at
            ? []
            : [toRecordedSlot({ name: knownReplica, database: '' }, identity)],
        ...(state.outage === undefined && window.length > 0
          ? { consumers: window.at(-1)?.replicas.map(({ name }) => name) ?? [] }
          : {}),
        ...(runKeys === undefined ? {} : { runKeys }),
        ...(ending === undefined ? {} : { ending }),
      };
    },
    close: () => observer.close(),
  };
}

/** The state that is kept between two polls of a Redis source. */
interface RedisMigrationWatchState {
  readonly first: RedisFacts | undefined;
  /** The facts of recent polls, oldest first. */
  readonly window: readonly RedisFacts[];
  /** `ADDRESS:PORT` of the replica of the migration. */
  readonly knownReplica: string | undefined;
  readonly identity: Identity | undefined;
  readonly runKeys: RunKeys | undefined;
  /** Since when, and in how many polls, an online replica has acknowledged nothing while the source wrote. */
  readonly silence: { readonly since: number; readonly polls: number } | undefined;
  /** Time in milliseconds since the epoch at which the replica was last connected. */
  readonly lastConnectedAt: number;
  readonly lastPollAt: number;
  readonly firstSeen: number | undefined;
  /** Bytes that had been sent to replicas when the transfer of the snapshot began. */
  readonly sentBefore: number | undefined;
  readonly copyFinished: boolean;
  /** Largest lag in bytes after the full synchronization. */
  readonly peakLag: number;
  readonly fullSyncs: FullSyncs;
  readonly copyRate: MovingRate | undefined;
  readonly catchUpRate: MovingRate | undefined;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  readonly caughtUpPolls: number;
  readonly outage: { readonly since: number; readonly code: string; readonly reason: string } | undefined;
  readonly last: LastKnownSampleProgress;
}

export interface RedisWatchOptions {
  readonly limits: WatchLimits;
  readonly hints: IdentityHints;
  /** The user with which the watch logs in; undefined: the default user. */
  readonly user: string | undefined;
  readonly migrationStart: (firstSeen: number | undefined) => KnownStart | undefined;
}

export function createRedisState(
  known: RecordedSlot | undefined,
  firstSeen: number | undefined,
  now: number,
  runKeys?: RunKeys,
): RedisMigrationWatchState {
  return {
    first: undefined,
    window: [],
    knownReplica: known?.name,
    identity: known?.grade === undefined || known.by === undefined ? undefined : { grade: known.grade, by: known.by },
    runKeys,
    silence: undefined,
    lastConnectedAt: now,
    lastPollAt: now,
    firstSeen,
    sentBefore: undefined,
    copyFinished: false,
    peakLag: 0,
    fullSyncs: noFullSyncs,
    copyRate: undefined,
    catchUpRate: undefined,
    idlePolls: 0,
    caughtUpPolls: 0,
    outage: undefined,
    last: { percent: 0, bytes_done: 0, bytes_total: 0, lag_bytes: 0 },
  };
}

export function foldRedisPoll(
  state: RedisMigrationWatchState,
  poll: RedisPoll,
  tracking: RedisWatchOptions,
): FoldResult<RedisMigrationWatchState> {
  if (poll.kind === 'outage' && poll.outage.code === 'LOADING')
    return trackLoading(state, poll.outage.at, 'the source loads its data', tracking);
  if (poll.kind === 'outage') return trackOutage(state, poll.outage, tracking);
  const { loading, at } = poll.facts;
  if (loading === undefined) return trackFacts(state, poll.facts, tracking);
  const { percent, seconds } = loading;
  const parts = [
    'the source loads its data',
    ...(percent === undefined ? [] : [`${Math.floor(percent)} %`]),
    ...(seconds === undefined ? [] : [`about ${formatDuration(seconds * 1000)} left`]),
  ];
  return trackLoading(state, at, parts.join(', '), tracking);
}

function trackFacts(
  previous: RedisMigrationWatchState,
  facts: RedisFacts,
  { limits, hints, migrationStart }: RedisWatchOptions,
): FoldResult<RedisMigrationWatchState> {
  const { at } = facts;
  const { knownReplica: earlier } = previous;
  const { name: chosen, identity } = identifyConsumer(
    facts.replicas.map(({ name }) => name),
    earlier === undefined ? undefined : { name: earlier, ...previous.identity },
    hints,
    { database: '', noun: 'replica' },
  );
  const replica = chosen === undefined ? undefined : facts.replicas.find(({ name }) => name === chosen);
  const knownReplica = replica?.name ?? earlier;
  // If the machine was suspended or the clock was set, the time between two polls does not count as time without the
  // replica.
  const isLeap = at < previous.lastPollAt || at - previous.lastPollAt >= limits.unreachable + limits.maxBackoff;
  const lastConnectedAt = replica === undefined && !isLeap ? previous.lastConnectedAt : at;
  const window = [...previous.window.filter((one) => one.at >= at - retentionMs(limits)), facts];
  // When the first replica connects, the server creates a new replication id, which must not change afterwards.
  const first =
    previous.first === undefined || earlier !== undefined
      ? (previous.first ?? facts)
      : { ...previous.first, replicationId: facts.replicationId };
  const missingMs = at - lastConnectedAt;
  const fullSyncs = countFullSyncs(previous.fullSyncs, previous.window.at(-1), facts, replica, limits);
  const runNow = { run: facts.runId, keys: facts.keyspace.reduce((sum, { keys }) => sum + keys, 0), at };
  const lost = findLostKeys(previous.runKeys, runNow);
  const broken = runRedisRules({
    now: facts,
    first,
    window,
    replica,
    knownReplica,
    missingMs,
    fullSyncs,
    lost,
    limits,
  });
  const stopped = broken.some(({ rule }) => stoppingRedisRules.has(rule));
  const lag = replica?.state === 'online' ? Math.max(0, facts.offset - replica.offset) : 0;
  const silence = trackSilence(previous, facts, replica);
  const isSilent = silence !== undefined && silence.polls >= silentPolls && at - silence.since >= acknowledgePeriod;
  const phase = decideWatchedRedisPhase(replica, { knownReplica, stopped, missingMs, lag, isSilent, limits });
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
  const percent = overallPercent(phase, part, peakLag === 0 ? 1 : 1 - lag / peakLag, previous.last.percent);
  const firstSeen = previous.firstSeen ?? (replica === undefined ? undefined : at);
  const start = migrationStart(firstSeen);
  // A replica that is not connected may have lost everything.
  const isMissing = replica === undefined && knownReplica !== undefined;
  const last = { percent, bytes_done: done, bytes_total: facts.dataset, lag_bytes: lag };
  const shown = withoutUnknown(!isMissing, last);
  const idlePolls = phase === 'streaming' && lag === 0 ? previous.idlePolls + 1 : 0;
  const isCaughtUp = phase === 'streaming' && hasTargetCaughtUp(window, (one) => one.offset, lag, limits.caughtUpDelay);
  const caughtUpPolls = isCaughtUp ? previous.caughtUpPolls + 1 : 0;
  // Time without the replica after which the migration counts as stopped, because a target retries its connection much
  // more often.
  const isEnded = replica === undefined && knownReplica !== undefined && missingMs >= 5 * limits.unreachable;
  const [gone] = broken.filter(({ rule }) => rule === 'replica-gone');
  const notes = [
    ...(phase === 'waiting' ? ['no replica of a migration is connected yet'] : []),
    ...(replica?.state === 'unacknowledged'
      ? ['the whole copy was sent, and the target has not confirmed it yet']
      : []),
    ...(isSilent && replica !== undefined
      ? [
          `the target ${replica.name} is connected but has acknowledged nothing for ${formatDuration(at - silence.since)}, while the source wrote ${formatBytes(lag)}`,
        ]
      : []),
  ];
  return {
    state: {
      // A restart or a new replication id has passed when the replica follows again.
      first:
        replica?.state === 'online'
          ? {
              ...first,
              runId: facts.runId,
              replicationId: facts.replicationId,
              isPrimary: first.isPrimary || facts.isPrimary,
            }
          : first,
      window,
      knownReplica,
      identity,
      runKeys: keepRunKeys(previous.runKeys, runNow),
      silence,
      lastConnectedAt,
      lastPollAt: at,
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
      ...shown,
      ...(eta === undefined ? {} : { eta_seconds: eta }),
      ...deadlineFields(start),
      ...(identity === undefined ? {} : { identified_by: identity }),
      databases: [buildRedisServerStatusSample(facts, phase, shown, knownReplica, identity)],
      violations: [...broken, ...checkDeadline(start, at, eta)],
      ...(notes.length === 0 ? {} : { notes }),
    },
    idlePolls,
    caughtUpPolls,
    ...(isEnded && gone !== undefined ? { ending: { message: gone.observed, hint: gone.hint } } : {}),
  };
}

/** Returns the result of a poll that could not reach the source: the values of the last successful poll are kept. */
function trackOutage(
  previous: RedisMigrationWatchState,
  outage: RedisOutage,
  { limits, migrationStart, user }: RedisWatchOptions,
): FoldResult<RedisMigrationWatchState> {
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
      ...withoutUnknown(phase !== 'gone' && facts !== undefined, previous.last),
      ...deadlineFields(start),
      ...(previous.identity === undefined ? {} : { identified_by: previous.identity }),
      databases: facts === undefined ? [] : [buildLastKnownSample(previous, facts, phase)],
      violations: [...redisOutages(outage, since, user), ...checkDeadline(start, outage.at, undefined)],
    },
    idlePolls: 0,
    caughtUpPolls: 0,
  };
}

/**
 * A source that starts has its replicas and its keys again when it has loaded its data, so nothing that it shows before
 * counts.
 */
function trackLoading(
  previous: RedisMigrationWatchState,
  at: number,
  note: string,
  { migrationStart }: RedisWatchOptions,
): FoldResult<RedisMigrationWatchState> {
  const start = migrationStart(previous.firstSeen);
  const facts = previous.window.at(-1);
  return {
    state: {
      ...previous,
      ...{ idlePolls: 0, caughtUpPolls: 0, outage: undefined, silence: undefined },
      ...{ lastConnectedAt: at, lastPollAt: at },
    },
    sample: {
      at: new Date(at).toISOString(),
      phase: 'loading',
      ...previous.last,
      ...deadlineFields(start),
      ...(previous.identity === undefined ? {} : { identified_by: previous.identity }),
      databases: facts === undefined ? [] : [buildLastKnownSample(previous, facts, 'loading')],
      violations: checkDeadline(start, at, undefined),
      notes: [note],
    },
    idlePolls: 0,
    caughtUpPolls: 0,
  };
}

function buildLastKnownSample(
  { last, knownReplica, identity }: RedisMigrationWatchState,
  facts: RedisFacts,
  phase: WatchPhase,
): DatabaseSample {
  return buildRedisServerStatusSample(facts, phase, withoutUnknown(phase !== 'gone', last), knownReplica, identity);
}

/** Polls in which an online replica acknowledges nothing before the watch says so. */
const silentPolls = 3;

/** A replica acknowledges once a second, so shorter silence means nothing. */
const acknowledgePeriod = 2000;

function trackSilence(
  { window, silence }: RedisMigrationWatchState,
  facts: RedisFacts,
  replica: ConnectedReplica | undefined,
): RedisMigrationWatchState['silence'] {
  if (replica?.state !== 'online' || replica.offset >= facts.offset) return undefined;
  const before = window.at(-1);
  const earlier = before?.replicas.find(({ name }) => name === replica.name);
  const isSame = before?.runId === facts.runId && earlier?.offset === replica.offset;
  if (silence === undefined || !isSame) return { since: facts.at, polls: 1 };
  return { since: silence.since, polls: silence.polls + 1 };
}

/** Values of a sample that are kept while the source cannot be reached. */
type LastKnownSampleProgress = Required<Pick<StatusSample, 'percent' | 'bytes_done' | 'bytes_total' | 'lag_bytes'>>;

/** Without a connection nothing is known of what the target has received. */
function withoutUnknown(
  isKnown: boolean,
  { percent, lag_bytes, ...bytes }: LastKnownSampleProgress,
): Pick<StatusSample, 'percent' | 'bytes_done' | 'bytes_total' | 'lag_bytes'> {
  return isKnown ? { ...bytes, percent, lag_bytes } : bytes;
}

interface WatchedRedisPhaseInput {
  readonly knownReplica: string | undefined;
  /** Whether a rule is violated whose violation stops replication. */
  readonly stopped: boolean;
  /** Milliseconds since the replica was last connected. */
  readonly missingMs: number;
  /** Bytes. */
  readonly lag: number;
  /** Whether the replica acknowledges nothing of what the source writes. */
  readonly isSilent: boolean;
  readonly limits: WatchLimits;
}

function decideWatchedRedisPhase(
  replica: ConnectedReplica | undefined,
  { knownReplica, stopped, missingMs, lag, isSilent, limits }: WatchedRedisPhaseInput,
): WatchPhase {
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
function computeFullSyncFraction(
  replica: ConnectedReplica | undefined,
  facts: RedisFacts,
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

interface RedisTransferProgress {
  /** The completed fraction of the full synchronization, 0 to 1. */
  readonly part: number;
  readonly bytesLeft: number;
  readonly lag: number;
  readonly copyRate: MovingRate;
  readonly catchUpRate: MovingRate;
  /** Bytes that the source writes per second. */
  readonly written: number;
}

/** Estimated seconds until the replica has received all writes; undefined if the rate is too low or not known yet. */
function estimateRedisSecondsLeft(
  phase: WatchPhase,
  { part, bytesLeft, lag, copyRate, catchUpRate, written }: RedisTransferProgress,
): number | undefined {
  if (phase === 'streaming') return 0;
  if (phase === 'copying') return part === 0 ? undefined : estimateSecondsLeft(bytesLeft, copyRate.perSecond);
  return phase === 'catching_up' ? estimateSecondsLeft(lag, catchUpRate.perSecond - written) : undefined;
}

/** A replica copies the whole server, so there is one database in the sample, and its tables are the numbered databases. */
function buildRedisServerStatusSample(
  facts: RedisFacts,
  phase: WatchPhase,
  totals: ReturnType<typeof withoutUnknown>,
  replica: string | undefined,
  identity: Identity | undefined,
): DatabaseSample {
  const part = totals.bytes_total === 0 ? 0 : totals.bytes_done / totals.bytes_total;
  return {
    name: 'all',
    phase,
    ...totals,
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
