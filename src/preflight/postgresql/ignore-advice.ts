import type { Finding, MigrationMethod } from '../finding.ts';
import type { IgnoreAdvice, PreflightVerdict } from '../report.ts';
import { concernsDatabase } from '../verdict.ts';

export interface IgnoreAdviceInput {
  readonly method: MigrationMethod;
  readonly databases: readonly string[];
  readonly findings: readonly Finding[];
  /** Databases without a table, smallest first: nobody misses them. */
  readonly empty: readonly string[];
  /** What the verdict would be without these databases. */
  readonly without: (names: readonly string[]) => { readonly verdict: PreflightVerdict; readonly possible: boolean };
}

/**
 * The smallest list that makes the method possible: every database that stands in its own way, and where slots are short
 * as many empty ones as it takes. undefined: no list does, or none is needed.
 */
export function adviseIgnoringDatabases({
  method,
  databases,
  findings,
  empty,
  without,
}: IgnoreAdviceInput): IgnoreAdvice | undefined {
  const blockers = findings.filter(
    ({ status, accepted, blocks }) => status === 'fail' && accepted !== true && blocks.includes(method),
  );
  if (blockers.length === 0) return undefined;
  const own = blockers.filter(({ database, only }) => database !== undefined || only !== undefined);
  const must = databases.filter((name) => own.some((finding) => concernsDatabase(finding, name)));
  const spare = empty.filter((name) => databases.includes(name) && !must.includes(name));
  const most = Math.min(spare.length, databases.length - 1 - must.length);
  const tried = (extra: number) => without([...must, ...spare.slice(0, extra)]);
  let low = must.length === 0 ? 1 : 0;
  let high = most;
  if (high < low || !tried(high).possible) return undefined;
  // What is possible without some databases is possible without more of them.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (tried(middle).possible) high = middle;
    else low = middle + 1;
  }
  return { ignore_dbs: [...must, ...spare.slice(0, high)], verdict: tried(high).verdict };
}
