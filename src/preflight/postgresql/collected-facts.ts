import type { Finding } from '../finding.ts';
import type { QueryResults } from '../query.ts';
import type { CollectedFacts } from '../run.ts';
import type { PostgresqlCheck } from './check.ts';
import type { DatabaseSizes } from './queries/table-sizes.ts';
import type { DatabaseAccess, PostgresqlSourceFacts, WalRate } from './source-facts.ts';

/** What the runner of PostgreSQL needs beside the options that both engines share. */
export interface CollectSettings {
  readonly checks: readonly PostgresqlCheck[];
  /** The most connections that are open at once. */
  readonly concurrency: number;
  /** Milliseconds between the two readings of the WAL position, where a check needs them. */
  readonly walInterval: number;
}

export interface CollectedPostgresqlFacts extends CollectedFacts {
  /** What was known before the first query. */
  readonly facts: PostgresqlSourceFacts;
  readonly databases: readonly string[];
  readonly access: ReadonlyMap<string, DatabaseAccess>;
  /** Results of the queries of the server. */
  readonly results: QueryResults;
  /** Why the connection ended before all queries of the server had a result, on a second try as well. */
  readonly lost: string | undefined;
  /** Findings of the checks of databases. */
  readonly findings: readonly Finding[];
  /** Results of databases that their checks need when fixes are simulated. */
  readonly retained: ReadonlyMap<string, QueryResults>;
  readonly sizes: ReadonlyMap<string, DatabaseSizes>;
  readonly walRate: WalRate | undefined;
}
