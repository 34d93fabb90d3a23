import { estimateSecondsLeft, type MovingRate } from '../moving-rate.ts';
import type { DatabaseSample, Violation, WatchPhase } from '../status-sample.ts';
import type { MigrationEnd } from '../tracking-result.ts';
import type { WatchLimits } from '../watch-limits.ts';
import { pollsUntilDropped } from './rules/object-rules.ts';
import type { ServerFacts } from './server-facts.ts';
import { isInitialCopyRunning, slotLagBytes } from './track-database.ts';
import { sampleTables, sumCopiedBytes } from './track-tables.ts';
import type { DatabaseTrackingState, PostgresTrackingState } from './tracking-state.ts';

/** One database after a look. */
export interface TrackedDatabase {
  readonly memory: DatabaseTrackingState;
  readonly phase: WatchPhase;
}

/** A database without a slot counts only as long as none has one, or while it holds something to be copied. */
export function databasesWithWork(sights: readonly TrackedDatabase[]): readonly TrackedDatabase[] {
  const begun = sights.filter(({ phase }) => phase !== 'waiting');
  if (begun.length === 0) return sights;
  return sights.filter(
    ({ memory, phase }) => phase !== 'waiting' || (memory.facts?.tables ?? []).some(({ rows }) => rows > 0),
  );
}

export function databaseLagBytes({ slot }: DatabaseTrackingState, server: ServerFacts): number {
  const found = server.slots.find(({ name }) => name === slot);
  return found === undefined ? 0 : slotLagBytes(found, server);
}

export interface ProgressRates {
  readonly left: number;
  readonly lag: number;
  readonly copy: MovingRate;
  readonly written: MovingRate;
  readonly confirmed: MovingRate;
}

export function estimateEta(
  phase: WatchPhase,
  { left, lag, copy, written, confirmed }: ProgressRates,
): number | undefined {
  if (phase === 'streaming') return 0;
  if (phase === 'copying') return estimateSecondsLeft(left, copy.perSecond);
  return phase === 'catching_up' ? estimateSecondsLeft(lag, confirmed.perSecond - written.perSecond) : undefined;
}

/** By their bytes, and of databases without any by their number. */
export function overallPercent(phase: WatchPhase, sights: readonly TrackedDatabase[], before: number): number {
  if (phase === 'streaming') return 100;
  if (phase === 'gone' || phase === 'stalled' || sights.length === 0) return before;
  const weights = sights.map(({ memory }) => sumCopiedBytes(memory.tables, memory.facts?.tables ?? []).total + 1);
  const weighted = sights.map(({ memory }, at) => memory.percent * weights[at]!);
  return Math.floor((sumNumbers(weighted) / sumNumbers(weights)) * 10) / 10;
}

/** Everybody is there, and was looked at long enough that a target between two tables would have begun the next one. */
export function isMigrationSettled(
  sights: readonly TrackedDatabase[],
  { first, now }: { readonly first: ServerFacts; readonly now: ServerFacts },
  limits: WatchLimits,
): boolean {
  return sights.every(({ memory }) => {
    const isActive = now.slots.some(({ name, active }) => name === memory.slot && active);
    const since = Math.max(first.at, memory.activeAt ?? now.at, memory.copiedAt ?? 0);
    return isActive && now.at - since >= limits.copyPause && !isInitialCopyRunning(memory, now.at, limits);
  });
}

export function sampleDatabase({ memory, phase }: TrackedDatabase, server: ServerFacts | undefined): DatabaseSample {
  const tables = memory.facts?.tables ?? [];
  const { done, total } = sumCopiedBytes(memory.tables, tables);
  return {
    name: memory.name,
    phase,
    percent: memory.percent,
    bytes_done: done,
    bytes_total: total,
    lag_bytes: server === undefined ? 0 : databaseLagBytes(memory, server),
    ...(memory.slot === undefined ? {} : { slot: memory.slot }),
    tables: sampleTables(memory.tables, tables),
  };
}

/** Every slot gone or lost: nothing will ever come of it again. */
export function detectMigrationEnd(
  { databases }: PostgresTrackingState,
  violations: readonly Violation[],
): { ending?: MigrationEnd } {
  const ours = [...databases.values()].filter(({ slot }) => slot !== undefined);
  const dead = ours.filter(
    ({ name, missing }) =>
      missing >= pollsUntilDropped || violations.some((one) => one.rule === 'slot-lost' && one.database === name),
  );
  if (ours.length === 0 || dead.length < ours.length) return {};
  const found = violations.filter(({ rule }) => rule === 'slot-dropped' || rule === 'slot-lost');
  const [one] = found;
  return one === undefined ? {} : { ending: { message: one.observed, hint: one.hint } };
}

export function sumNumbers(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
