import { beforeAll, expect, test } from 'vitest';
import { createGate } from '../../src/engine/gate.ts';
import { type Best, disagreements, isFull, keep, type Row, relationOf } from './row.ts';

export interface Case {
  readonly name: string;
  readonly verdict: Best;
  readonly because?: readonly string[];
  readonly differs?: { readonly truth: Best; readonly why: string };
}

/** Cases beside each other: they wait more than they work. */
const width = 3;

/** Runs all of them before the first test, so that they can be beside each other, and then makes one test of each. */
export function checkRows<C extends Case>(cases: readonly C[], run: (one: C) => Promise<Row>): void {
  const rows = new Map<string, Row | Error>();
  beforeAll(async () => {
    const gate = createGate(width);
    await Promise.all(cases.map((one) => gate(() => attempt(one))));
    for (const { name } of cases) {
      const row = rows.get(name);
      if (row !== undefined && !(row instanceof Error)) keep(row);
    }
  });
  const attempt = async (one: C) => {
    const row = await run(one).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    rows.set(one.name, row);
    if (isFull && !(row instanceof Error))
      process.stderr.write(`${row.name}: ${row.verdict}, ${row.truth} (${row.seconds} s)\n`);
  };
  const rowOf = (name: string): Row => {
    const row = rows.get(name);
    if (row instanceof Error || row === undefined) throw row ?? new Error(`${name} was not run`);
    return row;
  };

  test.each(cases)('$name: $verdict', ({ name, verdict, because = [], differs }) => {
    const row = rowOf(name);
    expect({ verdict: row.verdict, truth: row.truth }, row.course.join('\n')).toEqual({
      verdict,
      truth: differs?.truth ?? verdict,
    });
    expect(row.reasons).toEqual(expect.arrayContaining([...because]));
    if (row.explained === undefined) expect(disagreements(row), row.course.join('\n')).toEqual([]);
    expect(row.remarks).toEqual([]);
  });

  test('no continuous migration is promised that does not work, and at most two that work are called impossible', () => {
    const relations = cases.map(({ name }) => relationOf(rowOf(name)));
    expect(relations.filter((one) => one === 'false continuous')).toEqual([]);
    expect(relations.filter((one) => one === 'false blocked').length).toBeLessThanOrEqual(2);
  });
}
