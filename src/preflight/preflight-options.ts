import type { MigrationMethod } from './finding.ts';

/** What the person asks for: everything a judge may weigh besides the facts. */
export interface PreflightOptions {
  readonly method: MigrationMethod;
  /** Version of the target, as in `17` or `7.2`; undefined: not told. */
  readonly targetVersion: string | undefined;
  /** Extensions the target offers, lower case; undefined: not told. */
  readonly targetExtensions: readonly string[] | undefined;
  /** Host and port of the target, when known (rehearsal). */
  readonly target: { readonly host: string; readonly port: number } | undefined;
  readonly ignoreDbs: readonly string[];
  readonly disableSsl: boolean;
  /** Judge as if the service were far away: private addresses fail. False with a loopback API or `--allow-private`. */
  readonly isOverInternet: boolean;
  /** Free bytes on the disk of the source, which SQL cannot tell. */
  readonly sourceDiskFree: number | undefined;
  /** Bytes of memory the target has, for Redis; absent: not told. */
  readonly targetMemory?: number | undefined;
  /** Ids waived by `--accept`. */
  readonly accept: readonly string[];
  /** Warnings block. */
  readonly strict: boolean;
  /** `--probe`: checks that write or fork on the source may do so. */
  readonly probe: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}
