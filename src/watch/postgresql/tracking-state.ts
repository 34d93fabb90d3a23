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
  readonly known: readonly string[];
  /** Slots of somebody else: there when none of ours was. */
  readonly before: readonly string[] | undefined;
  /** When a slot of it was first seen, in milliseconds since the epoch. */
  readonly firstSeen: number | undefined;
  /** Of the copy, in bytes; of WAL written; of WAL confirmed. */
  readonly copy: MovingRate | undefined;
  readonly written: MovingRate | undefined;
  readonly confirmed: MovingRate | undefined;
  /** Looks in a row with nothing left to replicate. */
  readonly idle: number;
  readonly outage: { readonly since: number; readonly last: SourceOutage } | undefined;
  readonly percent: number;
}

export interface DatabaseTrackingState {
  readonly name: string;
  /** The last time it was visited. */
  readonly facts: DatabaseFacts | undefined;
  readonly publications: ReadonlyMap<string, string> | undefined;
  readonly read: readonly string[];
  readonly shapes:
    | { readonly first: ReadonlyMap<number, TableShape>; readonly now: ReadonlyMap<number, TableShape> }
    | undefined;
  readonly tables: TrackedTables;
  /** Its slot, by name; undefined: none was seen. */
  readonly slot: string | undefined;
  readonly missing: number;
  /** When the target was first connected to the slot, and when a table was last being copied. */
  readonly activeAt: number | undefined;
  readonly copiedAt: number | undefined;
  /** The slot came while it was watched, so its copy lies ahead. */
  readonly fresh: boolean;
  /** The copy was over at some time. */
  readonly copied: boolean;
  /** The most bytes it was behind after the copy. */
  readonly peak: number;
  readonly percent: number;
}

export interface RecordedSlots {
  /** Slots of the migration that an earlier run saw. */
  readonly slots: readonly { readonly name: string; readonly database: string }[];
  readonly before: readonly string[] | undefined;
  readonly firstSeen: number | undefined;
}

export function initialPostgresState({ slots, before, firstSeen }: RecordedSlots): PostgresTrackingState {
  // They were in use then, so one that is not now was dropped, or its target is gone.
  const known = slots.map(({ name, database }) => ({ ...initialDatabaseState(database), slot: name, activeAt: 0 }));
  return {
    first: undefined,
    window: [],
    databases: new Map(known.map((database) => [database.name, database])),
    known: slots.map(({ name }) => name),
    before,
    firstSeen,
    copy: undefined,
    written: undefined,
    confirmed: undefined,
    idle: 0,
    outage: undefined,
    percent: 0,
  };
}

export function initialDatabaseState(name: string): DatabaseTrackingState {
  return {
    name,
    facts: undefined,
    publications: undefined,
    read: [],
    shapes: undefined,
    tables: new Map(),
    slot: undefined,
    missing: 0,
    activeAt: undefined,
    copiedAt: undefined,
    fresh: false,
    copied: false,
    peak: 0,
    percent: 0,
  };
}
