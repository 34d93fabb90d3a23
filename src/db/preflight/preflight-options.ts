import type { MigrationMethod } from './finding.ts';
import type { NamedTarget } from './postgresql/target.ts';

/** The options of a preflight that its checks may use. */
export interface PreflightOptions {
  readonly method: MigrationMethod;
  /** Version of the target, such as `17` or `7.2`; undefined if not given. */
  readonly targetVersion: string | undefined;
  /**
   * Extensions or modules that the target provides besides the trusted ones of PostgreSQL, as `name` or `name=version`;
   * undefined if not given. The list may be incomplete.
   */
  readonly targetExtensions: readonly string[] | undefined;
  /** The server that was named as the target, with what it reports if it was read; undefined if none was named. */
  readonly target: NamedTarget | undefined;
  readonly ignoreDbs: readonly string[];
  readonly disableSsl: boolean;
  /**
   * Whether the service connects over the internet, so that a private address of the source is a failure. False when
   * the API has a loopback address, and with `--allow-private`.
   */
  readonly isOverInternet: boolean;
  /** Free bytes on the disk of the source, given by the user because no query reports them. */
  readonly sourceDiskFree: number | undefined;
  /** Memory of the Redis target in bytes; absent if not given. */
  readonly targetMemory?: number | undefined;
  /** Ids of the findings that `--accept` waives. */
  readonly accept: readonly string[];
  /** Whether warnings block the migration (`--strict`). */
  readonly strict: boolean;
  /** Whether checks may write to the source or make it fork (`--probe`). */
  readonly probe: boolean;
  /** The limits of reading the rows of every table (`--deep`); absent if rows are not read. */
  readonly deep?: DeepReadOptions | undefined;
  /** The present time in milliseconds since the epoch. */
  readonly now: number;
}

export interface DeepReadOptions {
  readonly bytesPerSecond: number;
  /** Time limit in milliseconds for reading all rows; undefined: no limit. */
  readonly timeout: number | undefined;
}

/** The entries `name` or `name=version` of `--target-extensions`, by name; an entry without a version adds nothing. */
export function namedExtensions(entries: readonly string[] = []): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const entry of entries) {
    const [name = '', version] = entry.split(/=(.*)/s);
    const key = name.toLowerCase();
    found.set(key, [...(found.get(key) ?? []), ...(version === undefined ? [] : [version])]);
  }
  return found;
}
