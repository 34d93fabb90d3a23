import type { Finding, FindingStatus, MigrationMethod } from './finding.ts';

export type PreflightVerdict = MigrationMethod | 'blocked';

/** The report of one preflight (schema_version 1; preflight.md). The body of every format. */
export interface PreflightReport {
  readonly schema_version: 1;
  readonly engine: 'postgresql' | 'redis';
  /** The best method open; the worst of all databases that are not ignored. */
  readonly verdict: PreflightVerdict;
  readonly methods: Readonly<Partial<Record<MigrationMethod, boolean>>>;
  /** The method asked for. */
  readonly method: MigrationMethod;
  /** The method asked for is possible. */
  readonly ok: boolean;
  /** false: something that the verdict stands on could not be asked. */
  readonly proven: boolean;
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
  readonly estimate?: { readonly seconds_low: number; readonly seconds_high: number };
  /** Statements sent. */
  readonly queries: number;
  /** ISO 8601. */
  readonly started_at: string;
  readonly duration_ms: number;
}

export interface IgnoreAdvice {
  /** What to add to `ignore_dbs`. */
  readonly ignore_dbs: readonly string[];
  /** What the verdict is then. */
  readonly verdict: PreflightVerdict;
}

export interface DatabaseVerdict {
  readonly name: string;
  readonly verdict: PreflightVerdict;
  readonly size_bytes?: number;
  readonly tables?: number;
  /** Of a Redis database. */
  readonly keys?: number;
  /** Ids of the findings that took a method away. */
  readonly reasons: readonly string[];
}
