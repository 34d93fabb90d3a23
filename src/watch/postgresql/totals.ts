import type { Limits } from '../limits.ts';
import { type Rate, secondsLeft } from '../rates.ts';
import type { DatabaseSighting, Phase, Violation } from '../sighting.ts';
import type { Ending } from '../step.ts';
import type { ServerFacts } from './facts.ts';
import { isCopying, lagOf } from './follow.ts';
import type { DatabaseMemory, Memory } from './memory.ts';
import { lookTwice } from './rules/objects.ts';
import { copiedBytes, sightTables } from './tables.ts';

/** One database after a look. */
export interface Sight {
  readonly memory: DatabaseMemory;
  readonly phase: Phase;
}

/** A database without a slot counts only as long as none has one, or while it holds something to be copied. */
export function withWork(sights: readonly Sight[]): readonly Sight[] {
  const begun = sights.filter(({ phase }) => phase !== 'waiting');
  if (begun.length === 0) return sights;
  return sights.filter(
    ({ memory, phase }) => phase !== 'waiting' || (memory.facts?.tables ?? []).some(({ rows }) => rows > 0),
  );
}

export function lagIn({ slot }: DatabaseMemory, server: ServerFacts): number {
  const found = server.slots.find(({ name }) => name === slot);
  return found === undefined ? 0 : lagOf(found, server);
}

export interface Pace {
  readonly left: number;
  readonly lag: number;
  readonly copy: Rate;
  readonly written: Rate;
  readonly confirmed: Rate;
}

export function etaOf(phase: Phase, { left, lag, copy, written, confirmed }: Pace): number | undefined {
  if (phase === 'streaming') return 0;
  if (phase === 'copying') return secondsLeft(left, copy.perSecond);
  return phase === 'catching_up' ? secondsLeft(lag, confirmed.perSecond - written.perSecond) : undefined;
}

/** By their bytes, and of databases without any by their number. */
export function overallPercent(phase: Phase, sights: readonly Sight[], before: number): number {
  if (phase === 'streaming') return 100;
  if (phase === 'gone' || phase === 'stalled' || sights.length === 0) return before;
  const weights = sights.map(({ memory }) => copiedBytes(memory.tables, memory.facts?.tables ?? []).total + 1);
  const weighted = sights.map(({ memory }, at) => memory.percent * weights[at]!);
  return Math.floor((sum(weighted) / sum(weights)) * 10) / 10;
}

/** Everybody is there, and was looked at long enough that a target between two tables would have begun the next one. */
export function isSettled(
  sights: readonly Sight[],
  { first, now }: { readonly first: ServerFacts; readonly now: ServerFacts },
  limits: Limits,
): boolean {
  return sights.every(({ memory }) => {
    const isActive = now.slots.some(({ name, active }) => name === memory.slot && active);
    const since = Math.max(first.at, memory.activeAt ?? now.at, memory.copiedAt ?? 0);
    return isActive && now.at - since >= limits.quiet && !isCopying(memory, now.at, limits);
  });
}

export function sightDatabase({ memory, phase }: Sight, server: ServerFacts | undefined): DatabaseSighting {
  const tables = memory.facts?.tables ?? [];
  const { done, total } = copiedBytes(memory.tables, tables);
  return {
    name: memory.name,
    phase,
    percent: memory.percent,
    bytes_done: done,
    bytes_total: total,
    lag_bytes: server === undefined ? 0 : lagIn(memory, server),
    ...(memory.slot === undefined ? {} : { slot: memory.slot }),
    tables: sightTables(memory.tables, tables),
  };
}

/** Every slot gone or lost: nothing will ever come of it again. */
export function endingOf({ databases }: Memory, violations: readonly Violation[]): { ending?: Ending } {
  const ours = [...databases.values()].filter(({ slot }) => slot !== undefined);
  const dead = ours.filter(
    ({ name, missing }) =>
      missing >= lookTwice || violations.some((one) => one.rule === 'slot-lost' && one.database === name),
  );
  if (ours.length === 0 || dead.length < ours.length) return {};
  const found = violations.filter(({ rule }) => rule === 'slot-dropped' || rule === 'slot-lost');
  const [one] = found;
  return one === undefined ? {} : { ending: { message: one.observed, hint: one.hint } };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
