import type { DatabaseSizes, TableSize } from './queries/table-sizes.ts';
import type { DatabaseCopySize, InitialCopySize } from './source-facts.ts';

/** Bytes a second that one worker copies: the slow and the fast end of what is seen over the internet. */
export const copyRates = { slow: 20e6, fast: 50e6 } as const;

/** A migration stops by itself after two weeks (specification, section 8). */
export const maxMigrationSeconds = 14 * 86_400;

export interface CopyTimeEstimate {
  readonly low: number;
  readonly high: number;
}

/** Seconds: one table is copied by one worker, and two work at a time. */
export function estimateCopyTime({ bytes, largest }: Pick<InitialCopySize, 'bytes' | 'largest'>): CopyTimeEstimate {
  const at = (rate: number) => Math.max((largest?.bytes ?? 0) / rate, bytes / (2 * rate));
  return { low: at(copyRates.fast), high: at(copyRates.slow) };
}

export function initialCopySize(
  databases: readonly string[],
  sizes: ReadonlyMap<string, DatabaseSizes>,
): InitialCopySize {
  const perDatabase = new Map<string, DatabaseCopySize>();
  let bytes = 0;
  let tables = 0;
  let largest: InitialCopySize['largest'];
  for (const database of databases) {
    const found = sizes.get(database);
    if (found === undefined) continue;
    const [first] = found.largest;
    perDatabase.set(database, {
      bytes: found.bytes,
      tables: found.tables,
      largest: first === undefined ? undefined : { table: first.table, bytes: first.bytes },
    });
    bytes += found.bytes;
    tables += found.tables;
    if (first !== undefined && first.bytes >= (largest?.bytes ?? 0)) {
      largest = { database, table: first.table, bytes: first.bytes };
    }
  }
  return { bytes, tables, largest, perDatabase, unseen: databases.filter((name) => !sizes.has(name)) };
}

/** Twenty at most. */
export function largestTables(sizes: ReadonlyMap<string, DatabaseSizes>): readonly TableSize[] {
  return [...sizes]
    .flatMap(([database, { largest }]) => largest.map((table) => ({ ...table, database })))
    .sort((a, b) => b.bytes - a.bytes || a.table.localeCompare(b.table))
    .slice(0, 20);
}
