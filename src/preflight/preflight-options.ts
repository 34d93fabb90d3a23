import type { MigrationMethod } from './finding.ts';

/** The options of a preflight that checks may use besides the facts. */
export interface PreflightOptions {
  readonly method: MigrationMethod;
  /** Version of the target, such as `17` or `7.2`; undefined: not given. */
  readonly targetVersion: string | undefined;
  /** Extensions of the target, lower case; undefined: not given. */
  readonly targetExtensions: readonly string[] | undefined;
  /** Host and port of the target, if known (rehearsal). */
  readonly target: { readonly host: string; readonly port: number } | undefined;
  readonly ignoreDbs: readonly string[];
  readonly disableSsl: boolean;
  /** The service connects over the internet, so private addresses fail. False with a loopback API or `--allow-private`. */
  readonly isOverInternet: boolean;
  /** Free bytes on the disk of the source, which no query reports. */
  readonly sourceDiskFree: number | undefined;
  /** Bytes of memory of the Redis target; absent: not given. */
  readonly targetMemory?: number | undefined;
  /** Ids of findings that `--accept` waives. */
  readonly accept: readonly string[];
  /** Warnings block the migration. */
  readonly strict: boolean;
  /** `--probe`: checks may write or fork on the source. */
  readonly probe: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}
