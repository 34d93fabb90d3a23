export type Scope = 'read' | 'read write';

export interface Person {
  readonly uuid: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  /** UUIDs of the teams the person belongs to. */
  readonly teams: readonly string[];
}

export interface Team {
  readonly uuid: string;
  readonly name: string;
}

export interface Application {
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly callbackUrls: readonly string[];
}

export interface SandboxCluster {
  readonly uuid: string;
  readonly name: string;
  readonly engine: 'postgresql' | 'redis';
  /** Version that the service reports. A cluster with a data plane reports the version of its server instead. */
  readonly version: string;
  /** UUID of the person or team that it belongs to; absent in states of earlier versions. */
  readonly owner?: string;
}

/** The approval of an application by a person for one context. Codes and tokens are valid only while the authorization they name exists. */
export interface Authorization {
  readonly id: string;
  readonly person: string;
  readonly clientId: string;
  readonly scope: Scope;
  /** UUID of the team whose resources it covers; absent for the person's own account. */
  readonly team?: string;
  readonly since: number;
}

/** What a code or a token authorizes. */
export interface SandboxGrant {
  readonly authorization: string;
  readonly person: string;
  readonly clientId: string;
  readonly scope: Scope;
  readonly team?: string;
}

export interface AuthorizationCode extends SandboxGrant {
  readonly code: string;
  readonly redirectUri: string;
  /** S256 code challenge, if the authorization request had one. */
  readonly challenge?: string;
  /** Milliseconds of the virtual clock. */
  readonly expiresAt: number;
  /** Access token that the code was exchanged for. */
  readonly usedFor?: string;
}

/** An access token and, outside the implicit flow, the refresh token issued with it. */
export interface TokenPair extends SandboxGrant {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly issuedAt: number;
  /** Expiry of the access token, in milliseconds of the virtual clock. */
  readonly expiresAt: number;
  readonly end?: 'revoked' | 'refreshed';
  /** Access token of the pair that a refresh issued. */
  readonly successor?: string;
  /** Absent in states of earlier versions. */
  readonly issue?: TokenIssue;
}

/** How a token pair was issued. */
export interface TokenIssue {
  readonly by: 'code' | 'implicit' | 'refresh' | 'admin_issue' | 'admin_refresh';
  /** Client ID that the token request named; absent when it named none. */
  readonly client?: string;
  /** Fingerprint of the code or of the first access token: equal for all pairs that refreshes led to. */
  readonly chain: string;
}

export interface BrowserSession {
  readonly id: string;
  readonly person: string;
  /** Oldest first. */
  readonly forms: readonly CsrfToken[];
}

export interface CsrfToken {
  /** CSRF token. */
  readonly token: string;
  /** Identifies the form that the token is valid for. */
  readonly form: string;
}

export interface SandboxDroplet {
  readonly id: number;
  readonly account: string;
  readonly name: string;
  readonly region: string;
  readonly size: string;
  readonly image: number;
  readonly tags: readonly string[];
  readonly features: readonly string[];
  readonly vpc?: string;
  readonly createdAt: number;
  /** The status is `new` before this instant of the virtual clock and `active` from it on. */
  readonly activeAt: number;
}

export interface SandboxDropletAction {
  readonly id: number;
  readonly account: string;
  readonly type: 'create' | 'destroy';
  readonly droplet: number;
  readonly region: string;
  readonly startedAt: number;
  readonly completedAt: number;
}

/** The source of a migration. The password is not stored. */
export interface SandboxMigrationSource {
  readonly host: string;
  readonly port?: number;
  readonly dbname?: string;
  readonly username?: string;
  readonly disableSsl: boolean;
  readonly ignoreDbs: readonly string[];
}

export interface SandboxMigration {
  readonly id: string;
  /** UUID of the target cluster. */
  readonly cluster: string;
  readonly source: SandboxMigrationSource;
  readonly startedAt: number;
  /** When a user stopped it, in milliseconds of the virtual clock. */
  readonly stoppedAt?: number;
  /** Whether the cluster had a data plane, so that rows were copied. */
  readonly isReal?: boolean;
  /** Set when it finished or failed. */
  readonly ended?: SandboxMigrationEnd;
}

export interface SandboxMigrationEnd {
  readonly status: 'done' | 'error';
  readonly at: number;
  readonly reason?: string;
}

/** How the authorization endpoint decides: by its pages, or automatically for a person. */
export type ConsentScript =
  | { readonly mode: 'ask' }
  | { readonly mode: 'deny' }
  | { readonly mode: 'approve'; readonly person: string; readonly team?: string };
