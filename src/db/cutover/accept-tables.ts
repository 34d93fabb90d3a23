import { usageError } from '../../base/errors.ts';
import {
  buildDatabaseComparisonEntry,
  type DatabaseComparisonEntry,
  type DatabaseComparisonReport,
  pickWorstComparisonResult,
} from './comparison-report.ts';

type Contents = Pick<DatabaseComparisonReport, 'state' | 'databases'>;

/**
 * Marks the tables and sequences that the user accepts without a comparison. What differs is never accepted, nor what another
 * comparison may still settle.
 */
export function acceptTables<Report extends Contents>(report: Report, accepted: readonly string[]): Report {
  if (accepted.length === 0) return report;
  const databases = report.databases.map((entry) => {
    const mark = <One extends Open>(one: One): One =>
      isAcceptable(one) && accepted.includes(`${entry.name}:${one.name}`) ? { ...one, accepted: true } : one;
    const { state: _, ...parts } = entry;
    return buildDatabaseComparisonEntry({
      ...parts,
      tables: entry.tables.map(mark),
      sequences: entry.sequences.map(mark),
    });
  });
  return { ...report, databases, state: pickWorstComparisonResult(databases.map(({ state }) => state)) };
}

type Open = DatabaseComparisonEntry['tables'][number] | DatabaseComparisonEntry['sequences'][number];

function isAcceptable({ state, acceptable }: Open): boolean {
  return state === 'not_comparable' && acceptable === true;
}

/**
 * The tables, as values of `--accept`, whose acceptance makes the comparison equal; none if something differs, or may be settled by
 * another comparison.
 */
export function listAcceptable({ state, databases }: Contents): readonly string[] {
  if (state !== 'not_comparable') return [];
  const open = databases.flatMap(({ name, state: own, error, tables, sequences }) => {
    if (own !== 'not_comparable') return [];
    if (error !== undefined) return [undefined];
    return [...tables, ...sequences]
      .filter((one) => one.state === 'not_comparable' && one.accepted !== true)
      .map((one) => (isAcceptable(one) ? `${name}:${one.name}` : undefined));
  });
  const known = open.filter((one) => one !== undefined);
  return known.length === open.length ? known : [];
}

/** What was accepted, with the reason why it was not compared. */
export function listAccepted({ databases }: Pick<Contents, 'databases'>): readonly string[] {
  return databases.flatMap(({ name, tables, sequences }) =>
    [...tables, ...sequences]
      .filter(({ accepted }) => accepted === true)
      .map((one) => `${name}:${one.name}${'error' in one && one.error !== undefined ? ` (${one.error})` : ''}`),
  );
}

/** Divides the values of `--accept`: one with a colon is a table, any other must be the id of a line. */
export function divideAccepted(
  values: readonly string[],
  lines: readonly string[],
): { readonly lines: readonly string[]; readonly tables: readonly string[] } {
  const tables = values.filter((value) => value.includes(':'));
  const unknown = values.find((value) => !value.includes(':') && !lines.includes(value));
  if (unknown !== undefined)
    throw usageError(
      `the value of --accept is wrong: ${unknown}`,
      lines.length === 0
        ? 'name a table as DATABASE:SCHEMA.TABLE'
        : `name a table as DATABASE:SCHEMA.TABLE, or a line: ${lines.join(', ')}`,
    );
  return { lines: values.filter((value) => lines.includes(value)), tables };
}
