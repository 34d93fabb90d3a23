import type { Finding, FindingStatus, MigrationMethod } from './finding.ts';

export type PreflightVerdict = MigrationMethod | 'blocked';

/** The report of one preflight (schema_version 1), as JSON and as the source of every other format. */
export interface PreflightReport {
  readonly schema_version: 1;
  readonly engine: 'postgresql' | 'redis';
  /** The best possible method; of several databases the worst verdict counts. */
  readonly verdict: PreflightVerdict;
  readonly methods: Readonly<Partial<Record<MigrationMethod, boolean>>>;
  /** The requested method. */
  readonly method: MigrationMethod;
  /** The requested method is possible. */
  readonly ok: boolean;
  /** false: a check that could change the verdict is unknown. */
  readonly proven: boolean;
  /** What is not known and could change the verdict; empty when it is proven. */
  readonly premises: readonly VerdictPremise[];
  readonly data_loss: readonly string[];
  readonly source: {
    readonly host: string;
    readonly port: number;
    readonly dbname?: string;
    readonly username?: string;
    readonly ssl: boolean;
    readonly address?: string;
    readonly server_version?: string;
    readonly role?: Readonly<Record<string, boolean>>;
  };
  readonly target: { readonly cluster_uuid?: string; readonly version?: string };
  readonly summary: Readonly<Record<FindingStatus, number>>;
  readonly databases: readonly DatabaseVerdict[];
  readonly findings: readonly Finding[];
  /** The smallest addition to `ignore_dbs` that makes the method possible; absent: there is none, or none is needed. */
  readonly advice?: IgnoreAdvice;
  /** What the checks find with the fixes of the script applied; absent: there is no script. */
  readonly verdict_after_fixes?: VerdictAfterFixes;
  readonly estimate?: { readonly seconds_low: number; readonly seconds_high: number };
  /** Statements sent. */
  readonly queries: number;
  /** ISO 8601. */
  readonly started_at: string;
  readonly duration_ms: number;
}

/** A condition under which the verdict is correct, because a check could not decide it. */
export interface VerdictPremise {
  /** Of the check. */
  readonly id: string;
  /** A clause: `the target provides every extension`. */
  readonly condition: string;
  /** The databases it is about; absent: the server. */
  readonly databases?: readonly string[];
  /** What to do to settle it; the option or command is in `settled_by`. */
  readonly settle?: string;
  readonly settled_by: string;
  /** Waived by `--accept`: `--strict` does not block because of it. */
  readonly accepted?: boolean;
}

export interface VerdictAfterFixes {
  readonly verdict: PreflightVerdict;
  /** The requested method is possible. */
  readonly ok: boolean;
  readonly proven: boolean;
  /** Ids of the findings that still block a method. */
  readonly reasons: readonly string[];
  /** Ids of findings whose fix could not be simulated: they are evaluated as if it was not run. */
  readonly not_simulated: readonly string[];
}

export interface IgnoreAdvice {
  /** Databases to add to `ignore_dbs`. */
  readonly ignore_dbs: readonly string[];
  /** The verdict without them. */
  readonly verdict: PreflightVerdict;
}

export interface DatabaseVerdict {
  readonly name: string;
  readonly verdict: PreflightVerdict;
  readonly size_bytes?: number;
  readonly tables?: number;
  /** Number of keys of a Redis database. */
  readonly keys?: number;
  /** Ids of the findings that block a method. */
  readonly reasons: readonly string[];
}
