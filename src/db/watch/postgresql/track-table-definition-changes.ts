import type {
  WatchedColumnDefinition,
  WatchedDatabaseFacts,
  WatchedTableDefinition,
  WatchedTableDefinitionsByName,
} from './server-facts.ts';
import type { WatchedDatabaseBaseline } from './watched-source-baseline.ts';

/** How the tables of one database differ from those at the start of the migration. */
export interface TrackedTableDefinitions {
  readonly first: WatchedTableDefinitionsByName;
  readonly now: WatchedTableDefinitionsByName;
  readonly columnsBefore: ReadonlyMap<string, readonly WatchedColumnDefinition[]>;
  readonly columnsNow: ReadonlyMap<string, readonly WatchedColumnDefinition[]>;
  /** Changed tables, until the target has applied rows that were written after the change. */
  readonly sightings: ReadonlyMap<string, ChangeSighting>;
}

interface ChangeSighting {
  /** Number of rows written to the table, according to its statistics, in the poll that first found the change. */
  readonly written: number;
  /**
   * WAL position in bytes before which rows were written to the table after its definition changed; undefined if no such
   * rows were seen.
   */
  readonly position: number | undefined;
}

export interface TableDefinitionPoll {
  readonly facts: WatchedDatabaseFacts;
  readonly walPosition: number | undefined;
  /** WAL position in bytes up to which the target has confirmed changes; undefined if the target is not connected. */
  readonly applied: number | undefined;
  /** The object that the previous poll reported as the cause, as `schema.table` or `schema.table.column`. */
  readonly blamed: string | undefined;
}

export function createTrackedTableDefinitionsFromBaseline({
  tables,
}: WatchedDatabaseBaseline): TrackedTableDefinitions {
  const columns = [...tables].flatMap(([name, { columnShapes }]) =>
    columnShapes === undefined ? [] : [[name, columnShapes] as const],
  );
  return { first: tables, now: tables, columnsBefore: new Map(columns), columnsNow: new Map(), sightings: new Map() };
}

/**
 * Keeps the table definitions of the first poll. A changed table counts as changed on the target too, once the target has
 * applied rows that were written after the change.
 */
export function trackTableDefinitionChanges(
  previous: TrackedTableDefinitions | undefined,
  poll: TableDefinitionPoll,
): TrackedTableDefinitions | undefined {
  const { shapes, columns } = poll.facts;
  if (shapes === undefined) return previous;
  if (previous === undefined) {
    return { first: shapes, now: shapes, columnsBefore: columns, columnsNow: new Map(), sightings: new Map() };
  }
  const sightings = new Map<string, ChangeSighting>();
  const first = new Map(previous.first);
  const columnsBefore = new Map(previous.columnsBefore);
  for (const name of findTablesChangedSinceFirstPoll({ first: previous.first, now: shapes })) {
    const sighting = nextSighting(previous.sightings.get(name), name, poll);
    const shape = shapes.get(name);
    if (shape === undefined || sighting.position === undefined || (poll.applied ?? 0) < sighting.position) {
      sightings.set(name, sighting);
      continue;
    }
    first.set(name, keepRemovedIdentity(previous.first.get(name), shape));
    const found = columns.get(name);
    if (found === undefined) columnsBefore.delete(name);
    else columnsBefore.set(name, found);
  }
  return { first, now: shapes, columnsBefore, columnsNow: columns, sightings };
}

/** Rows that are inserted reach the target, too, while the source refuses updates and deletions of the table. */
function keepRemovedIdentity(
  before: WatchedTableDefinition | undefined,
  now: WatchedTableDefinition,
): WatchedTableDefinition {
  if (before?.hasReplicaIdentity !== true || now.hasReplicaIdentity) return now;
  const { identity, keyColumns, hasReplicaIdentity } = before;
  return { ...now, identity, keyColumns, hasReplicaIdentity };
}

/** Tables that were created, dropped or altered. */
export function findTablesChangedSinceFirstPoll({
  first,
  now,
}: Pick<TrackedTableDefinitions, 'first' | 'now'>): readonly string[] {
  const names = new Set([...first.keys(), ...now.keys()]);
  return [...names].filter((name) => !isSameShape(first.get(name), now.get(name)));
}

function isSameShape(one: WatchedTableDefinition | undefined, other: WatchedTableDefinition | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.columns === other.columns && isSameReplicaIdentity(one, other);
}

export function isSameReplicaIdentity(one: WatchedTableDefinition, other: WatchedTableDefinition): boolean {
  return one.identity === other.identity && one.keyColumns.join('\0') === other.keyColumns.join('\0');
}

function nextSighting(
  before: ChangeSighting | undefined,
  name: string,
  { facts, walPosition, blamed }: TableDefinitionPoll,
): ChangeSighting {
  const table = facts.tables.find((one) => one.name === name);
  const written = table === undefined ? 0 : table.inserted + table.changed;
  if (before === undefined) return { written, position: undefined };
  const isBlamed = blamed === name || blamed?.startsWith(`${name}.`) === true;
  const isWritten = written > before.written || isBlamed;
  return { ...before, position: before.position ?? (isWritten ? walPosition : undefined) };
}
