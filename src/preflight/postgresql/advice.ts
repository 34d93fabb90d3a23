import type { Finding, Method } from '../finding.ts';
import type { Verdict } from '../report.ts';
import { concerns } from '../verdict.ts';

export interface Advising {
  readonly method: Method;
  readonly databases: readonly string[];
  readonly findings: readonly Finding[];
  /** Databases without a table, smallest first: nobody misses them. */
  readonly empty: readonly string[];
  /** What the verdict would be without these databases. */
  readonly without: (names: readonly string[]) => { readonly verdict: Verdict; readonly possible: boolean };
}

export interface IgnoreAdvice {
  /** What to add to `ignore_dbs`. */
  readonly ignore_dbs: readonly string[];
  /** What the verdict is then. */
  readonly verdict: Verdict;
}

/**
 * The smallest list that makes the method possible: every database that stands in its own way, and where slots are short
 * as many empty ones as it takes. undefined: no list does, or none is needed.
 */
export function adviseIgnoring({ method, databases, findings, empty, without }: Advising): IgnoreAdvice | undefined {
  const blockers = findings.filter(
    ({ status, accepted, blocks }) => status === 'fail' && accepted !== true && blocks.includes(method),
  );
  if (blockers.length === 0) return undefined;
  const own = blockers.filter(({ database, only }) => database !== undefined || only !== undefined);
  const must = databases.filter((name) => own.some((finding) => concerns(finding, name)));
  const spare = empty.filter((name) => databases.includes(name) && !must.includes(name));
  for (let extra = 0; extra <= spare.length; extra += 1) {
    const names = [...must, ...spare.slice(0, extra)];
    if (names.length === 0) continue;
    if (names.length >= databases.length) return undefined;
    const { verdict, possible } = without(names);
    if (possible) return { ignore_dbs: names, verdict };
  }
  return undefined;
}
