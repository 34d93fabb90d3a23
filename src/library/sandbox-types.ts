import type { SandboxData } from '../sandbox/data-types.ts';

export type * from '../sandbox/data-types.ts';

/** How `startSandbox` starts a sandbox. Without options it keeps its state in memory and listens on free ports of 127.0.0.1. */
export interface SandboxOptions {
  /** PostgreSQL and Redis servers into which migrations copy rows. The URL contains the password. */
  readonly clusters?: readonly { readonly name: string; readonly url: string }[];
  /** The virtual clock at the start and after a reset, unless `data` has one. Default: the time of this machine. */
  readonly clock?: { readonly startAt?: Date; readonly isFrozen?: boolean };
  /** Faults that are active from the first request. */
  readonly faults?: readonly SandboxFault[];
  /**
   * What the sandbox contains: people, teams, applications, clusters, droplets, clock; or a snapshot. Checked before the start:
   * a SandboxDataError names the wrong member. A state in `stateFolder` takes its place.
   */
  readonly data?: SandboxData | SandboxSnapshot;
  /** An integer. Client credentials, passwords and ids are the same at every start with this seed; tokens never are. */
  readonly seed?: number;
  /** Redirect URIs of the first application, before those of its data. Default: one on a free port. */
  readonly callbackUrls?: readonly string[];
  /** What the consent page does. Default: it asks. */
  readonly consent?: SandboxConsent;
  /** Limit of requests, for example `5000/h,250/m`. Default: none. */
  readonly rateLimit?: string;
  /** The number of droplets that an account may have. Default: no limit. */
  readonly dropletLimit?: number;
  /** Folder that keeps the state after `stop`; one sandbox at a time uses it. Without a folder the state is lost. */
  readonly stateFolder?: string;
}

/** The JSON that `cloudctl sandbox snapshot` writes. */
export interface SandboxSnapshot {
  readonly format: string;
  readonly version: number;
  readonly taken_at: string;
  readonly now: number;
  readonly digest?: string;
  readonly seed: object;
  readonly world: object;
}

/** A running sandbox: an OAuth 2.0 authorization server and the v2 resource API, each with an origin of its own. */
export interface Sandbox {
  /** Origin of the authorization server, for example `http://127.0.0.1:41233`. */
  readonly authUrl: string;
  /** Origin of the resource API. */
  readonly apiUrl: string;
  /** URL of the first page of the control panel. */
  readonly panelUrl: string;
  /** The registered application. */
  readonly client: { readonly id: string; readonly secret: string; readonly callbackUrl: string };
  /** All registered applications; the first one is `client`. */
  readonly applications: readonly {
    readonly name: string;
    readonly id: string;
    readonly secret: string;
    readonly callbackUrls: readonly string[];
  }[];
  readonly users: readonly SandboxUser[];
  readonly clusters: readonly {
    readonly uuid: string;
    readonly name: string;
    readonly engine: 'postgresql' | 'redis';
  }[];
  readonly tokens: SandboxTokenOperations;
  readonly clock: SandboxClock;
  readonly faults: SandboxFaults;
  /** Selects what the consent page does with the next authorization requests. */
  setConsent(consent: SandboxConsent): void;
  /**
   * The logged requests, oldest first.
   * @param endpoint `METHOD path`; the path is that of a request (`/v2/droplets/7`) or of a route (`/v2/droplets/{id}`)
   */
  requests(endpoint?: string): readonly SandboxRequest[];
  /** Restores the state that the sandbox had after its start, and removes all faults. */
  reset(): void;
  /** Stops both servers. Resolves when the ports of both servers are free. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface SandboxUser {
  readonly email: string;
  readonly password: string;
  readonly uuid: string;
  readonly teams: readonly { readonly uuid: string; readonly name: string }[];
}

/** `user` is an e-mail address or a UUID; `team` is the name or the UUID of one of the user's teams. */
export type SandboxConsent =
  | { readonly mode: 'ask' }
  | { readonly mode: 'deny' }
  | { readonly mode: 'approve'; readonly user: string; readonly team?: string };

/** The virtual clock. It only moves forward. */
export interface SandboxClock {
  now(): Date;
  /** Moves the virtual clock forward, at most to the end of the year 9998. @param milliseconds 0 or more */
  advance(milliseconds: number): void;
  freeze(): void;
  resume(): void;
}

/**
 * A fault, which changes the response to each request that `match` selects. An absent member of `match` excludes no request.
 */
export interface SandboxFault {
  readonly match: { readonly method?: string; readonly path?: string; readonly grant_type?: string };
  /** What the fault does, for example `commit_then_drop`; `cloudctl sandbox faults add --help` lists the actions. */
  readonly action: string;
  /** The first matching request that the fault applies to, counted from 1 (default: 1). */
  readonly nth?: number;
  /** The number of requests that the fault applies to (default: 1). */
  readonly times?: number;
  /** Milliseconds. */
  readonly delay?: number;
  /** HTTP status that the action `status` responds with (default: 500). */
  readonly status?: number;
}

export interface SandboxFaults {
  /** Adds a fault. Throws a TypeError if the fault is not valid. */
  add(fault: SandboxFault): void;
  /** All faults with the number of requests that each was applied to. */
  list(): readonly (SandboxFault & { readonly applied: number })[];
  clear(): void;
}

/** A logged request, without its query and without secrets. */
export interface SandboxRequest {
  /** Time of the request by the virtual clock (ISO 8601). */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** Status of the response; 0 when a fault prevented the response. */
  readonly status: number;
  readonly grant_type?: string;
  /** The action of the fault, if a fault was applied to this request. */
  readonly fault?: string;
}

/** The tokens of one authorization. */
export interface SandboxTokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly scope: string;
  /** Expiry of the access token by the virtual clock. */
  readonly expiresAt: Date;
}

/** Token operations that need no request. Every function takes an access token or a refresh token, and throws for an unknown one. */
export interface SandboxTokenOperations {
  /** Issues a token pair as if the user had approved the application. Default: the first user and application, scope `read`. */
  issue(options?: {
    readonly clientId?: string;
    readonly user?: string;
    readonly team?: string;
    readonly scope?: 'read' | 'read write';
  }): SandboxTokenPair;
  /** The access token expires now; the refresh token stays valid. */
  expire(token: string): void;
  /** Revokes the access token and the refresh token of the pair that contains this token. */
  revoke(token: string): void;
  /** Uses the refresh token as another process would. Throws when the pair was refreshed or revoked before. */
  refresh(token: string): SandboxTokenPair;
  /** Returns the state of the token pair: `valid`, `expired`, `refreshed` or `revoked`. */
  state(token: string): string;
}
