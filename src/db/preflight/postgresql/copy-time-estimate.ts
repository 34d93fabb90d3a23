import type { TableSize, TableSizeSummary } from './queries/table-sizes.ts';
import type { DatabaseCopySize, InitialCopySize } from './source-facts.ts';

/** Bytes per second that one replication worker copies over the internet: the lowest and the highest measured rate. */
export const copyRateRangeOfOneWorker = { slow: 20e6, fast: 50e6 } as const;

/**
 * Seconds that a table costs even without rows: its worker connects, creates a slot and catches up. 3,000 empty
 * partitions took 104 s on one machine; a connection over the internet needs several times that.
 */
export const secondsOfOneTable = { fast: 0.02, slow: 0.15 } as const;

/** Seconds after which a migration stops by itself (docs/service.md S9.8). */
export const maxMigrationSeconds = 14 * 86_400;

/** Seconds. */
interface PostgresqlCopyTimeEstimate {
  readonly low: number;
  readonly high: number;
}

/** Estimates the time of the initial copy: one worker copies each table, and two workers run at a time. */
export function estimatePostgresqlCopyTime({
  bytes,
  tables,
  largest,
}: Pick<InitialCopySize, 'bytes' | 'tables' | 'largest'>): PostgresqlCopyTimeEstimate {
  const secondsAt = (speed: 'fast' | 'slow') => {
    const rate = copyRateRangeOfOneWorker[speed];
    return Math.max((largest?.bytes ?? 0) / rate, bytes / (2 * rate)) + tables * secondsOfOneTable[speed];
  };
  return { low: secondsAt('fast'), high: secondsAt('slow') };
}

export function sumInitialCopySize(
  databases: readonly string[],
  sizes: ReadonlyMap<string, TableSizeSummary>,
): InitialCopySize {
  const perDatabase = new Map<string, DatabaseCopySize>();
  let bytes = 0;
  let tables = 0;
  let largest: InitialCopySize['largest'];
  for (const database of databases) {
    const size = sizes.get(database);
    if (size === undefined) continue;
    const [first] = size.largest;
    perDatabase.set(database, {
      bytes: size.bytes,
      tables: size.tables,
      largest: first === undefined ? undefined : { table: first.table, bytes: first.bytes },
    });
    bytes += size.bytes;
    tables += size.tables;
    if (first !== undefined && first.bytes >= (largest?.bytes ?? 0)) {
      largest = { database, table: first.table, bytes: first.bytes };
    }
  }
  return { bytes, tables, largest, perDatabase, unseen: databases.filter((name) => !sizes.has(name)) };
}

/** The largest tables of all databases, largest first, at most 20. */
export function selectLargestTables(sizes: ReadonlyMap<string, TableSizeSummary>): readonly TableSize[] {
  return [...sizes]
    .flatMap(([database, { largest }]) => largest.map((table) => ({ ...table, database })))
    .sort((a, b) => b.bytes - a.bytes || a.table.localeCompare(b.table))
    .slice(0, 20);
}
