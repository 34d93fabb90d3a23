import type { ComparisonState, SequenceComparison, TableCount } from './rehearsal-report.ts';

/** Rows of tables by name. */
export type RowCounts = ReadonlyMap<string, number>;

/** The source before and after the target was counted; all that the first count saw had arrived by then. */
export interface CountRound {
  readonly before: RowCounts;
  readonly target: RowCounts;
  readonly after: RowCounts;
}

/** Whether another try may find it equal. */
export function isUnsettled({ state }: Pick<TableCount, 'state'>): boolean {
  return state === 'differs' || state === 'moving';
}

export function compareCounts({ before, target, after }: CountRound): readonly TableCount[] {
  return [...before].map(([name, first]) => {
    const there = target.get(name) ?? null;
    const last = after.get(name) ?? null;
    return { name, rows_source: last ?? first, rows_target: there, state: comparisonState(first, there, last) };
  });
}

function comparisonState(before: number, target: number | null, after: number | null): ComparisonState {
  if (target === null) return 'differs';
  if (target === before && (after === null || after === before)) return 'equal';
  if (after === null || after === before) return 'differs';
  return target >= Math.min(before, after) && target <= Math.max(before, after) ? 'moving' : 'differs';
}

/** A sequence that goes on is where it was when it was brought, or between that and now. */
export function compareSequences(
  before: ReadonlyMap<string, string>,
  target: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly SequenceComparison[] {
  return [...before].map(([name, first]) => {
    const there = target.get(name) ?? null;
    const last = after.get(name) ?? first;
    const state =
      there === null ? 'differs' : there === last ? 'equal' : isBetween(first, there, last) ? 'moving' : 'differs';
    return { name, source: last, target: there, state };
  });
}

/** `last_value`, and a dot when it has not been given out. */
function isBetween(one: string, value: string, other: string): boolean {
  if (one === other) return false;
  const [a, x, b] = [one, value, other].map((text) => BigInt(text.replace('.', '')));
  if (a === undefined || x === undefined || b === undefined) return false;
  return (a <= x && x <= b) || (b <= x && x <= a);
}
