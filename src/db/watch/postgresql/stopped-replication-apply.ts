import { findWalSenderOfSlot } from './choose-slots.ts';
import {
  findWatchedSlot,
  type PostgresqlWatchRuleInput,
  selectWatchSamplesSince,
  type TrackedReplicationSlot,
} from './rule-input.ts';
import type { WatchedServerFacts } from './server-facts.ts';

/** The target confirms no changes of a slot although the source has changes for it. */
export interface StoppedReplicationApply {
  /**
   * `failing`: the target connects and fails repeatedly. `blocked`: the target is connected and does not respond.
   * `disconnected`: the target does not connect. `unknown`: `failing` or `disconnected`; this version of PostgreSQL
   * does not show which.
   */
  readonly kind: 'failing' | 'blocked' | 'disconnected' | 'unknown';
  readonly seconds: number;
  /** False while replication has been stopped for so short a time that the target may be restarting or reconnecting. */
  readonly isCertain: boolean;
}

export function detectStoppedReplicationApply(
  { name, slot, wasActive }: TrackedReplicationSlot,
  { window, limits, now }: PostgresqlWatchRuleInput,
): StoppedReplicationApply | undefined {
  if (slot === undefined || !wasActive || slot.walStatus === 'lost' || slot.invalidated !== undefined) return undefined;
  const since = (samples: readonly WatchedServerFacts[]) => (now.at - samples[0]!.at) / 1000;
  const failing = selectWatchSamplesSince(window, limits.failingApply);
  if (failing !== undefined && isRetrying(failing, name, limits.failedAttempts))
    return { kind: 'failing', seconds: since(failing), isCertain: true };
  const silence = secondsOfSilence(now, slot);
  if (silence !== undefined && silence * 1000 >= limits.silentReply && isUnconfirmed(window.slice(-3), name))
    return { kind: 'blocked', seconds: silence, isCertain: true };
  const long = selectWatchSamplesSince(window, 3 * limits.failingApply);
  if (silence === undefined && slot.active && long !== undefined && isApplyBlocked(long, name))
    return { kind: 'blocked', seconds: since(long), isCertain: true };
  const quiet = selectWatchSamplesSince(window, limits.inactiveSlot);
  // A worker that a timeout ends again and again is connected most of the time but does not respond.
  const isSilent = !slot.active || silence === undefined || 3000 * silence >= limits.silentReply;
  if (quiet !== undefined && isSilent && isUnconfirmed(quiet, name) && attemptsIn(quiet, name) >= 2)
    return { kind: 'failing', seconds: since(quiet), isCertain: true };
  const showsAttempts = slot.inactiveSince !== undefined || slot.decoded !== undefined;
  if (quiet !== undefined && isFrozen(quiet, name) && attemptsIn(quiet, name) === 0)
    return { kind: showsAttempts ? 'disconnected' : 'unknown', seconds: since(quiet), isCertain: true };
  const short = selectWatchSamplesSince(window, limits.suspectedStop);
  if (short === undefined) return undefined;
  if (isRetrying(short, name, 2)) return { kind: 'failing', seconds: since(short), isCertain: false };
  if (!isFrozen(short, name)) return undefined;
  const kind = !showsAttempts ? 'unknown' : attemptsIn(short, name) > 0 ? 'failing' : 'disconnected';
  return { kind, seconds: since(short), isCertain: false };
}

/**
 * Seconds since the last response of the consumer of a slot that has changes to confirm. The consumer responds every
 * ten seconds (wal_receiver_status_interval), at the latest after half of wal_sender_timeout. It also responds while it
 * applies a large transaction, but not while one of its statements waits for a lock. undefined: no consumer, nothing to
 * confirm, or not shown.
 */
function secondsOfSilence(
  { senders, walPosition }: WatchedServerFacts,
  slot: NonNullable<TrackedReplicationSlot['slot']>,
) {
  const sender = slot.active ? findWalSenderOfSlot(slot, senders) : undefined;
  const isBehind = (slot.flushed ?? 0) < (walPosition ?? 0);
  return isBehind ? sender?.replyAge : undefined;
}

/** The target confirmed nothing in any of the samples, although the first sample already had unconfirmed changes. */
function isUnconfirmed(samples: readonly WatchedServerFacts[], name: string): boolean {
  const all = samples.map((facts) => findWatchedSlot(facts, name)?.flushed);
  return (
    all.length >= 2 && all.every((flushed) => flushed === all[0]) && (all[0] ?? 0) < (samples[0]?.walPosition ?? 0)
  );
}

/** Whether the target connects repeatedly: most polls find no connection, or the polls find different processes. */
function isRetrying(window: readonly WatchedServerFacts[], name: string, attempts: number): boolean {
  if (attemptsIn(window, name) < attempts) return false;
  const pids = new Set(window.flatMap((facts) => findWatchedSlot(facts, name)?.pid ?? []));
  return isFrozen(window, name) || (pids.size >= attempts && isUnconfirmed(window, name));
}

/** The slot was inactive in at least 80 % of the samples, and the target confirmed nothing although there are changes. */
function isFrozen(window: readonly WatchedServerFacts[], name: string): boolean {
  const all = window.flatMap((facts) => findWatchedSlot(facts, name) ?? []);
  const inactive = all.filter(({ active }) => !active).length;
  const [first] = all;
  const behind = window.at(-1)?.walPosition ?? 0;
  return (
    first !== undefined &&
    all.at(-1)?.active === false &&
    inactive >= 0.8 * all.length &&
    all.every(({ flushed }) => flushed === first.flushed) &&
    (first.flushed ?? 0) < behind
  );
}

/** One consumer was connected all the time and confirmed nothing, while the WAL grew. */
function isApplyBlocked(window: readonly WatchedServerFacts[], name: string): boolean {
  const all = window.map((facts) => findWatchedSlot(facts, name));
  const [first] = all;
  return (
    first?.pid !== undefined &&
    all.every((slot) => slot?.pid === first.pid && slot?.flushed === first.flushed) &&
    (first.flushed ?? 0) < (window[0]?.walPosition ?? 0) &&
    (window.at(-1)?.walPosition ?? 0) > (window[0]?.walPosition ?? 0)
  );
}

/**
 * Number of times that the target tried to replicate. An attempt lasts milliseconds, so polls rarely observe the connection.
 * Each attempt changes inactive_since (PostgreSQL 17 and later) and makes the source decode transactions again (14 and
 * later).
 */
function attemptsIn(window: readonly WatchedServerFacts[], name: string): number {
  return window.slice(1).filter((facts, at) => {
    const [before, after] = [findWatchedSlot(window[at]!, name), findWatchedSlot(facts, name)];
    if (before === undefined || after === undefined) return false;
    const left =
      before.inactiveSince !== undefined &&
      after.inactiveSince !== undefined &&
      before.inactiveSince !== after.inactiveSince;
    // The decoded count also grows while one WAL sender decodes several transactions, so only a new process counts as an
    // attempt.
    const isSameProcess = before.pid !== undefined && before.pid === after.pid;
    const decoded = before.decoded !== undefined && after.decoded !== undefined && after.decoded > before.decoded;
    return left || (decoded && !isSameProcess) || after.active !== before.active || after.pid !== before.pid;
  }).length;
}
