import type { TableSample } from '../sample.ts';
import type { DatabaseBaseline } from './baseline.ts';
import type {
  ColumnDefinition,
  CopyProgress,
  DatabaseFacts,
  TableDefinition,
  TableDefinitions,
  TableStatistics,
} from './facts.ts';

/** The state of one table that is kept between two polls. */
interface WatchedTableState {
  readonly state: TableSample['state'];
  /** Statistics counters of the table at the first poll. */
  readonly scans: number;
  readonly rowsRead: number;
  readonly rowsDone: number;
  readonly bytes: number;
}

export type TableStates = ReadonlyMap<number, WatchedTableState>;

interface WatchedTablesPollResult {
  readonly tables: readonly TableStatistics[];
  /** Size of the table in bytes; undefined if not measured in this poll. */
  readonly sizes: ReadonlyMap<number, number> | undefined;
  /** COPY statements of the migration or of pg_dump in this database. */
  readonly copies: readonly CopyProgress[];
  /**
   * Whether a COPY was observed in this database. Before the first COPY, a sequential scan of a table belongs to the
   * application.
   */
  readonly copying: boolean;
}

/**
 * A table is `copying` while its COPY runs. A table is `done` when its COPY has ended, or when one more sequential scan
 * has read the whole table: COPY counts as a sequential scan, and the copy of a small table can end between two polls.
 */
export function updateTables(
  before: TableStates,
  { tables, sizes, copies, copying }: WatchedTablesPollResult,
): TableStates {
  return new Map(
    tables.map((table): [number, WatchedTableState] => {
      const previous = before.get(table.oid);
      const bytes = sizes?.get(table.oid) ?? previous?.bytes ?? 0;
      const copy = copies.find((one) => one.table === table.oid || one.table === table.name);
      if (previous === undefined) {
        const state = { scans: table.seqScans, rowsRead: table.seqRows, bytes };
        return [
          table.oid,
          { ...state, ...(copy === undefined ? waitingState : { state: 'copying', rowsDone: copy.rows }) },
        ];
      }
      if (copy !== undefined) return [table.oid, { ...previous, bytes, state: 'copying', rowsDone: copy.rows }];
      const scanned = table.seqScans > previous.scans && table.seqRows - previous.rowsRead >= table.rows;
      const done = previous.state === 'done' || previous.state === 'copying' || (copying && scanned);
      return [table.oid, { ...previous, bytes, ...(done ? { state: 'done', rowsDone: table.rows } : waitingState) }];
    }),
  );
}

const waitingState = { state: 'waiting', rowsDone: 0 } as const;

/** Marks all tables as copied, after the initial copy of replication has ended. */
export function markAllCopied(tables: TableStates): TableStates {
  return new Map([...tables].map(([oid, table]) => [oid, { ...table, state: 'done' }]));
}

interface CopiedAndTotalTableBytes {
  readonly done: number;
  readonly total: number;
}

export function sumTableBytes(tables: TableStates, now: readonly TableStatistics[]): CopiedAndTotalTableBytes {
  const all = now.flatMap((table) => sampleTable(table, tables.get(table.oid)));
  return {
    done: all.reduce((sum, one) => sum + one.bytes_done, 0),
    total: all.reduce((sum, one) => sum + one.bytes_total, 0),
  };
}

/** At most 50 tables: first those that are being copied, then the largest. */
export function shownTables(tables: TableStates, now: readonly TableStatistics[]): readonly TableSample[] {
  return now
    .flatMap((table) => sampleTable(table, tables.get(table.oid)))
    .sort((a, b) => Number(b.state === 'copying') - Number(a.state === 'copying') || b.bytes_total - a.bytes_total)
    .slice(0, 50);
}

function sampleTable(table: TableStatistics, tracked: WatchedTableState | undefined): readonly TableSample[] {
  if (tracked === undefined) return [];
  const { state, bytes, rowsDone } = tracked;
  const isDone = state === 'done';
  // The number of rows is an estimate, so a running copy is never shown as complete.
  const part = isDone ? 1 : table.rows === 0 ? 0 : Math.min(0.99, rowsDone / table.rows);
  return [
    {
      name: table.name,
      state,
      bytes_done: Math.round(bytes * part),
      bytes_total: bytes,
      rows_done: isDone ? table.rows : rowsDone,
      rows_total: Math.max(table.rows, rowsDone),
    },
  ];
}

/** How the tables of one database differ from those at the start of the migration. */
export interface TrackedTables {
  readonly first: TableDefinitions;
  readonly now: TableDefinitions;
  readonly columnsBefore: ReadonlyMap<string, readonly ColumnDefinition[]>;
  readonly columnsNow: ReadonlyMap<string, readonly ColumnDefinition[]>;
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

interface TableDefinitionPoll {
  readonly facts: DatabaseFacts;
  readonly walPosition: number | undefined;
  /** WAL position in bytes up to which the target has confirmed changes; undefined if the target is not connected. */
  readonly applied: number | undefined;
  /** The object that the previous poll reported as the cause, as `schema.table` or `schema.table.column`. */
  readonly blamed: string | undefined;
}

export function trackedFromBaseline({ tables }: DatabaseBaseline): TrackedTables {
  const columns = [...tables].flatMap(([name, { columnShapes }]) =>
    columnShapes === undefined ? [] : [[name, columnShapes] as const],
  );
  return { first: tables, now: tables, columnsBefore: new Map(columns), columnsNow: new Map(), sightings: new Map() };
}

/**
 * Keeps the table definitions of the first poll. A changed table counts as changed on the target too, once the target has
 * applied rows that were written after the change.
 */
export function trackDefinitions(
  previous: TrackedTables | undefined,
  poll: TableDefinitionPoll,
): TrackedTables | undefined {
  const { shapes, columns } = poll.facts;
  if (shapes === undefined) return previous;
  if (previous === undefined) {
    return { first: shapes, now: shapes, columnsBefore: columns, columnsNow: new Map(), sightings: new Map() };
  }
  const sightings = new Map<string, ChangeSighting>();
  const first = new Map(previous.first);
  const columnsBefore = new Map(previous.columnsBefore);
  for (const name of changedTables({ first: previous.first, now: shapes })) {
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
function keepRemovedIdentity(before: TableDefinition | undefined, now: TableDefinition): TableDefinition {
  if (before?.hasReplicaIdentity !== true || now.hasReplicaIdentity) return now;
  const { identity, keyColumns, hasReplicaIdentity } = before;
  return { ...now, identity, keyColumns, hasReplicaIdentity };
}

/** Tables that were created, dropped or altered. */
export function changedTables({ first, now }: Pick<TrackedTables, 'first' | 'now'>): readonly string[] {
  const names = new Set([...first.keys(), ...now.keys()]);
  return [...names].filter((name) => !isSameShape(first.get(name), now.get(name)));
}

function isSameShape(one: TableDefinition | undefined, other: TableDefinition | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.columns === other.columns && isSameIdentity(one, other);
}

export function isSameIdentity(one: TableDefinition, other: TableDefinition): boolean {
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
