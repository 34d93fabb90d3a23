import type { Limits } from '../limits.ts';
import type { Violation } from '../sighting.ts';
import type { DatabaseFacts, ServerFacts, Shape, Slot } from './facts.ts';

/** Everything the rules judge: what is, what was at first, and the samples in between. */
export interface Seen {
  readonly now: ServerFacts;
  readonly first: ServerFacts;
  /** Oldest first; the last is `now`. */
  readonly window: readonly ServerFacts[];
  readonly slots: readonly OurSlot[];
  readonly databases: readonly DatabaseSeen[];
  readonly limits: Limits;
  /** Findings of the preflight that were not good, by id. */
  readonly warned: readonly string[];
}

export interface OurSlot {
  readonly name: string;
  readonly database: string;
  /** undefined: it is not there any more. */
  readonly slot: Slot | undefined;
  /** Looks in a row without it. */
  readonly missing: number;
  /** The target was connected to it at some time. */
  readonly wasActive: boolean;
}

export interface DatabaseSeen {
  readonly name: string;
  readonly now: DatabaseFacts | undefined;
  /** As they were when they were first seen. */
  readonly publications: ReadonlyMap<string, string>;
  /** Publications that the target reads; empty: not known. */
  readonly read: readonly string[];
  readonly shapes: Shapes | undefined;
}

export interface Shapes {
  readonly first: ReadonlyMap<number, Shape>;
  readonly now: ReadonlyMap<number, Shape>;
}

/** A rule looks, and tells what is broken; nothing is what it wants to see. */
export type Rule = (seen: Seen) => readonly Violation[];

/** The samples of the last so many milliseconds; undefined: they do not go back that far. */
export function since(window: readonly ServerFacts[], ms: number): readonly ServerFacts[] | undefined {
  const now = window.at(-1)?.at ?? 0;
  const begin = window.findLastIndex(({ at }) => at <= now - ms);
  return begin < 0 ? undefined : window.slice(begin);
}

export function slotIn(facts: ServerFacts, name: string): Slot | undefined {
  return facts.slots.find((slot) => slot.name === name);
}
