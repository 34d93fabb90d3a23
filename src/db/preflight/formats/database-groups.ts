import { countOf, formatBytes } from '../../../base/text.ts';
import type { DatabasePreflightVerdict, PreflightReport } from '../report.ts';

/** A group of databases with the same verdict for the same reasons; groups have the order of the report. */
export function groupDatabasesByVerdict({
  databases,
}: PreflightReport): readonly (readonly DatabasePreflightVerdict[])[] {
  const groups = new Map<string, DatabasePreflightVerdict[]>();
  for (const database of databases) {
    const key = JSON.stringify([database.verdict, database.reasons]);
    groups.set(key, [...(groups.get(key) ?? []), database]);
  }
  return [...groups.values()];
}

/** The ids of the findings that block some of the databases, but not all. */
export function selectDatabaseSpecificVerdictReasons(
  { databases }: PreflightReport,
  { reasons }: DatabasePreflightVerdict,
): readonly string[] {
  return reasons.filter((id) => !databases.every((other) => other.reasons.includes(id)));
}

/** The size, tables and keys of several databases together, as far as they are known. */
export function summarizeDatabaseSizes(databases: readonly DatabasePreflightVerdict[]): readonly string[] {
  const sum = (numberOf: (database: DatabasePreflightVerdict) => number | undefined): number | undefined => {
    const known = databases.flatMap((database) => numberOf(database) ?? []);
    return known.length === 0 ? undefined : known.reduce((all, value) => all + value, 0);
  };
  const size = sum(({ size_bytes: bytes }) => bytes);
  const tables = sum((database) => database.tables);
  const keys = sum((database) => database.keys);
  return [
    ...(size === undefined ? [] : [formatBytes(size)]),
    ...(tables === undefined ? [] : [countOf(tables, 'table')]),
    ...(keys === undefined ? [] : [countOf(keys, 'key')]),
  ];
}

/** Formats the number of databases of the source, with their total size and number of tables or keys. */
export function formatDatabaseTotals({ databases }: PreflightReport): readonly string[] {
  if (databases.length === 0) return [];
  return [countOf(databases.length, 'database'), ...summarizeDatabaseSizes(databases)];
}
