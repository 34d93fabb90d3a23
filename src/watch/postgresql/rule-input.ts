import type { Violation } from '../status-sample.ts';
import type { WatchLimits } from '../watch-limits.ts';
import type { DatabaseFacts, ObservedSlot, ServerFacts, TableShape } from './server-facts.ts';

/** Everything the rules judge: what is, what was at first, and the samples in between. */
export interface WatchRuleInput {
  readonly now: ServerFacts;
  readonly first: ServerFacts;
  /** Oldest first; the last is `now`. */
  readonly window: readonly ServerFacts[];
  readonly slots: readonly SeenSlot[];
  readonly databases: readonly SeenDatabase[];
  readonly limits: WatchLimits;
  /** Findings of the preflight that were not good, by id. */
  readonly warned: readonly string[];
}

export interface SeenSlot {
  readonly name: string;
  readonly database: string;
  /** undefined: it is not there any more. */
  readonly slot: ObservedSlot | undefined;
  /** Looks in a row without it. */
  readonly missedPolls: number;
  /** The target was connected to it at some time. */
  readonly wasActive: boolean;
}

export interface SeenDatabase {
  readonly name: string;
  readonly now: DatabaseFacts | undefined;
  /** As they were when they were first seen. */
  readonly publications: ReadonlyMap<string, string>;
  /** Publications that the target reads; empty: not known. */
  readonly publicationsRead: readonly string[];
  readonly shapes: TableShapeChange | undefined;
}

export interface TableShapeChange {
  readonly first: ReadonlyMap<number, TableShape>;
  readonly now: ReadonlyMap<number, TableShape>;
}

/** A rule looks, and tells what is broken; nothing is what it wants to see. */
export type WatchRule = (seen: WatchRuleInput) => readonly Violation[];

/** The samples of the last so many milliseconds; undefined: they do not go back that far. */
export function samplesSince(window: readonly ServerFacts[], ms: number): readonly ServerFacts[] | undefined {
  const now = window.at(-1)?.at ?? 0;
  const begin = window.findLastIndex(({ at }) => at <= now - ms);
  return begin < 0 ? undefined : window.slice(begin);
}

export function findSlot(facts: ServerFacts, name: string): ObservedSlot | undefined {
  return facts.slots.find((slot) => slot.name === name);
}
