import { beforeAll, expect, test } from 'vitest';
import { createSemaphore } from '../../src/db/engine/postgresql/context.ts';
import {
  type BestMethod,
  disagreements,
  isFull,
  isPromise,
  recordRow,
  resultOf,
  type TruthRow,
  verdictAccuracy,
} from './row.ts';

export interface TruthCase {
  readonly name: string;
  readonly quick?: true;
  readonly verdict: BestMethod;
  readonly reasons?: readonly string[];
  readonly unproven?: readonly string[];
  readonly differs?: DifferingResult;
  readonly uneven?: string;
  /** Why pgcopydb does not copy what the report promises. */
  readonly pgcopydb?: string;
}

/** The worse result of both engines, where it differs from the verdict, and why the verdict is correct nevertheless. */
export interface DifferingResult {
  readonly truth: BestMethod;
  readonly why: string;
}

/** Cases in parallel: they wait more than they compute. */
const concurrency = 3;

/** Runs all cases in parallel before the first test, then reports each as a test of its own. */
export function checkRows<C extends TruthCase>(cases: readonly C[], run: (one: C) => Promise<TruthRow>): void {
  const rows = new Map<string, TruthRow | Error>();
  beforeAll(async () => {
    const gate = createSemaphore(concurrency);
    await Promise.all(cases.map((one) => gate(() => attempt(one))));
    for (const { name } of cases) {
      const row = rows.get(name);
      if (row !== undefined && !(row instanceof Error)) recordRow(row);
    }
  });
  const attempt = async (one: C) => {
    const row = await run(one).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    rows.set(one.name, row);
    if (isFull && !(row instanceof Error))
      process.stderr.write(
        `${row.name}: ${row.verdict}, ${row.truth}${row.plain === undefined ? '' : `, plain engine ${row.plain}`} (${row.seconds} s)\n`,
      );
  };
  const rowOf = (name: string): TruthRow => {
    const row = rows.get(name);
    if (row instanceof Error || row === undefined) throw row ?? new Error(`${name} was not run`);
    return row;
  };

  test.each(cases)(
    '$name: $verdict',
    ({ name, verdict, reasons: because = [], unproven = [], quick = false, differs, pgcopydb }) => {
      const row = rowOf(name);
      const course = [...row.course, ...(row.plainCourse ?? []).map((text) => `plain engine: ${text}`)].join('\n');
      expect({ verdict: row.verdict, truth: resultOf(row) }, course).toEqual({
        verdict,
        truth: differs?.truth ?? verdict,
      });
      expect(row.reasons).toEqual(expect.arrayContaining([...because]));
      expect(row.unproven ?? []).toEqual(expect.arrayContaining([...unproven]));
      // A quick case that names nothing unproven shows what must stay proven.
      if (quick && unproven.length === 0 && differs === undefined && row.verdict !== 'blocked')
        expect(row.unproven ?? []).toEqual([]);
      if (row.explained === undefined) expect(disagreements(row), course).toEqual([]);
      expect(row.remarks).toEqual([]);
      if (isPromise(row) && pgcopydb === undefined) expect(row.pgcopydb ?? []).toEqual([]);
    },
  );

  test('no continuous migration is promised that does not work, and none that works is excluded without a reason', () => {
    const rows = cases.map(({ name }) => rowOf(name));
    const accuracies = rows.filter(({ explained }) => explained === undefined).map((row) => verdictAccuracy(row));
    expect(accuracies.filter((one) => one === 'false blocked')).toEqual([]);
    expect(rows.map((row) => verdictAccuracy(row)).filter((one) => one === 'false continuous')).toEqual([]);
  });
}
