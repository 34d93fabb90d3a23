import type { TableStatusSample } from '../status-sample.ts';
import type { WatchedCopyProgress, WatchedTableStatistics } from './server-facts.ts';

/** The state of one table that is kept between two polls. */
export interface WatchedTableState {
  readonly state: TableStatusSample['state'];
  /** Statistics counters of the table at the first poll. */
  readonly scans: number;
  readonly rowsRead: number;
  readonly rowsDone: number;
  readonly bytes: number;
}

export type WatchedTableStates = ReadonlyMap<number, WatchedTableState>;

export interface WatchedTablesPollResult {
  readonly tables: readonly WatchedTableStatistics[];
  /** Size of the table in bytes; undefined if not measured in this poll. */
  readonly sizes: ReadonlyMap<number, number> | undefined;
  /** COPY statements of the migration or of pg_dump in this database. */
  readonly copies: readonly WatchedCopyProgress[];
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
export function updateWatchedTableStates(
  before: WatchedTableStates,
  { tables, sizes, copies, copying }: WatchedTablesPollResult,
): WatchedTableStates {
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
export function markAllWatchedTablesCopied(tables: WatchedTableStates): WatchedTableStates {
  return new Map([...tables].map(([oid, table]) => [oid, { ...table, state: 'done' }]));
}

export interface CopiedAndTotalTableBytes {
  readonly done: number;
  readonly total: number;
}

export function sumCopiedAndTotalTableBytes(
  tables: WatchedTableStates,
  now: readonly WatchedTableStatistics[],
): CopiedAndTotalTableBytes {
  const all = now.flatMap((table) => sampleTable(table, tables.get(table.oid)));
  return {
    done: all.reduce((sum, one) => sum + one.bytes_done, 0),
    total: all.reduce((sum, one) => sum + one.bytes_total, 0),
  };
}

/** At most 50 tables: first those that are being copied, then the largest. */
export function selectTablesForMigrationStatus(
  tables: WatchedTableStates,
  now: readonly WatchedTableStatistics[],
): readonly TableStatusSample[] {
  return now
    .flatMap((table) => sampleTable(table, tables.get(table.oid)))
    .sort((a, b) => Number(b.state === 'copying') - Number(a.state === 'copying') || b.bytes_total - a.bytes_total)
    .slice(0, 50);
}

function sampleTable(
  table: WatchedTableStatistics,
  tracked: WatchedTableState | undefined,
): readonly TableStatusSample[] {
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
