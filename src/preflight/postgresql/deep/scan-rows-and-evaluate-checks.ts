import type { CheckFinding } from '../../finding.ts';
import type { PreflightQueryResults } from '../../query.ts';
import type { PreflightEngineInput } from '../../run.ts';
import type { PostgresqlCheck } from '../check.ts';
import { evaluateDatabaseChecks } from '../evaluate-checks.ts';
import type { PostgresqlDatabase } from '../queries/databases.ts';
import type { PostgresqlDatabaseQueryRunOptions } from '../run-preflight-queries-in-database.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';
import { scanDatabaseTableRows } from './scan-database-table-rows.ts';

export interface ScanRowsAndEvaluateChecksOptions {
  readonly run: Pick<PreflightEngineInput<unknown>, 'options' | 'cancelled' | 'onRead'>;
  readonly facts: PostgresqlSourceFacts;
  readonly known: readonly PostgresqlDatabase[];
  readonly query: PostgresqlDatabaseQueryRunOptions;
  readonly checks: readonly PostgresqlCheck[];
  /**
   * The findings by database. After the rows were read, the findings of the checks that use rows replace the earlier
   * ones.
   */
  readonly findings: Map<string, readonly CheckFinding[]>;
}

/** The checks that are evaluated again after the rows were read. */
export function selectRowDependentChecks(checks: readonly PostgresqlCheck[]): readonly PostgresqlCheck[] {
  return checks.filter((check) => check.scope === 'database' && check.readsRows === true);
}

/**
 * Reads the rows of the databases that were reached, and evaluates the checks of rows. Without `--deep` the function
 * does nothing.
 * @param results by database, for the checks of rows
 */
export async function scanRowsAndEvaluateChecks(
  results: ReadonlyMap<string, PreflightQueryResults>,
  { run, facts, known, query, checks, findings }: ScanRowsAndEvaluateChecksOptions,
): Promise<PostgresqlSourceFacts['scans']> {
  const { options, cancelled, onRead } = run;
  const { deep } = options;
  if (deep === undefined) return undefined;
  const reached = [...results.keys()].filter((name) => facts.access.get(name)?.kind === 'entered').sort();
  const databases = reached.map((name) => ({
    name,
    encoding: known.find((database) => database.name === name)?.encoding ?? '',
  }));
  const scans = await scanDatabaseTableRows(databases, { deep, query, cancelled, onRead });
  for (const [name, own] of results) {
    const again = evaluateDatabaseChecks(selectRowDependentChecks(checks), own, name, { ...facts, scans }, options);
    const byId = new Map(again.map((finding) => [finding.id, finding]));
    const before = findings.get(name) ?? [];
    findings.set(
      name,
      before.map((finding) => byId.get(finding.id) ?? finding),
    );
  }
  return scans;
}
