import type { Actor } from '../../../api/actor.ts';
import type { WatchLimits } from '../limits.ts';
import type { Violation } from '../sample.ts';
import type { DatabaseFacts, ServerFacts, SlotFacts } from './facts.ts';
import type { TrackedTables } from './tables.ts';

/** The input of all rules: the facts of the first poll, of the current poll, and the samples in between. */
export interface RuleInput {
  readonly now: ServerFacts;
  readonly first: ServerFacts;
  /** The samples, oldest first; the last sample is `now`. */
  readonly window: readonly ServerFacts[];
  readonly slots: readonly TrackedSlot[];
  readonly databases: readonly RuleDatabase[];
  readonly limits: WatchLimits;
  /** Ids of preflight checks that did not pass. */
  readonly warned: readonly string[];
  /** UUID of the target cluster; undefined: not known. */
  readonly cluster: string | undefined;
  /** The options that name the source in a command, quoted for a shell. */
  readonly from?: readonly string[];
  /** A command for the profile of this run; undefined: for the default one. */
  readonly command?: Actor['command'] | undefined;
  /** When `db migrate` started the migration, in milliseconds since the epoch; undefined: not known. */
  readonly startedAt: number | undefined;
}

export interface TrackedSlot {
  readonly name: string;
  readonly database: string;
  /** The replication slot; undefined if it no longer exists. */
  readonly slot: SlotFacts | undefined;
  /** Number of consecutive polls without the slot. */
  readonly missedPolls: number;
  /** Whether the target was connected to the slot in this or an earlier poll. */
  readonly wasActive: boolean;
}

export interface RuleDatabase {
  readonly name: string;
  readonly now: DatabaseFacts | undefined;
  /** Content of the publications at the first poll. */
  readonly publications: ReadonlyMap<string, string>;
  /** Publications that existed before the migration; undefined: not known. */
  readonly otherPublications: readonly string[] | undefined;
  /** Name of the subscription on the target; undefined: its WAL sender was not seen. */
  readonly subscription: string | undefined;
  /** Tables written since the target has confirmed something, `schema.table`. */
  readonly pendingTables: readonly string[];
  /** Publications that the target subscribes to; empty: not known. */
  readonly publicationsRead: readonly string[];
  readonly shapes: TrackedTables | undefined;
}

/** A rule returns the violations that it finds; an empty list if there are none. */
export type WatchRule = (seen: RuleInput) => readonly Violation[];

/** The samples of the last `ms` milliseconds; undefined if samples do not reach back that far. */
export function samplesSince(window: readonly ServerFacts[], ms: number): readonly ServerFacts[] | undefined {
  const now = window.at(-1)?.at ?? 0;
  const begin = window.findLastIndex(({ at }) => at <= now - ms);
  return begin < 0 ? undefined : window.slice(begin);
}

export function findSlot(facts: ServerFacts, name: string): SlotFacts | undefined {
  return facts.slots.find((slot) => slot.name === name);
}
