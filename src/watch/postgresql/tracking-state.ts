import type { MovingAverageRate } from '../moving-average-rate.ts';
import type { DatabaseFacts, ServerFacts, SourceOutage, TableShape } from './server-facts.ts';
import type { TrackedTables } from './track-tables.ts';

/** The state that is kept between two polls of a PostgreSQL source. */
export interface PostgresTrackingState {
  readonly first: ServerFacts | undefined;
  /** Oldest first. */
  readonly window: readonly ServerFacts[];
  readonly databases: ReadonlyMap<string, DatabaseTrackingState>;
  /** Slots of the migration that this command or earlier commands found. */
  readonly knownSlots: readonly string[];
  /** Slots of other consumers. */
  readonly otherSlots: readonly string[] | undefined;
  /** Time at which a slot of the migration was first observed, in milliseconds since the epoch. */
  readonly firstSeen: number | undefined;
  /** Rates in bytes per second: of the copy, of written WAL, and of confirmed WAL. */
  readonly copyRate: MovingAverageRate | undefined;
  readonly writtenRate: MovingAverageRate | undefined;
  readonly confirmedRate: MovingAverageRate | undefined;
  /** Number of consecutive polls in which nothing was left to replicate. */
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
  /** Name of the slot of the database; undefined if none was found. */
  readonly slot: string | undefined;
  readonly missedPolls: number;
  /**
   * Times of the first connection of the target to the slot, and of the last COPY of a table, in milliseconds since the
   * epoch.
   */
  readonly firstActiveAt: number | undefined;
  readonly lastCopyAt: number | undefined;
  /** Whether the slot was created during the watch, so that the initial copy has not started yet. */
  readonly slotAppeared: boolean;
  /** Whether the initial copy of the database has ended. */
  readonly copyFinished: boolean;
  /** Largest lag in bytes after the initial copy. */
  readonly peakLag: number;
  readonly percent: number;
}

export interface RecordedSlots {
  /** Slots of the migration that earlier commands found. */
  readonly slots: readonly { readonly name: string; readonly database: string }[];
  readonly otherSlots: readonly string[] | undefined;
  readonly firstSeen: number | undefined;
}

export function initialPostgresState({ slots, otherSlots, firstSeen }: RecordedSlots): PostgresTrackingState {
  // Slots that earlier commands found were active, so an inactive slot has lost its target.
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
