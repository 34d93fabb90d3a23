import { expect, test } from 'vitest';
import type { CheckOutcome } from '../../../../src/db/preflight/finding.ts';
import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';
import type { UnusualRelations } from '../../../../src/db/preflight/postgresql/queries/relations.ts';
import type { PostgresqlFacts } from '../../../../src/db/preflight/postgresql/source-facts.ts';
import { expectOutcomeText } from './expect-text.ts';
import { preflightOptions, short, sourceFacts } from './facts.ts';

export interface DatabaseCase {
  readonly what: string;
  /** The outcome when a continuous migration was requested. */
  readonly continuous: CheckOutcome;
  /** The outcome when a dump was requested. */
  readonly dump?: CheckOutcome;
  readonly verdict: string;
  /** Of `dump`; as `verdict` when absent. */
  readonly dumped?: string;
}

/** One test a case. */
export function testDatabaseCases(cases: readonly DatabaseCase[]): void {
  test.each(cases)('$what: $verdict', ({ continuous, dump, verdict, dumped = verdict }) => {
    expect(short(continuous)).toBe(verdict);
    if (continuous.status !== 'pass') expectOutcomeText(continuous);
    if (dump !== undefined) expect(short(dump)).toBe(dumped);
  });
}

/** The outcomes of a database check for both methods. */
export function forBothMethods<V>(
  check: {
    readonly evaluate: (values: V, database: string, facts: PostgresqlFacts, options: PreflightOptions) => CheckOutcome;
  },
  values: V,
): Pick<DatabaseCase, 'continuous' | 'dump'> {
  return {
    continuous: check.evaluate(values, 'd1', sourceFacts(), preflightOptions()),
    dump: check.evaluate(values, 'd1', sourceFacts(), preflightOptions({ method: 'dump' })),
  };
}

/** The result of the relations query for a database without any but the given. */
export function relations(more: Partial<UnusualRelations> = {}): {
  readonly relations: UnusualRelations;
} {
  const none = { unlogged: [], foreign: [], temporary: [], matviews: [], secured: [], forced: [], placed: [] };
  return { relations: { ...none, ...more } };
}
