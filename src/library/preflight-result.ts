/** How a migration copies: `continuous` replicates until the cut-over; `dump` (PostgreSQL) and `scan` (Redis) copy once. */
export type PreflightMethod = 'continuous' | 'dump' | 'scan';

/** The report of one preflight, as `cloudctl db preflight -o json` prints it. schemas/preflight-report-1.json has every member. */
export interface PreflightResult {
  readonly schema_version: 1;
  readonly engine: 'postgresql' | 'redis';
  /** The best method that is possible; with several databases the worst of their verdicts. */
  readonly verdict: PreflightMethod | 'blocked';
  readonly method: PreflightMethod;
  /** Whether the requested method is possible. */
  readonly ok: boolean;
  /**
   * Whether the verdict is certain; false if a check that could change it is `unknown`. `premises` lists the open
   * conditions.
   */
  readonly proven: boolean;
  readonly premises: readonly PreflightPremise[];
  /** The data that the migration method does not copy, even if the migration succeeds. */
  readonly data_loss: readonly string[];
  readonly source: { readonly host: string; readonly port: number; readonly server_version?: string };
  readonly databases: readonly PreflightDatabase[];
  /** One finding for each check, or for each check and database, in the order of the checks. */
  readonly findings: readonly PreflightFinding[];
  /** The estimated duration of the copy, in seconds. */
  readonly estimate?: { readonly seconds_low: number; readonly seconds_high: number };
  /** The number of statements that were sent. */
  readonly queries: number;
  /** ISO 8601. */
  readonly started_at: string;
  readonly duration_ms: number;
}

/** A condition under which the verdict is correct. */
export interface PreflightPremise {
  /** The id of the check. */
  readonly id: string;
  readonly condition: string;
  /** The option or the command that shows whether the condition is true. */
  readonly settled_by: string;
}

export interface PreflightDatabase {
  readonly name: string;
  readonly verdict: PreflightMethod | 'blocked';
  readonly size_bytes?: number;
  /** Ids of the findings that block a method. */
  readonly reasons: readonly string[];
}

export interface PreflightFinding {
  readonly id: string;
  /** The condition that is true when the check passes. */
  readonly title: string;
  /** The problem when the check does not pass. */
  readonly headline: string;
  readonly status: 'pass' | 'fail' | 'warn' | 'info' | 'skip' | 'unknown';
  /** The methods that the finding makes impossible. */
  readonly blocks: readonly PreflightMethod[];
  /** The database of the finding; absent for a finding about the whole server. */
  readonly database?: string;
  readonly observed: string;
  readonly required?: string;
  readonly detail?: string;
  /** Names of the tables, slots or roles that the finding is about. */
  readonly objects?: readonly string[];
  readonly fix?: PreflightFix;
}

export interface PreflightFix {
  /** The fix as an instruction. */
  readonly text: string;
  /** Statements in the order in which they must run; for Redis: commands for redis-cli. */
  readonly sql?: readonly string[];
  /** Statements that restore what was observed before the fix. */
  readonly undo?: readonly string[];
  /** Statements that a person must read before running them. */
  readonly review?: readonly string[];
  readonly database?: string;
  /** Lines for a shell or for a file on the server. */
  readonly shell?: readonly string[];
  readonly restart?: boolean;
}
