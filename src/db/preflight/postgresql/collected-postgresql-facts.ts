import type { CheckFinding } from '../finding.ts';
import type { PreflightQueryResults } from '../query.ts';
import type { CollectedSourceFacts } from '../run.ts';
import type { PostgresqlCheck } from './check.ts';
import type { TableSizeSummary } from './queries/table-sizes.ts';
import type { DatabaseAccessResult, PostgresqlSourceFacts, WalRate } from './source-facts.ts';

/** Input of a PostgreSQL preflight in addition to the input that both engines share. */
export interface PostgresqlSpecificPreflightInput {
  readonly checks: readonly PostgresqlCheck[];
  /** The maximum number of connections to the source that are open at once. */
  readonly concurrency: number;
  /** Milliseconds between the two readings of the WAL position, if a check needs them. */
  readonly walInterval: number;
  /** Selects the databases that are queried from those that --ignore-dbs leaves (default: all of them). */
  readonly limitDatabases?: (names: readonly string[]) => readonly string[];
  /**
   * Called when a check needs the WAL rate: calls `measure`, or returns the rate that another preflight of the same
   * server measured (default: calls `measure`).
   */
  readonly shareWalRate?: (measure: () => Promise<WalRate | undefined>) => Promise<WalRate | undefined>;
}

export interface CollectedPostgresqlFacts extends CollectedSourceFacts {
  /** The facts that were known before the first query. */
  readonly facts: PostgresqlSourceFacts;
  readonly databases: readonly string[];
  readonly access: ReadonlyMap<string, DatabaseAccessResult>;
  /** Results of the queries that are sent once for the server. */
  readonly results: PreflightQueryResults;
  /** Why the connection ended, for the second time, before all queries of the server had a result. */
  readonly lost: string | undefined;
  /** Findings of the checks that are evaluated for each database. */
  readonly findings: readonly CheckFinding[];
  /** Query results of databases, kept because checks need them when fixes are simulated. */
  readonly retained: ReadonlyMap<string, PreflightQueryResults>;
  readonly sizes: ReadonlyMap<string, TableSizeSummary>;
  readonly walRate: WalRate | undefined;
}

export function createEmptyPostgresqlFacts(facts: PostgresqlSourceFacts): CollectedPostgresqlFacts {
  return {
    facts,
    databases: [],
    access: new Map(),
    results: new Map(),
    lost: undefined,
    findings: [],
    retained: new Map(),
    sizes: new Map(),
    walRate: undefined,
    waited: 0,
  };
}
