import type { CheckFinding, MigrationMethod } from '../finding.ts';
import type { IgnoreDatabasesAdvice, PreflightVerdict } from '../report.ts';
import { isFindingAboutDatabase } from '../verdict.ts';

export interface IgnoreDatabasesAdviceInput {
  readonly method: MigrationMethod;
  readonly databases: readonly string[];
  readonly findings: readonly CheckFinding[];
  /** Lists the databases without tables, smallest first. */
  readonly empty: readonly string[];
  /** The verdict if these databases are ignored. */
  readonly without: (names: readonly string[]) => { readonly verdict: PreflightVerdict; readonly possible: boolean };
}

/**
 * The shortest list of databases to ignore so that the migration method becomes possible: every database that blocks it
 * and, if replication slots are short, as many empty ones as needed. undefined if no list helps, or if the method is
 * possible already.
 */
export function adviseIgnoringDatabases({
  method,
  databases,
  findings,
  empty,
  without,
}: IgnoreDatabasesAdviceInput): IgnoreDatabasesAdvice | undefined {
  const blockers = findings.filter(
    ({ status, accepted, blocks }) => status === 'fail' && accepted !== true && blocks.includes(method),
  );
  if (blockers.length === 0) return undefined;
  const ofDatabases = blockers.filter(({ database, only }) => database !== undefined || only !== undefined);
  const required = databases.filter((name) => ofDatabases.some((finding) => isFindingAboutDatabase(finding, name)));
  const optional = empty.filter((name) => databases.includes(name) && !required.includes(name));
  const most = Math.min(optional.length, databases.length - 1 - required.length);
  const verdictWithout = (extra: number) => without([...required, ...optional.slice(0, extra)]);
  let low = required.length === 0 ? 1 : 0;
  let high = most;
  if (high < low || !verdictWithout(high).possible) return undefined;
  // A binary search works, because a method that is possible without some databases is also possible without more of
  // them.
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (verdictWithout(middle).possible) high = middle;
    else low = middle + 1;
  }
  return { ignore_dbs: [...required, ...optional.slice(0, high)], verdict: verdictWithout(high).verdict };
}
