import type { MigrationWatchLimits } from '../migration-watch-limits.ts';
import { estimateSecondsLeft, type MovingAverageRate } from '../moving-average-rate.ts';
import type { DatabaseStatusSample, MigrationWatchPhase, WatchRuleViolation } from '../status-sample.ts';
import type { WatchedMigrationEnd } from '../watch-poll-result.ts';
import { findWalSenderOfSlot } from './choose-slots.ts';
import { missedPollsUntilSlotCountsAsDropped } from './rules/object-rules.ts';
import type { WatchedServerFacts } from './server-facts.ts';
import { isInitialCopyRunning, slotLagBytes } from './track-database.ts';
import { selectTablesForMigrationStatus, sumCopiedAndTotalTableBytes } from './track-tables.ts';
import type { PostgresWatchState, WatchedDatabaseState } from './tracking-state.ts';

/** The state of one database after a poll. */
export interface WatchedDatabase {
  readonly state: WatchedDatabaseState;
  readonly phase: MigrationWatchPhase;
}

/**
 * Databases that count in the totals. A database without a slot counts as long as no database has a slot, or if it has
 * rows.
 */
export function selectDatabasesForMigrationTotals(tracked: readonly WatchedDatabase[]): readonly WatchedDatabase[] {
  const begun = tracked.filter(({ phase }) => phase !== 'waiting');
  if (begun.length === 0) return tracked;
  return tracked.filter(
    ({ state, phase }) => phase !== 'waiting' || (state.facts?.tables ?? []).some(({ rows }) => rows > 0),
  );
}

export function databaseLagBytes({ slot }: WatchedDatabaseState, server: WatchedServerFacts): number {
  const found = server.slots.find(({ name }) => name === slot);
  return found === undefined ? 0 : slotLagBytes(found, server);
}

export interface MigrationSecondsLeftInput {
  readonly left: number;
  readonly lag: number;
  readonly copyRate: MovingAverageRate;
  readonly writtenRate: MovingAverageRate;
  readonly confirmedRate: MovingAverageRate;
}

export function estimateMigrationSecondsLeft(
  phase: MigrationWatchPhase,
  { left, lag, copyRate, writtenRate, confirmedRate }: MigrationSecondsLeftInput,
): number | undefined {
  if (phase === 'streaming') return 0;
  if (phase === 'copying') return estimateSecondsLeft(left, copyRate.perSecond);
  return phase === 'catching_up'
    ? estimateSecondsLeft(lag, confirmedRate.perSecond - writtenRate.perSecond)
    : undefined;
}

/** Average percentage, weighted by bytes; a database without data counts as one byte. */
export function computeMigrationPercent(
  phase: MigrationWatchPhase,
  tracked: readonly WatchedDatabase[],
  before: number,
): number {
  if (phase === 'streaming') return 100;
  if (phase === 'gone' || phase === 'stalled' || phase === 'loading' || tracked.length === 0) return before;
  const weights = tracked.map(
    ({ state }) => sumCopiedAndTotalTableBytes(state.tables, state.facts?.tables ?? []).total + 1,
  );
  const weighted = tracked.map(({ state }, at) => state.percent * weights[at]!);
  return Math.floor((sumNumbers(weighted) / sumNumbers(weights)) * 10) / 10;
}

/**
 * True if every slot is active and no table copy can start any more, because workers start within `copyPause`. The source itself
 * may show that this time is over: since when the target is connected, and when a table was last scanned.
 */
export function isInitialCopyFinished(
  tracked: readonly WatchedDatabase[],
  { first, now }: { readonly first: WatchedServerFacts; readonly now: WatchedServerFacts },
  limits: MigrationWatchLimits,
): boolean {
  return tracked.every(({ state }) => {
    const isActive = now.slots.some(({ name, active }) => name === state.slot && active);
    const seen = Math.max(first.at, state.firstActiveAt ?? now.at);
    const since = Math.max(Math.min(seen, lastPossibleCopyAt(state, now)), state.lastCopyAt ?? 0);
    return isActive && now.at - since >= limits.copyPause && !isInitialCopyRunning(state, now.at, limits);
  });
}

/** The last time at which a copy can have run, by the clock of the source; infinity if the source does not show it. */
function lastPossibleCopyAt({ slot, facts }: WatchedDatabaseState, now: WatchedServerFacts): number {
  const found = now.slots.find(({ name }) => name === slot);
  const connectedFor = found && findWalSenderOfSlot(found, now.senders)?.connectedFor;
  const filled = (facts?.tables ?? []).filter(({ rows, scanAge }) => rows > 0 || scanAge !== undefined);
  const ages = filled.map(({ scanAge }) => scanAge ?? 0);
  if (connectedFor === undefined || facts === undefined) return Number.POSITIVE_INFINITY;
  return now.at - 1000 * Math.min(connectedFor, ...ages);
}

export function buildDatabaseStatusSample(
  { state, phase }: WatchedDatabase,
  server: WatchedServerFacts | undefined,
): DatabaseStatusSample {
  const tables = state.facts?.tables ?? [];
  const { done, total } = sumCopiedAndTotalTableBytes(state.tables, tables);
  return {
    name: state.name,
    phase,
    ...(phase === 'gone'
      ? {}
      : { percent: state.percent, lag_bytes: server === undefined ? 0 : databaseLagBytes(state, server) }),
    bytes_done: done,
    bytes_total: total,
    ...(state.slot === undefined ? {} : { slot: state.slot }),
    ...(state.identity === undefined ? {} : { identified_by: state.identity }),
    tables: selectTablesForMigrationStatus(state.tables, tables),
  };
}

/** Returns the end of a migration that cannot continue because all its slots are dropped or lost. */
export function detectMigrationEndByLostSlots(
  { databases }: PostgresWatchState,
  violations: readonly WatchRuleViolation[],
): { ending?: WatchedMigrationEnd } {
  const ours = [...databases.values()].filter(({ slot }) => slot !== undefined);
  const dead = ours.filter(
    ({ name, missedPolls }) =>
      missedPolls >= missedPollsUntilSlotCountsAsDropped ||
      violations.some((one) => one.rule === 'slot-lost' && one.database === name),
  );
  if (ours.length === 0 || dead.length < ours.length) return {};
  const found = violations.filter(({ rule }) => rule === 'slot-dropped' || rule === 'slot-lost');
  const [one] = found;
  return one === undefined ? {} : { ending: { message: one.observed, hint: one.hint } };
}

export function sumNumbers(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
