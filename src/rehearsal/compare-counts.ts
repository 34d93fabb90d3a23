import type { ComparisonState, SequenceComparison, TableCount } from './rehearsal-report.ts';

/** Row counts by table name. */
export type RowCounts = ReadonlyMap<string, number>;

/** Counts of the source before and after the count of the target. What the first count saw was replicated before the target was counted. */
export interface CountRound {
  readonly before: RowCounts;
  readonly target: RowCounts;
  readonly after: RowCounts;
}

/** Whether another round may find the table equal. */
export function isUnsettled({ state }: Pick<TableCount, 'state'>): boolean {
  return state === 'differs' || state === 'moving';
}

export function compareCounts({ before, target, after }: CountRound): readonly TableCount[] {
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

function comparisonState(before: number, target: number | null, after: number | null): ComparisonState {
  if (target === null) return 'differs';
  if (target === before && (after === null || after === before)) return 'equal';
  if (after === null || after === before) return 'differs';
  return target >= Math.min(before, after) && target <= Math.max(before, after) ? 'moving' : 'differs';
}

/** A sequence in use has on the target its value at the time of the copy, or one between that and the current value. */
export function compareSequences(
  before: ReadonlyMap<string, string>,
  target: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly SequenceComparison[] {
  return [...before].map(([name, first]) => {
    const targetRows = target.get(name) ?? null;
    const last = after.get(name) ?? first;
    const state =
      targetRows === null
        ? 'differs'
        : targetRows === last
          ? 'equal'
          : isBetween(first, targetRows, last)
            ? 'moving'
            : 'differs';
    return { name, source: last, target: targetRows, state };
  });
}

/** Compares states of sequences: `last_value`, with a dot if `is_called` is false. */
function isBetween(one: string, value: string, other: string): boolean {
  if (one === other) return false;
  const [a, x, b] = [one, value, other].map((text) => BigInt(text.replace('.', '')));
  if (a === undefined || x === undefined || b === undefined) return false;
  return (a <= x && x <= b) || (b <= x && x <= a);
}
