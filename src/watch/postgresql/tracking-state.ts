import type { MovingRate } from '../moving-rate.ts';
import type { DatabaseFacts, ServerFacts, SourceOutage, TableShape } from './server-facts.ts';
import type { TrackedTables } from './track-tables.ts';

/** What a watch remembers between two looks. */
export interface PostgresTrackingState {
  readonly first: ServerFacts | undefined;
  /** Oldest first. */
  readonly window: readonly ServerFacts[];
  readonly databases: ReadonlyMap<string, DatabaseTrackingState>;
  /** Slots of the migration that were seen, now or in an earlier run. */
  readonly knownSlots: readonly string[];
  /** Slots of somebody else: there when none of ours was. */
  readonly otherSlots: readonly string[] | undefined;
  /** When a slot of it was first seen, in milliseconds since the epoch. */
  readonly firstSeen: number | undefined;
  /** Of the copy, in bytes; of WAL written; of WAL confirmed. */
  readonly copyRate: MovingRate | undefined;
  readonly writtenRate: MovingRate | undefined;
  readonly confirmedRate: MovingRate | undefined;
  /** Looks in a row with nothing left to replicate. */
  readonly idlePolls: number;
  readonly outage: { readonly since: number; readonly last: SourceOutage } | undefined;
  readonly percent: number;
}

export interface DatabaseTrackingState {
  readonly name: string;
  /** The last time it was visited. */
  readonly facts: DatabaseFacts | undefined;
  readonly publications: ReadonlyMap<string, string> | undefined;
  readonly publicationsRead: readonly string[];
  readonly shapes:
    | { readonly first: ReadonlyMap<number, TableShape>; readonly now: ReadonlyMap<number, TableShape> }
    | undefined;
  readonly tables: TrackedTables;
  /** Its slot, by name; undefined: none was seen. */
  readonly slot: string | undefined;
  readonly missedPolls: number;
  /** When the target was first connected to the slot, and when a table was last being copied. */
  readonly firstActiveAt: number | undefined;
  readonly lastCopyAt: number | undefined;
  /** The slot came while it was watched, so its copy lies ahead. */
  readonly slotAppeared: boolean;
  /** The copy was over at some time. */
  readonly copyFinished: boolean;
  /** The most bytes it was behind after the copy. */
  readonly peakLag: number;
  readonly percent: number;
}

export interface RecordedSlots {
  /** Slots of the migration that an earlier run saw. */
  readonly slots: readonly { readonly name: string; readonly database: string }[];
  readonly otherSlots: readonly string[] | undefined;
  readonly firstSeen: number | undefined;
}

export function initialPostgresState({ slots, otherSlots, firstSeen }: RecordedSlots): PostgresTrackingState {
  // They were in use then, so one that is not now was dropped, or its target is gone.
  const known = slots.map(({ name, database }) => ({ ...initialDatabaseState(database), slot: name, activeAt: 0 }));
  return {
    first: undefined,
    window: [],
    databases: new Map(known.map((database) => [database.name, database])),
    knownSlots: slots.map(({ name }) => name),
    otherSlots,
    firstSeen,
    copyRate: undefined,
    writtenRate: undefined,
    confirmedRate: undefined,
    idlePolls: 0,
    outage: undefined,
    percent: 0,
  };
}

export function initialDatabaseState(name: string): DatabaseTrackingState {
  return {
    name,
    facts: undefined,
    publications: undefined,
    publicationsRead: [],
    shapes: undefined,
    tables: new Map(),
    slot: undefined,
    missedPolls: 0,
    firstActiveAt: undefined,
    lastCopyAt: undefined,
    slotAppeared: false,
    copyFinished: false,
    peakLag: 0,
    percent: 0,
  };
}
