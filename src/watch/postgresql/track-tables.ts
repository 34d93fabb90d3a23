import type { TableSample } from '../status-sample.ts';
import type { ObservedCopy, ObservedTable } from './server-facts.ts';

/** What is remembered of one table from look to look. */
export interface TableTrackingState {
  readonly state: TableSample['state'];
  /** Counters when it was first seen. */
  readonly scans: number;
  readonly rowsRead: number;
  readonly rowsDone: number;
  readonly bytes: number;
}

export type TrackedTables = ReadonlyMap<number, TableTrackingState>;

export interface TablePoll {
  readonly tables: readonly ObservedTable[];
  /** Undefined: not measured this time. */
  readonly sizes: ReadonlyMap<number, number> | undefined;
  /** Of this database, by the migration or by pg_dump. */
  readonly copies: readonly ObservedCopy[];
  /** A copy was seen in this database now or before: without one, a whole scan is the application's. */
  readonly copying: boolean;
}

/**
 * A table is being copied while its COPY runs; it is done when that has ended, or when it was read as a whole once more than
 * before: COPY counts as one sequential scan, and small tables are over before anybody looks.
 */
export function trackTables(before: TrackedTables, { tables, sizes, copies, copying }: TablePoll): TrackedTables {
  return new Map(
    tables.map((table): [number, TableTrackingState] => {
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

/** Replication is past the copy: every table was. */
export function markAllDone(tables: TrackedTables): TrackedTables {
  return new Map([...tables].map(([oid, table]) => [oid, { ...table, state: 'done' }]));
}

export interface CopiedBytes {
  readonly done: number;
  readonly total: number;
}

export function sumCopiedBytes(tables: TrackedTables, now: readonly ObservedTable[]): CopiedBytes {
  const all = now.flatMap((table) => sampleTable(table, tables.get(table.oid)));
  return {
    done: all.reduce((sum, one) => sum + one.bytes_done, 0),
    total: all.reduce((sum, one) => sum + one.bytes_total, 0),
  };
}

/** Those being copied first, then the biggest; fifty at most. */
export function sampleTables(tables: TrackedTables, now: readonly ObservedTable[]): readonly TableSample[] {
  return now
    .flatMap((table) => sampleTable(table, tables.get(table.oid)))
    .sort((a, b) => Number(b.state === 'copying') - Number(a.state === 'copying') || b.bytes_total - a.bytes_total)
    .slice(0, 50);
}

function sampleTable(table: ObservedTable, tracked: TableTrackingState | undefined): readonly TableSample[] {
  if (tracked === undefined) return [];
  const { state, bytes, rowsDone } = tracked;
  const isDone = state === 'done';
  // The count may be old, so a copy that goes on is never whole.
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
