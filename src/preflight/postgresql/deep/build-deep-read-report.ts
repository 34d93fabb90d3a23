import type { DeepReadReport } from '../../report.ts';
import type { DatabaseScanResult } from './scanned-row-statistics.ts';

/**
 * The summary of the tables and rows that were read, for the report.
 * @param scans by database; undefined: without `--deep`
 * @param databases that are to be migrated; one without a scan was not reached
 */
export function buildDeepReadReport(
  scans: ReadonlyMap<string, DatabaseScanResult> | undefined,
  databases: readonly string[],
): DeepReadReport {
  if (scans === undefined) return { state: 'not_read' };
  const all = databases.map((database) => ({ database, scan: scans.get(database) }));
  const sum = (of: (scan: DatabaseScanResult) => number) =>
    all.reduce((total, { scan }) => total + (scan ? of(scan) : 0), 0);
  const [longest] = all
    .flatMap(({ database, scan }) =>
      scan?.longestSnapshot === undefined ? [] : [{ database, ...scan.longestSnapshot }],
    )
    .sort((a, b) => b.milliseconds - a.milliseconds);
  const notRead = all.flatMap(({ database, scan }) => {
    if (scan === undefined) return [{ database, reason: 'not_reached', message: 'the database was not reached' }];
    if (scan.failure !== undefined) return [{ database, reason: 'not_listed', message: scan.failure }];
    return scan.unread.map(({ table, reason, message }) => ({ database, table, reason, message }));
  });
  return {
    state: notRead.length === 0 ? 'read' : 'partly_read',
    tables: sum(({ tables }) => tables),
    rows: sum(({ rows }) => rows),
    bytes: sum(({ bytes }) => bytes),
    ...(longest === undefined
      ? {}
      : { longest_snapshot: { ...longest, milliseconds: Math.ceil(longest.milliseconds) } }),
    not_read: notRead,
    keys_not_compared: all.flatMap(
      ({ database, scan }) =>
        scan?.unchecked.map(({ index, table, reason }) => ({ database, table, index, reason })) ?? [],
    ),
  };
}
