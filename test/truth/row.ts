import { appendFileSync } from 'node:fs';

/** The best method: the verdict of the preflight, or the result of real migrations. */
export type BestMethod = 'continuous' | 'dump' | 'scan' | 'blocked';

export interface DatabaseRow {
  readonly name: string;
  readonly verdict: BestMethod;
  readonly truth: BestMethod;
}

/** The verdict of the preflight on a server, and the results of the real migrations. */
export interface TruthRow {
  readonly engine: 'postgresql' | 'redis';
  readonly name: string;
  /** `15 -> 17`. */
  readonly versions: string;
  readonly verdict: BestMethod;
  /** Ids of the findings that took a method away. */
  readonly reasons: readonly string[];
  /** Ids of the findings that leave the verdict unproven, because something could not be looked at. */
  readonly unproven?: readonly string[];
  readonly truth: BestMethod;
  /** How each attempted migration ended. */
  readonly course: readonly string[];
  readonly databases: readonly DatabaseRow[];
  /** Leftovers and other faults of the engine; they do not make the verdict wrong. */
  readonly remarks: readonly string[];
  /** Why the verdict may differ from the result here. */
  readonly explained?: string;
  readonly seconds: number;
}

export type VerdictAccuracy = 'true' | 'not proven' | 'false continuous' | 'false promise' | 'false blocked';

/**
 * `not proven`: the report said so, and named what it could not look at. `false continuous` is the one that hurts: the migration was promised and does not work. `false promise` is the same of the
 * lesser method, `false blocked` a method that was said to be closed and works.
 */
export function verdictAccuracy({
  verdict,
  truth,
  unproven = [],
}: Pick<TruthRow, 'verdict' | 'truth' | 'unproven'>): VerdictAccuracy {
  const [said, was] = [methodRank[verdict], methodRank[truth]];
  if (said === was) return 'true';
  if (said < was) return 'false blocked';
  if (unproven.length > 0) return 'not proven';
  return verdict === 'continuous' ? 'false continuous' : 'false promise';
}

const methodRank: Readonly<Record<BestMethod, number>> = { blocked: 0, scan: 1, dump: 1, continuous: 2 };

/** The method of a whole server is that of its worst database. */
export function worstMethod(all: readonly BestMethod[]): BestMethod {
  return all.reduce((least, one) => (methodRank[one] < methodRank[least] ? one : least), 'continuous');
}

/** The databases whose verdict differs from the result. */
export function disagreements({ databases }: Pick<TruthRow, 'databases'>): readonly string[] {
  return databases
    .filter((one) => verdictAccuracy(one) !== 'true')
    .map(({ name, verdict, truth }) => `${name}: ${verdict} was said, ${truth} was true`);
}

/** Every case instead of the quick half. */
export const isFull = process.env.CLOUDCTL_TEST_TRUTH === 'full';

/** A part of the full matrix, by what the names hold. */
const only = process.env.CLOUDCTL_TEST_TRUTH_ONLY;

export function isWanted({ name, quick }: { readonly name: string; readonly quick?: true }): boolean {
  return only === undefined ? isFull || quick === true : name.includes(only);
}

/** Appends the row to the file of `npm run truth`, one JSON line each. */
export function recordRow(row: TruthRow): void {
  const file = process.env.CLOUDCTL_TEST_TRUTH_ROWS;
  if (file !== undefined)
    appendFileSync(
      file,
      `${JSON.stringify({ ...row, relation: verdictAccuracy(row), disagreements: disagreements(row) })}\n`,
    );
}
