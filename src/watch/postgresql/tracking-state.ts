import type { MovingAverageRate } from '../moving-average-rate.ts';
import type { DatabaseFacts, ServerFacts, SourceOutage, TableShape } from './server-facts.ts';
import type { TrackedTables } from './track-tables.ts';

/** What is kept between two polls of a PostgreSQL source. */
export interface PostgresTrackingState {
  readonly first: ServerFacts | undefined;
  /** Oldest first. */
  readonly window: readonly ServerFacts[];
  readonly databases: ReadonlyMap<string, DatabaseTrackingState>;
  /** Slots of the migration, from this run and earlier ones. */
  readonly knownSlots: readonly string[];
  /** Slots of other consumers. */
  readonly otherSlots: readonly string[] | undefined;
  /** When a slot of the migration was first seen, in milliseconds since the epoch. */
  readonly firstSeen: number | undefined;
  /** Rates in bytes per second: of the copy, of WAL written, of WAL confirmed. */
  readonly copyRate: MovingAverageRate | undefined;
  readonly writtenRate: MovingAverageRate | undefined;
  readonly confirmedRate: MovingAverageRate | undefined;
  /** Consecutive polls with nothing left to replicate. */
  readonly idlePolls: number;
  readonly outage: { readonly since: number; readonly last: SourceOutage } | undefined;
  readonly percent: number;
}

export interface DatabaseTrackingState {
  readonly name: string;
  /** Facts of the last poll that read this database. */
  readonly facts: DatabaseFacts | undefined;
  readonly publications: ReadonlyMap<string, string> | undefined;
  readonly publicationsRead: readonly string[];
  readonly shapes:
    | { readonly first: ReadonlyMap<number, TableShape>; readonly now: ReadonlyMap<number, TableShape> }
    | undefined;
  readonly tables: TrackedTables;
  /** Name of its slot; undefined: none was seen. */
  readonly slot: string | undefined;
  readonly missedPolls: number;
  /** Milliseconds since the epoch: first connection of the target to the slot, and last COPY of a table. */
  readonly firstActiveAt: number | undefined;
  readonly lastCopyAt: number | undefined;
  /** The slot was created during the watch, so its initial copy is still to come. */
  readonly slotAppeared: boolean;
  /** The initial copy has ended. */
  readonly copyFinished: boolean;
  /** Largest lag in bytes after the copy. */
  readonly peakLag: number;
  readonly percent: number;
}

export interface RecordedSlots {
  /** Slots of the migration from earlier runs. */
  readonly slots: readonly { readonly name: string; readonly database: string }[];
  readonly otherSlots: readonly string[] | undefined;
  readonly firstSeen: number | undefined;
}

export function initialPostgresState({ slots, otherSlots, firstSeen }: RecordedSlots): PostgresTrackingState {
  // Slots of earlier runs were active, so an inactive one was dropped or lost its target.
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
