import type { Identity } from '../identity.ts';
import type { MovingAverageRate } from '../moving-average-rate.ts';
import type { ReplicationStopCause } from '../status-sample.ts';
import type { RecordedMigrationSlot } from '../watch-record.ts';
import type { PostgresPollFailure, WatchedDatabaseFacts, WatchedServerFacts } from './server-facts.ts';
import {
  createTrackedTableDefinitionsFromBaseline,
  type TrackedTableDefinitions,
} from './track-table-definition-changes.ts';
import type { WatchedTableStates } from './track-tables.ts';
import type { TrackedTargetLoginConditions } from './track-target-login-conditions.ts';
import type { WatchedSourceBaseline } from './watched-source-baseline.ts';

/** The state that is kept between two polls of a PostgreSQL source. */
export interface PostgresWatchState {
  readonly first: WatchedServerFacts | undefined;
  readonly access: TrackedTargetLoginConditions | undefined;
  /** Oldest first. */
  readonly window: readonly WatchedServerFacts[];
  readonly databases: ReadonlyMap<string, WatchedDatabaseState>;
  /** Time at which a slot of the migration was first observed, in milliseconds since the epoch. */
  readonly firstSeen: number | undefined;
  /** Rates in bytes per second: of the copy, of written WAL, and of confirmed WAL. */
  readonly copyRate: MovingAverageRate | undefined;
  readonly writtenRate: MovingAverageRate | undefined;
  readonly confirmedRate: MovingAverageRate | undefined;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  readonly caughtUpPolls: number;
  readonly outage: { readonly since: number; readonly last: PostgresPollFailure } | undefined;
  readonly percent: number;
  /** The cause that the last poll found for a stop of replication or for failing statements; undefined if there was none. */
  readonly cause: ReplicationStopCause | undefined;
}

export interface WatchedDatabaseState {
  readonly name: string;
  /** Facts of the last poll that read this database. */
  readonly facts: WatchedDatabaseFacts | undefined;
  readonly publications: ReadonlyMap<string, string> | undefined;
  readonly publicationsRead: readonly string[];
  readonly shapes: TrackedTableDefinitions | undefined;
  /** Publications that existed before the migration; undefined: not known. */
  readonly otherPublications: readonly string[] | undefined;
  /** application_name of the WAL sender, which is the name of the subscription. */
  readonly subscription: string | undefined;
  /**
   * Rows written to each table (`schema.table`), according to the statistics when the target last confirmed something.
   */
  readonly writtenWhenConfirmed: ReadonlyMap<string, number> | undefined;
  /**
   * Rows written to each table up to a later poll; kept until the target has confirmed the WAL position of the next
   * poll.
   */
  readonly unconfirmedWrites:
    | { readonly position: number | undefined; readonly rows: ReadonlyMap<string, number> }
    | undefined;
  readonly tables: WatchedTableStates;
  /** Name of the slot of the database; undefined if none was found. */
  readonly slot: string | undefined;
  readonly identity: Identity | undefined;
  /** System identifier of the server whose table synchronization was seen beside the slot. */
  readonly system: string | undefined;
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

export interface SlotsOfEarlierWatches {
  /** Slots of the migration that earlier commands found. */
  readonly slots: readonly RecordedMigrationSlot[];
  readonly firstSeen: number | undefined;
}

export function createPostgresWatchState(
  { slots, firstSeen }: SlotsOfEarlierWatches,
  baseline: WatchedSourceBaseline | undefined,
): PostgresWatchState {
  const names = new Set([...(baseline?.databases.keys() ?? []), ...slots.map(({ database }) => database)]);
  const known = [...names].map((name): WatchedDatabaseState => {
    const before = baseline?.databases.get(name);
    const slot = slots.find(({ database }) => database === name);
    return {
      ...createWatchedDatabaseState(name),
      ...(before === undefined
        ? {}
        : {
            shapes: createTrackedTableDefinitionsFromBaseline(before),
            otherPublications: before.publications,
            writtenWhenConfirmed: new Map([...before.tables].map(([table, { written }]) => [table, written])),
          }),
      // The slots that earlier commands found had a consumer. Such a slot without a consumer was dropped or has lost its
      // target.
      ...(slot === undefined
        ? {}
        : {
            slot: slot.name,
            system: slot.system,
            identity:
              slot.grade === undefined || slot.by === undefined ? undefined : { grade: slot.grade, by: slot.by },
            firstActiveAt: 0,
          }),
    };
  });
  return {
    first: undefined,
    access: undefined,
    window: [],
    cause: undefined,
    databases: new Map(known.map((database) => [database.name, database])),
    firstSeen,
    copyRate: undefined,
    writtenRate: undefined,
    confirmedRate: undefined,
    idlePolls: 0,
    caughtUpPolls: 0,
    outage: undefined,
    percent: 0,
  };
}

export function createWatchedDatabaseState(name: string): WatchedDatabaseState {
  return {
    name,
    facts: undefined,
    publications: undefined,
    publicationsRead: [],
    shapes: undefined,
    otherPublications: undefined,
    subscription: undefined,
    writtenWhenConfirmed: undefined,
    unconfirmedWrites: undefined,
    tables: new Map(),
    slot: undefined,
    identity: undefined,
    system: undefined,
    missedPolls: 0,
    firstActiveAt: undefined,
    lastCopyAt: undefined,
    slotAppeared: false,
    copyFinished: false,
    peakLag: 0,
    percent: 0,
  };
}
