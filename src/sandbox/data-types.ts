// What callers of `--data` and of `startSandbox({ data })` write and catch. src/library exports these types, so this file imports nothing.

/**
 * What a sandbox contains at its start (schemas/sandbox-data-1.json). A part that is absent is that of a sandbox without
 * data; with own `people` it is empty, except the applications.
 */
export interface SandboxData {
  /** For editors; not read. */
  readonly $schema?: string;
  /** The first person owns the droplets and clusters that name no owner. */
  readonly people?: readonly SandboxDataPerson[];
  readonly teams?: readonly { readonly name: string; readonly uuid?: string }[];
  /** The first application is the client of `cloudctl` and of `client` in the library. */
  readonly applications?: readonly SandboxDataApplication[];
  readonly clusters?: readonly SandboxDataCluster[];
  readonly droplets?: readonly SandboxDataDroplet[];
  readonly clock?: SandboxDataClock;
  /** Members that the specification does not have, in each response of the kind. They replace no other member. */
  readonly outsideSpecification?: {
    readonly tokenResponse?: Readonly<Record<string, unknown>>;
    readonly droplet?: Readonly<Record<string, unknown>>;
  };
  /** The least id of a droplet or action without one; these ids follow the highest id of `droplets`. */
  readonly firstId?: number;
}

export interface SandboxDataPerson {
  readonly email: string;
  /** Default: the part of the e-mail address before the @. */
  readonly name?: string;
  /** Default: generated, as the UUIDs, ids and secrets of all others. */
  readonly password?: string;
  readonly uuid?: string;
  /** Names or UUIDs. */
  readonly teams?: readonly string[];
}

export interface SandboxDataApplication {
  readonly name: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** At least one; default: one on a free port. */
  readonly callbackUrls?: readonly string[];
}

export interface SandboxDataCluster {
  readonly name: string;
  readonly engine: 'postgresql' | 'redis';
  readonly version?: string;
  readonly uuid?: string;
  /** E-mail address of a person, name of a team, or UUID. */
  readonly owner?: string;
}

export interface SandboxDataDroplet {
  readonly name: string;
  readonly id?: number;
  /** E-mail address of a person, name of a team, or UUID. */
  readonly account?: string;
  readonly region?: string;
  readonly size?: string;
  /** Slug or id. */
  readonly image?: string | number;
  readonly tags?: readonly string[];
  /** Age at the start: milliseconds, or a duration such as `21d`, of at most `36525d`. */
  readonly age?: string | number;
}

export interface SandboxDataClock {
  /** The time at the start and after a reset, in ISO 8601 with a time zone, from 1970 to 9998 (default: that of this machine). */
  readonly startAt?: string;
  readonly isFrozen?: boolean;
}

/** The message names the place in the data as a JSON path, and contains no value that may be a secret. */
export class SandboxDataError extends Error {
  override readonly name = 'SandboxDataError';
}
