import type { TableContentDigest } from '../../postgresql/table-digest.ts';
import type { ComparisonResult, SequenceComparison, TableComparison } from './rehearse/report.ts';

/** Row counts by table name. */
type RowCounts = ReadonlyMap<string, number>;

/** The row count of each table: of the source before and after the count of the target. */
interface RowCountReadings {
  readonly before: RowCounts;
  readonly target: RowCounts;
  readonly after: RowCounts;
}

/** Whether another comparison may find the table equal. */
export function canTableBecomeEqual({ state }: Pick<TableComparison, 'state'>): boolean {
  return state === 'differs' || state === 'not_comparable';
}

export function compareRowCounts({ before, target, after }: RowCountReadings): readonly TableComparison[] {
  return [...before].map(([name, first]) => {
    const targetRows = target.get(name) ?? null;
    const last = after.get(name) ?? null;
    return {
      name,
      rows_source: last ?? first,
      rows_target: targetRows,
      state: comparisonState(first, targetRows, last),
    };
  });
}

/**
 * Compares like `compareRowCounts`, but a table is equal only if its rows are equal and did not change between the two
 * readings of the source.
 * @param isConfirmed the target has received all rows of the first reading, so rows that are missing on the target are
 * lost
 */
export function compareTableContents(
  { before, target, after }: TableContentReadings,
  isConfirmed: boolean,
): readonly TableComparison[] {
  const counts = { before: rowCounts(before), target: rowCounts(target), after: rowCounts(after) };
  return compareRowCounts(counts).map((one): TableComparison => {
    const [first, there, last] = [before, target, after].map((round) => round.get(one.name)?.digest);
    if (!isConfirmed && there !== undefined && first !== last) return { ...one, state: 'not_comparable' };
    if (one.state !== 'equal') return one;
    if (first !== last) return { ...one, state: 'not_comparable' };
    return there === first ? one : { ...one, state: 'differs' };
  });
}

export interface TableContentReadings {
  readonly before: ReadonlyMap<string, TableContentDigest>;
  readonly target: ReadonlyMap<string, TableContentDigest>;
  readonly after: ReadonlyMap<string, TableContentDigest>;
}

function rowCounts(contents: ReadonlyMap<string, TableContentDigest>): RowCounts {
  return new Map([...contents].map(([name, { rows }]) => [name, rows]));
}

function comparisonState(before: number, target: number | null, after: number | null): ComparisonResult {
  if (target === null) return 'differs';
  if (after === null) return 'not_comparable';
  if (after === before) return target === before ? 'equal' : 'differs';
  return target >= Math.min(before, after) && target <= Math.max(before, after) ? 'not_comparable' : 'differs';
}

/**
 * On the target, a sequence in use has the value from the time of the copy, or a value between that and the current
 * value on the source.
 */
export function compareSequences(
  before: SequenceStates,
  target: SequenceStates,
  after: SequenceStates,
): readonly SequenceComparison[] {
  return [...before].map(([name, first]) => {
    const there = target.get(name);
    const last = after.get(name) ?? first;
    if ([first, there, last].includes(unreadableSequenceState)) {
      const [source = null, target = null] = [last, there].map((value) =>
        value === unreadableSequenceState ? null : value,
      );
      return { name, source, target, state: 'not_comparable', acceptable: true };
    }
    return { name, source: last, target: there ?? null, state: sequenceComparison(first, there, last) };
  });
}

/** The state of a sequence that the role has no privilege to read. */
export const unreadableSequenceState = 'unreadable';

/** `last_value`, with a dot if `is_called` is false; null when it is not known; or `unreadableSequenceState`. */
type SequenceStates = ReadonlyMap<string, string | null>;

/** @param target the state on the target; undefined if the target has no such sequence */
function sequenceComparison(before: string | null, target: string | null | undefined, after: string | null) {
  if (target === undefined) return 'differs';
  // A sequence that was used on only one of the servers is not equal, even if its values are not known.
  if (after === null) return target === null || target.endsWith('.') ? 'not_compared' : 'differs';
  if (target === after) return 'equal';
  // Whether the sequence was used for the first time during the comparison.
  if (before === null) return 'not_comparable';
  if (target === null) return after.endsWith('.') ? 'not_compared' : 'differs';
  return isBetween(before, target, after) ? 'not_comparable' : 'differs';
}

/** Compares two states of a sequence: `last_value`, with a dot if `is_called` is false. */
function isBetween(one: string, value: string, other: string): boolean {
  if (one === other) return false;
  const [a, x, b] = [one, value, other].map((text) => BigInt(text.replace('.', '')));
  if (a === undefined || x === undefined || b === undefined) return false;
  return (a <= x && x <= b) || (b <= x && x <= a);
}
