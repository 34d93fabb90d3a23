import type { WalVolume } from './queries/replication.ts';
import type { SizeSummary, TableSize } from './queries/tables.ts';
import type { CopySize, DatabaseCopySize, WalRate } from './source-facts.ts';

/**
 * The higher of the measured WAL rate and the average WAL rate since the statistics were reset. A measurement of less
 * than one second is used only if there is no average, because a single WAL record may be most of it.
 */
export function estimateWalRate(sample: WalRate | undefined, history: WalVolume | undefined): number {
  const now = sample === undefined || sample.seconds <= 0 ? 0 : sample.bytes / sample.seconds;
  const average = history === undefined || history.seconds < 3600 ? undefined : history.bytes / history.seconds;
  return average !== undefined && (sample?.seconds ?? 0) < 1 ? average : Math.max(now, average ?? 0);
}

/** Bytes per second that one replication worker copies over the internet: the lowest and the highest measured rate. */
export const workerCopyRate = { slow: 20e6, fast: 50e6 } as const;

/**
 * Seconds that a table costs even without rows: its worker connects, creates a slot and catches up. 3,000 empty
 * partitions took 104 s on one machine; a connection over the internet needs several times that.
 */
export const tableSeconds = { fast: 0.02, slow: 0.15 } as const;

/** Seconds after which a migration stops by itself (docs/service.md S9.8). */
export const maxMigrationSeconds = 14 * 86_400;

/** Seconds. */
interface CopyTime {
  readonly low: number;
  readonly high: number;
}

/** Estimates the time of the initial copy: one worker copies each table, and two workers run at a time. */
export function estimateCopyTime({ bytes, tables, largest }: Pick<CopySize, 'bytes' | 'tables' | 'largest'>): CopyTime {
  const secondsAt = (speed: 'fast' | 'slow') => {
    const rate = workerCopyRate[speed];
    return Math.max((largest?.bytes ?? 0) / rate, bytes / (2 * rate)) + tables * tableSeconds[speed];
  };
  return { low: secondsAt('fast'), high: secondsAt('slow') };
}

export function sumSizes(databases: readonly string[], sizes: ReadonlyMap<string, SizeSummary>): CopySize {
  const perDatabase = new Map<string, DatabaseCopySize>();
  let bytes = 0;
  let tables = 0;
  let largest: CopySize['largest'];
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
export function largestTables(sizes: ReadonlyMap<string, SizeSummary>): readonly TableSize[] {
  return [...sizes]
    .flatMap(([database, { largest }]) => largest.map((table) => ({ ...table, database })))
    .sort((a, b) => b.bytes - a.bytes || a.table.localeCompare(b.table))
    .slice(0, 20);
}
