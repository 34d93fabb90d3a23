import type { Identity } from '../identity.ts';
import type { RecordedSlot } from '../record.ts';
import type { MovingRate, StopCause } from '../sample.ts';
import type { DatabaseBaseline, SourceBaseline } from './baseline.ts';
import type { DatabaseFacts, PostgresOutage, ServerFacts, SettingFacts, SlotFacts } from './facts.ts';
import { changedTables, type TableStates, type TrackedTables, trackedFromBaseline } from './tables.ts';

/** The state that is kept between two polls of a PostgreSQL source. */
export interface PostgresState {
  readonly first: ServerFacts | undefined;
  readonly access: TrackedTargetLoginConditions | undefined;
  /** Oldest first. */
  readonly window: readonly ServerFacts[];
  readonly databases: ReadonlyMap<string, DatabaseWatch>;
  /** Time at which a slot of the migration was first observed, in milliseconds since the epoch. */
  readonly firstSeen: number | undefined;
  /** Rates in bytes per second: of the copy, of written WAL, and of confirmed WAL. */
  readonly copyRate: MovingRate | undefined;
  readonly writtenRate: MovingRate | undefined;
  readonly confirmedRate: MovingRate | undefined;
  /** Number of consecutive polls in which nothing was left to replicate. */
  readonly idlePolls: number;
  readonly caughtUpPolls: number;
  readonly outage: { readonly since: number; readonly last: PostgresOutage } | undefined;
  readonly percent: number;
  /** The cause that the last poll found for a stop of replication or for failing statements; undefined if there was none. */
  readonly cause: StopCause | undefined;
}

export interface DatabaseWatch {
  readonly name: string;
  /** Facts of the last poll that read this database. */
  readonly facts: DatabaseFacts | undefined;
  readonly publications: ReadonlyMap<string, string> | undefined;
  readonly publicationsRead: readonly string[];
  readonly shapes: TrackedTables | undefined;
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
  readonly tables: TableStates;
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

export interface EarlierSlots {
  /** Slots of the migration that earlier commands found. */
  readonly slots: readonly RecordedSlot[];
  readonly firstSeen: number | undefined;
}

export function createPostgresState(
  { slots, firstSeen }: EarlierSlots,
  baseline: SourceBaseline | undefined,
): PostgresState {
  const names = new Set([...(baseline?.databases.keys() ?? []), ...slots.map(({ database }) => database)]);
  const known = [...names].map((name): DatabaseWatch => {
    const before = baseline?.databases.get(name);
    const slot = slots.find(({ database }) => database === name);
    return {
      ...createDatabaseState(name),
      ...(before === undefined
        ? {}
        : {
            shapes: trackedFromBaseline(before),
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

/** The baseline with the tables that the target has as they are now, so that a later watch does not name them again. */
export function settleBaseline(baseline: SourceBaseline, { databases }: PostgresState): SourceBaseline | undefined {
  let isChanged = false;
  const settled = [...baseline.databases].map(([name, database]): [string, DatabaseBaseline] => {
    const shapes = databases.get(name)?.shapes;
    const changed = shapes === undefined ? [] : changedTables({ first: database.tables, now: shapes.first });
    const tables = new Map(database.tables);
    for (const table of changed) {
      const shape = shapes?.first.get(table);
      if (shape === undefined) continue;
      const written = tables.get(table)?.written ?? 0;
      tables.set(table, { ...shape, columnShapes: shapes?.columnsBefore.get(table), written });
      isChanged = true;
    }
    return [name, { ...database, tables }];
  });
  return isChanged ? { ...baseline, databases: new Map(settled) } : undefined;
}

export function createDatabaseState(name: string): DatabaseWatch {
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

/** The facts of the server in the first poll, and the changes since then that affect the login of the target. */
interface TrackedTargetLoginConditions {
  readonly first: ServerFacts;
  /**
   * Processes that served the slots of the migration in the poll that first found a change of the role or the host
   * rules.
   */
  readonly pidsAtChange: readonly number[] | undefined;
}

/**
 * Compares the role and the host rules with those of the baseline, or of the first poll if there is no baseline. A
 * change of the role or the host rules counts as harmless when the target has connected again after it.
 * @param slots of the migration
 */
export function trackLogin(
  previous: TrackedTargetLoginConditions | undefined,
  server: ServerFacts,
  slots: readonly SlotFacts[],
  baseline: SourceBaseline | undefined,
): TrackedTargetLoginConditions {
  const first = previous?.first ?? firstFacts(server, baseline);
  if (accessText(first) === accessText(server)) return { first, pidsAtChange: undefined };
  const pids = slots.flatMap(({ active, pid }) => (active && pid !== undefined ? [pid] : []));
  const { pidsAtChange = pids } = previous ?? {};
  const isReconnected =
    slots.length > 0 && pids.length === slots.length && !pids.some((pid) => pidsAtChange.includes(pid));
  return isReconnected && previous?.pidsAtChange !== undefined
    ? { first: { ...first, role: server.role, hbaRuleLines: server.hbaRuleLines }, pidsAtChange: undefined }
    : { first, pidsAtChange };
}

function firstFacts(server: ServerFacts, baseline: SourceBaseline | undefined): ServerFacts {
  if (baseline === undefined) return server;
  const settings = [...baseline.settings].map(([name, value]): [string, SettingFacts] => [
    name,
    { value, pendingRestart: false, inFile: undefined },
  ]);
  return {
    ...server,
    settings: new Map([...server.settings, ...settings]),
    hbaRuleLines: baseline.hbaRuleLines ?? server.hbaRuleLines,
    // The role that runs the watch may differ from the role that migrates.
    role: baseline.role?.name === server.role?.name ? (baseline.role ?? server.role) : server.role,
  };
}

function accessText({ role, hbaRuleLines }: ServerFacts): string {
  return JSON.stringify([role === undefined ? undefined : { ...role, secondsLeft: undefined }, hbaRuleLines]);
}
