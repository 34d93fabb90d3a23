import type { WatchLimits } from '../limits.ts';
import {
  type DatabaseSample,
  estimateSecondsLeft,
  helpWithViolation,
  type MovingRate,
  type Violation,
  type WatchPhase,
} from '../sample.ts';
import type { MigrationEnd } from '../watcher.ts';
import { isCopying, slotLagBytes } from './database.ts';
import type { ServerFacts } from './facts.ts';
import { droppedAfterPolls } from './objects.ts';
import { senderOfSlot } from './slots.ts';
import type { DatabaseWatch, PostgresState } from './state.ts';
import { shownTables, sumTableBytes } from './tables.ts';

/** The state of one database after a poll. */
interface WatchedDatabase {
  readonly state: DatabaseWatch;
  readonly phase: WatchPhase;
}

/**
 * Databases that count in the totals. A database without a slot counts as long as no database has a slot, or if it has
 * rows.
 */
export function countedDatabases(tracked: readonly WatchedDatabase[]): readonly WatchedDatabase[] {
  const begun = tracked.filter(({ phase }) => phase !== 'waiting');
  if (begun.length === 0) return tracked;
  return tracked.filter(
    ({ state, phase }) => phase !== 'waiting' || (state.facts?.tables ?? []).some(({ rows }) => rows > 0),
  );
}

export function databaseLagBytes({ slot }: DatabaseWatch, server: ServerFacts): number {
  const found = server.slots.find(({ name }) => name === slot);
  return found === undefined ? 0 : slotLagBytes(found, server);
}

interface MigrationSecondsLeftInput {
  readonly left: number;
  readonly lag: number;
  readonly copyRate: MovingRate;
  readonly writtenRate: MovingRate;
  readonly confirmedRate: MovingRate;
}

export function secondsLeft(
  phase: WatchPhase,
  { left, lag, copyRate, writtenRate, confirmedRate }: MigrationSecondsLeftInput,
): number | undefined {
  if (phase === 'streaming') return 0;
  if (phase === 'copying') return estimateSecondsLeft(left, copyRate.perSecond);
  return phase === 'catching_up'
    ? estimateSecondsLeft(lag, confirmedRate.perSecond - writtenRate.perSecond)
    : undefined;
}

/** Average percentage, weighted by bytes; a database without data counts as one byte. */
export function migrationPercent(phase: WatchPhase, tracked: readonly WatchedDatabase[], before: number): number {
  if (phase === 'streaming') return 100;
  const isOld = phase === 'gone' || phase === 'loading' || (phase === 'stalled' && before > 0);
  if (isOld || tracked.length === 0) return before;
  const weights = tracked.map(({ state }) => sumTableBytes(state.tables, state.facts?.tables ?? []).total + 1);
  const weighted = tracked.map(({ state }, at) => state.percent * weights[at]!);
  return Math.floor((sumNumbers(weighted) / sumNumbers(weights)) * 10) / 10;
}

/**
 * True if every slot is active and no table copy can start any more, because workers start within `copyPause`. The source itself
 * may show that this time is over: since when the target is connected, and when a table was last scanned.
 */
export function isCopyDone(
  tracked: readonly WatchedDatabase[],
  { first, now }: { readonly first: ServerFacts; readonly now: ServerFacts },
  limits: WatchLimits,
): boolean {
  return tracked.every(({ state }) => {
    const isActive = now.slots.some(({ name, active }) => name === state.slot && active);
    const seen = Math.max(first.at, state.firstActiveAt ?? now.at);
    const since = Math.max(Math.min(seen, lastPossibleCopyAt(state, now)), state.lastCopyAt ?? 0);
    return isActive && now.at - since >= limits.copyPause && !isCopying(state, now.at, limits);
  });
}

/** The last time at which a copy can have run, by the clock of the source; infinity if the source does not show it. */
function lastPossibleCopyAt({ slot, facts }: DatabaseWatch, now: ServerFacts): number {
  const found = now.slots.find(({ name }) => name === slot);
  const connectedFor = found && senderOfSlot(found, now.senders)?.connectedFor;
  const filled = (facts?.tables ?? []).filter(({ rows, scanAge }) => rows > 0 || scanAge !== undefined);
  const ages = filled.map(({ scanAge }) => scanAge ?? 0);
  if (connectedFor === undefined || facts === undefined) return Number.POSITIVE_INFINITY;
  return now.at - 1000 * Math.min(connectedFor, ...ages);
}

export function databaseSample({ state, phase }: WatchedDatabase, server: ServerFacts | undefined): DatabaseSample {
  const tables = state.facts?.tables ?? [];
  const { done, total } = sumTableBytes(state.tables, tables);
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
    tables: shownTables(state.tables, tables),
  };
}

/** Returns the end of a migration that cannot continue because all its slots are dropped or lost. */
export function endByLostSlots(
  { databases }: PostgresState,
  violations: readonly Violation[],
): { ending?: MigrationEnd } {
  const ours = [...databases.values()].filter(({ slot }) => slot !== undefined);
  const dead = ours.filter(
    ({ name, missedPolls }) =>
      missedPolls >= droppedAfterPolls || violations.some((one) => one.rule === 'slot-lost' && one.database === name),
  );
  if (ours.length === 0 || dead.length < ours.length) return {};
  const found = violations.filter(({ rule }) => rule === 'slot-dropped' || rule === 'slot-lost');
  const [one] = found;
  return one === undefined ? {} : { ending: { message: one.observed, hint: helpWithViolation(one) } };
}

export function sumNumbers(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
