import { checkDeadline, deadlineFields, type MigrationStart } from '../migration-deadline.ts';
import { estimateSecondsLeft, type MovingRate, updateRate } from '../moving-rate.ts';
import { progressPercent } from '../progress-percent.ts';
import type { DatabaseSample, StatusSample, WatchPhase } from '../status-sample.ts';
import type { TrackingResult } from '../tracking-result.ts';
import { sampleRetention, type WatchLimits } from '../watch-limits.ts';
import { countFullSyncs, type FullSyncCount, noFullSyncs } from './full-syncs.ts';
import type { ConnectedReplica, RedisFacts, RedisOutage, RedisPoll } from './redis-facts.ts';
import { redisOutageViolations, redisStoppingRules, runRedisRules } from './redis-rules.ts';

export interface RedisTrackingState {
  readonly first: RedisFacts | undefined;
  readonly window: readonly RedisFacts[];
  /** The replica of the migration, by name. */
  readonly had: string | undefined;
  readonly lastThere: number;
  readonly lastLook: number;
  /** Replicas of somebody else. */
  readonly before: readonly string[] | undefined;
  readonly firstSeen: number | undefined;
  /** Bytes sent to replicas when the snapshot began to be sent. */
  readonly sentBefore: number | undefined;
  readonly copied: boolean;
  readonly peak: number;
  readonly copies: FullSyncCount;
  readonly copy: MovingRate | undefined;
  readonly behind: MovingRate | undefined;
  readonly idle: number;
  readonly outage: { readonly since: number; readonly reason: string } | undefined;
  readonly last: Pick<StatusSample, 'percent' | 'bytes_done' | 'bytes_total' | 'lag_bytes'>;
}

export interface RedisTrackingOptions {
  readonly limits: WatchLimits;
  readonly named: readonly string[];
  readonly clocked: (firstSeen: number | undefined) => MigrationStart | undefined;
}

export function initialRedisState(
  had: string | undefined,
  before: readonly string[] | undefined,
  firstSeen: number | undefined,
  now: number,
): RedisTrackingState {
  const nothing = { percent: 0, bytes_done: 0, bytes_total: 0, lag_bytes: 0 };
  const blank = {
    sentBefore: undefined,
    copied: false,
    peak: 0,
    copies: noFullSyncs,
    copy: undefined,
    behind: undefined,
  };
  return {
    ...blank,
    first: undefined,
    window: [],
    had,
    lastThere: now,
    lastLook: now,
    before,
    firstSeen,
    idle: 0,
    outage: undefined,
    last: nothing,
  };
}

export function trackRedisPoll(
  memory: RedisTrackingState,
  look: RedisPoll,
  tracking: RedisTrackingOptions,
): TrackingResult<RedisTrackingState> {
  return look.kind === 'outage' ? trackOutage(memory, look.outage, tracking) : trackFacts(memory, look.facts, tracking);
}

/** The named one; the one known from before; one that came after the migration was started; else the one that is there. */
export function chooseReplica(
  replicas: readonly ConnectedReplica[],
  { named, had, before }: { readonly named: readonly string[] } & Pick<RedisTrackingState, 'had' | 'before'>,
): ConnectedReplica | undefined {
  if (named.length > 0) return replicas.find(({ name }) => named.includes(name));
  return replicas.find(({ name }) => name === had) ?? replicas.find(({ name }) => before?.includes(name) !== true);
}

function trackFacts(
  was: RedisTrackingState,
  facts: RedisFacts,
  { limits, named, clocked }: RedisTrackingOptions,
): TrackingResult<RedisTrackingState> {
  const { at } = facts;
  const replica = chooseReplica(facts.replicas, { named, had: was.had, before: was.before });
  const had = replica?.name ?? was.had;
  // A machine that slept, or whose clock was set, did not see that the replica was missing all the time.
  const isLeap = at < was.lastLook || at - was.lastLook >= limits.gone + limits.maxBackoff;
  const lastThere = replica === undefined && !isLeap ? was.lastThere : at;
  const window = [...was.window.filter((one) => one.at >= at - sampleRetention(limits)), facts];
  // The first replica makes the server choose a new replication id: from then on it must not change.
  const first =
    was.first === undefined || was.had !== undefined
      ? (was.first ?? facts)
      : { ...was.first, replicationId: facts.replicationId };
  const missing = at - lastThere;
  const copies = countFullSyncs(was.copies, was.window.at(-1), facts, replica, limits);
  const violations = runRedisRules({ now: facts, first, window, replica, had, missing, copies, limits });
  const stopped = violations.some(({ rule }) => redisStoppingRules.has(rule));
  const lag = replica?.state === 'online' ? Math.max(0, facts.offset - replica.offset) : 0;
  const phase = decideRedisPhase(replica, { had, stopped, missing, lag, limits });
  const sending = replica?.state === 'send_bulk';
  const sentBefore = sending ? (was.sentBefore ?? facts.sent) : undefined;
  const copied = replica === undefined || replica.state === 'online' ? was.copied || replica !== undefined : false;
  const part = copied ? 1 : copiedFraction(replica, facts, sentBefore);
  const peak = copied ? Math.max(was.peak, lag) : 0;
  const done = Math.round(part * facts.dataset);
  const copy = updateRate(was.copy, done, at);
  const behind = updateRate(was.behind, facts.offset - lag, at);
  const written =
    (facts.offset - (window[0]?.offset ?? facts.offset)) / Math.max(1, (at - (window[0]?.at ?? at)) / 1000);
  const eta =
    phase === 'streaming'
      ? 0
      : phase === 'copying'
        ? part === 0
          ? undefined
          : estimateSecondsLeft(facts.dataset - done, copy.perSecond)
        : phase === 'catching_up'
          ? estimateSecondsLeft(lag, behind.perSecond - written)
          : undefined;
  const percent = progressPercent(phase, part, peak === 0 ? 1 : 1 - lag / peak, was.last.percent);
  const firstSeen = was.firstSeen ?? (replica === undefined ? undefined : at);
  const begun = clocked(firstSeen);
  const last = { percent, bytes_done: done, bytes_total: facts.dataset, lag_bytes: lag };
  const before = was.before ?? (replica === undefined ? facts.replicas.map(({ name }) => name) : undefined);
  const all = [...violations, ...checkDeadline(begun, at, eta)];
  const idle = phase === 'streaming' && lag === 0 ? was.idle + 1 : 0;
  // A target that is away for longer than this does not come back by itself: it was stopped.
  const ended = replica === undefined && had !== undefined && missing >= 5 * limits.gone;
  const [found] = violations.filter(({ rule }) => rule === 'replica-gone');
  return {
    state: {
      first,
      window,
      had,
      lastThere,
      lastLook: at,
      before,
      firstSeen,
      sentBefore,
      copied,
      peak,
      copies,
      copy,
      behind,
      idle,
      outage: undefined,
      last,
    },
    sample: {
      at: new Date(at).toISOString(),
      phase,
      ...last,
      ...(eta === undefined ? {} : { eta_seconds: eta }),
      ...deadlineFields(begun),
      databases: [sampleServer(facts, phase, last, had)],
      violations: all,
      ...(phase === 'waiting' ? { notes: ['no replica of a migration is connected yet'] } : {}),
    },
    idlePolls: idle,
    ...(ended && found !== undefined ? { ending: { message: found.observed, hint: found.hint } } : {}),
  };
}

function trackOutage(
  was: RedisTrackingState,
  outage: RedisOutage,
  { limits, clocked }: RedisTrackingOptions,
): TrackingResult<RedisTrackingState> {
  const since = was.outage?.since ?? outage.at;
  const begun = clocked(was.firstSeen);
  const phase = outage.at - since >= limits.gone ? 'gone' : 'stalled';
  const last = was.window.at(-1);
  return {
    // Who was not reached cannot tell who is connected: only what the source says counts against the target.
    state: { ...was, idle: 0, outage: { since, reason: outage.reason }, lastThere: outage.at, lastLook: outage.at },
    sample: {
      at: new Date(outage.at).toISOString(),
      phase,
      ...was.last,
      ...deadlineFields(begun),
      databases: last === undefined ? [] : [sampleServer(last, phase, was.last, was.had)],
      violations: [...redisOutageViolations(outage, since), ...checkDeadline(begun, outage.at, undefined)],
    },
    idlePolls: 0,
  };
}

interface RedisPhaseInput {
  readonly had: string | undefined;
  readonly stopped: boolean;
  readonly missing: number;
  readonly lag: number;
  readonly limits: WatchLimits;
}

function decideRedisPhase(
  replica: ConnectedReplica | undefined,
  { had, stopped, missing, lag, limits }: RedisPhaseInput,
): WatchPhase {
  if (replica === undefined) return had === undefined ? 'waiting' : missing >= limits.gone ? 'gone' : 'stalled';
  if (stopped) return 'stalled';
  if (replica.state !== 'online') return 'copying';
  return lag <= limits.streamingLag ? 'streaming' : 'catching_up';
}

/** The snapshot is written, then sent; without a file on the disk both at once. */
function copiedFraction(
  replica: ConnectedReplica | undefined,
  facts: RedisFacts,
  sentBefore: number | undefined,
): number {
  const { snapshot, sent, dataset } = facts;
  const written = snapshot === undefined || snapshot.total === 0 ? 0 : snapshot.done / snapshot.total;
  if (replica?.state === 'send_bulk') {
    const through = sent === undefined || sentBefore === undefined || dataset === 0 ? 0 : (sent - sentBefore) / dataset;
    return Math.min(0.99, 0.5 + through / 2);
  }
  return facts.config.get('repl-diskless-sync') === 'yes' ? Math.min(0.99, written) : written / 2;
}

/** A replica takes the whole server; its databases stand where tables would. */
function sampleServer(
  facts: RedisFacts,
  phase: WatchPhase,
  last: RedisTrackingState['last'],
  replica: string | undefined,
): DatabaseSample {
  const part = last.bytes_total === 0 ? 0 : last.bytes_done / last.bytes_total;
  return {
    name: 'all',
    phase,
    ...last,
    ...(replica === undefined ? {} : { slot: replica }),
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
