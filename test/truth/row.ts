import { appendFileSync } from 'node:fs';

/** The best method: the verdict of the preflight, or the result of real migrations. */
export type BestMethod = 'continuous' | 'dump' | 'scan' | 'blocked';

/** The results of the real migrations: of the engine of the sandbox, and of the plain one, which only PostgreSQL has. */
export interface MigrationResults {
  readonly truth: BestMethod;
  readonly plain?: BestMethod;
}

export interface DatabaseRow extends MigrationResults {
  readonly name: string;
  readonly verdict: BestMethod;
}

/** The verdict of the preflight on a server, and the results of the real migrations. */
export interface TruthRow extends MigrationResults {
  readonly engine: 'postgresql' | 'redis';
  readonly name: string;
  /** `15 -> 17`. */
  readonly versions: string;
  readonly verdict: BestMethod;
  /** Ids of the findings that took a method away. */
  readonly reasons: readonly string[];
  /** Ids of the findings that leave the verdict unproven, because something could not be looked at. */
  readonly unproven?: readonly string[];
  /** How each attempted migration ended that failed. */
  readonly course: readonly string[];
  readonly plainCourse?: readonly string[];
  /** What pgcopydb did not copy; undefined where it was not run. */
  readonly pgcopydb?: readonly string[];
  readonly databases: readonly DatabaseRow[];
  /** Leftovers and other faults of the engine; they do not make the verdict wrong. */
  readonly remarks: readonly string[];
  /** Why the verdict may differ from the result here. */
  readonly explained?: string;
  readonly seconds: number;
}

export type VerdictAccuracy = 'true' | 'not proven' | 'false continuous' | 'false promise' | 'false blocked';

/**
 * `not proven`: the report said so, and named what it could not look at. `false continuous` is the worst: the migration was
 * promised, and an engine fails or loses rows. `false promise` is the same of the other method. `false blocked`: a method was
 * excluded, and it works with both engines; where it works with one of them the verdict is right, since the service may do
 * as the other.
 */
export function verdictAccuracy({
  verdict,
  unproven = [],
  ...results
}: MigrationResults & Pick<TruthRow, 'verdict' | 'unproven'>): VerdictAccuracy {
  const said = methodRank[verdict];
  const was = methodRank[resultOf(results)];
  if (said === was) return 'true';
  if (said < was) return 'false blocked';
  if (unproven.length > 0) return 'not proven';
  return verdict === 'continuous' ? 'false continuous' : 'false promise';
}

const methodRank: Readonly<Record<BestMethod, number>> = { blocked: 0, scan: 1, dump: 1, continuous: 2 };

/** Whether the report promises that schema and rows can be copied, and neither of both engines refutes it. */
export function isPromise({ verdict, unproven = [], ...results }: TruthRow): boolean {
  return verdict !== 'blocked' && unproven.length === 0 && resultOf(results) !== 'blocked';
}

/** The worse of both: the real service may do as either engine. */
export function resultOf({ truth, plain = truth }: MigrationResults): BestMethod {
  return worstMethod([truth, plain]);
}

/** The method of a whole server is that of its worst database. */
export function worstMethod(all: readonly BestMethod[]): BestMethod {
  return all.reduce((least, one) => (methodRank[one] < methodRank[least] ? one : least), 'continuous');
}

/** The databases whose verdict differs from the result. */
export function disagreements({ databases }: Pick<TruthRow, 'databases'>): readonly string[] {
  return databases
    .filter((one) => verdictAccuracy(one) !== 'true')
    .map(({ name, verdict, ...results }) => `${name}: ${verdict} was said, ${resultOf(results)} was true`);
}

/** Every case instead of the quick half. */
export const isFull = process.env.CLOUDCTL_TEST_TRUTH === 'full';

/** A part of the full matrix: parts of names, separated by a vertical bar. */
const only = process.env.CLOUDCTL_TEST_TRUTH_ONLY?.split('|');

interface SelectableCase {
  readonly name: string;
  readonly quick?: true;
  readonly possible?: boolean;
}

export function isWanted({ name, quick, possible = true }: SelectableCase): boolean {
  if (!possible) return false;
  return only === undefined ? isFull || quick === true : only.some((part) => name.includes(part));
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
