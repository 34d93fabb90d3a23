import type { CheckFinding, FindingStatus, MigrationMethod } from './finding.ts';

export type PreflightVerdict = MigrationMethod | 'blocked';

/** The report of one preflight (schema_version 1): printed as JSON, and rendered in every other format. */
export interface PreflightReport {
  readonly schema_version: 1;
  readonly engine: 'postgresql' | 'redis';
  /**
   * The best migration method that is possible. If there are several databases, the verdict of the database with the
   * worst one.
   */
  readonly verdict: PreflightVerdict;
  readonly methods: Readonly<Partial<Record<MigrationMethod, boolean>>>;
  /** The requested method. */
  readonly method: MigrationMethod;
  /** Whether the requested migration method is possible. */
  readonly ok: boolean;
  /** Whether the verdict is proven: false if a check that could change the verdict is unknown. */
  readonly proven: boolean;
  /** The unknown conditions that could change the verdict; empty if the verdict is proven. */
  readonly premises: readonly VerdictCondition[];
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
  readonly findings: readonly CheckFinding[];
  /**
   * The fewest databases to add to `ignore_dbs` to make the requested method possible; absent if there are none, or if
   * the method is possible already.
   */
  readonly advice?: IgnoreAdvice;
  /** The verdict of the checks as if the fix script had run; absent if there is no script. */
  readonly verdict_after_fixes?: VerdictAfterFixes;
  /** The result of reading the rows (PostgreSQL, `--deep`). */
  readonly rows?: DeepReport;
  readonly estimate?: { readonly seconds_low: number; readonly seconds_high: number };
  /** Statements sent. */
  readonly queries: number;
  /** ISO 8601. */
  readonly started_at: string;
  readonly duration_ms: number;
}

/** What `--deep` read. `partly_read`: at least one table was not read to its end. */
export type DeepReport =
  | { readonly state: 'not_read' }
  | {
      readonly state: 'read' | 'partly_read';
      readonly tables: number;
      readonly rows: number;
      /** Bytes of the rows, in the form in which the server sent them. */
      readonly bytes: number;
      /** The longest transaction in which rows were read; absent if no table was read. */
      readonly longest_snapshot?: { readonly database: string; readonly table: string; readonly milliseconds: number };
      /**
       * Tables that were not read to their end, with the reason. If the tables of a database could not be listed, the
       * entry of the database has no field `table`.
       */
      readonly not_read: readonly {
        readonly database: string;
        readonly table?: string;
        /** The code of the reason, such as `locked` or `no_privilege`. */
        readonly reason: string;
        readonly message: string;
      }[];
      /** Unique indexes whose keys were not compared. */
      readonly keys_not_compared: readonly {
        readonly database: string;
        readonly table: string;
        readonly index: string;
        /** Why the keys were not compared, such as `expression` or `type`. */
        readonly reason: string;
      }[];
    };

/**
 * A condition that must be true for the verdict to be correct. It is needed because a check could not determine whether
 * it is true.
 */
export interface VerdictCondition {
  /** Of the check. */
  readonly id: string;
  /** The condition as a clause: `the target provides every extension`. */
  readonly condition: string;
  /** The databases that the condition concerns; absent if it concerns the server. */
  readonly databases?: readonly string[];
  /** How to find out whether the condition is true; `settled_by` names the option or command. */
  readonly settle?: string;
  readonly settled_by: string;
  /** Whether `--accept` waives this condition of the verdict: `--strict` then does not block because of it. */
  readonly accepted?: boolean;
}

export interface VerdictAfterFixes {
  readonly verdict: PreflightVerdict;
  /** Whether the requested migration method is possible. */
  readonly ok: boolean;
  readonly proven: boolean;
  /** Ids of the findings that block a migration method even after the fixes. */
  readonly reasons: readonly string[];
  /** Ids of findings whose fix could not be simulated; their checks are evaluated as if the fix had not run. */
  readonly not_simulated: readonly string[];
}

export interface IgnoreAdvice {
  /** Databases to add to `ignore_dbs`. */
  readonly ignore_dbs: readonly string[];
  /** The verdict if the databases in `ignore_dbs` are ignored. */
  readonly verdict: PreflightVerdict;
}

export interface DatabaseVerdict {
  readonly name: string;
  readonly verdict: PreflightVerdict;
  readonly size_bytes?: number;
  readonly tables?: number;
  /** Number of keys of a Redis database. */
  readonly keys?: number;
  /** Ids of the findings that block a migration method for the database. */
  readonly reasons: readonly string[];
}
