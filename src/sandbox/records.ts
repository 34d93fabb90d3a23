export type OAuthScope = 'read' | 'read write';

export interface Person {
  readonly uuid: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  /** UUIDs of the teams to which the person belongs. */
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

export interface Cluster {
  readonly uuid: string;
  readonly name: string;
  readonly engine: 'postgresql' | 'redis';
  /**
   * The engine version that the simulated service reports for the cluster. A cluster with a database server reports the version
   * of that server instead.
   */
  readonly version: string;
  /** The UUID of the person or team that owns the cluster. */
  readonly owner: string;
}

/**
 * The approval of an application by a person for one context. Codes and tokens are valid only while the authorization that they
 * name exists.
 */
export interface Authorization {
  readonly id: string;
  readonly person: string;
  readonly clientId: string;
  readonly scope: OAuthScope;
  /** The UUID of the team whose resources the authorization covers; absent for the person's own account. */
  readonly team?: string;
  readonly since: number;
}

/** The account, application and scope for which a code or token was issued. */
export interface Grant {
  readonly authorization: string;
  readonly person: string;
  readonly clientId: string;
  readonly scope: OAuthScope;
  readonly team?: string;
}

export interface AuthorizationCode extends Grant {
  readonly code: string;
  readonly redirectUri: string;
  /** The S256 code challenge of the authorization request, if it had one. */
  readonly challenge?: string;
  /** The expiry of the code in milliseconds of the virtual clock. */
  readonly expiresAt: number;
  /** The access token that was issued for the code; absent if the code was not used. */
  readonly usedFor?: string;
}

/** An access token with the refresh token that was issued together with it; the implicit flow issues no refresh token. */
export interface TokenPair extends Grant {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly issuedAt: number;
  /** Expiry of the access token, in milliseconds of the virtual clock. */
  readonly expiresAt: number;
  readonly end?: 'revoked' | 'refreshed';
  /** The access token that replaced this access token in a refresh. */
  readonly successor?: string;
  readonly issue: TokenIssuance;
}

/** How a token pair was issued. */
export interface TokenIssuance {
  readonly by: 'code' | 'implicit' | 'refresh' | 'admin_issue' | 'admin_refresh';
  /** Client ID that the token request named; absent when it named none. */
  readonly client?: string;
  /**
   * Fingerprint of the code or of the first access token of a login; the same for all token pairs that were issued by
   * refreshing the first pair.
   */
  readonly chain: string;
}

export interface BrowserSession {
  readonly id: string;
  readonly person: string;
  /** Oldest first. */
  readonly forms: readonly CsrfToken[];
}

export interface CsrfToken {
  /** A CSRF token. */
  readonly token: string;
  /** Identifies the form for which the CSRF token is valid. */
  readonly form: string;
}

export interface Droplet {
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
  /** The virtual time at which the status of the droplet changes from `new` to `active`. */
  readonly activeAt: number;
}

export interface DropletAction {
  readonly id: number;
  readonly account: string;
  readonly type: 'create' | 'destroy';
  readonly droplet: number;
  readonly region: string;
  readonly startedAt: number;
  readonly completedAt: number;
}

/** The source database of a migration. The password of the source database is not stored. */
export interface MigrationSource {
  readonly host: string;
  readonly port?: number;
  readonly dbname?: string;
  readonly username?: string;
  readonly disableSsl: boolean;
  readonly ignoreDbs: readonly string[];
}

export interface Migration {
  readonly id: string;
  /** The UUID of the target cluster of a migration. */
  readonly cluster: string;
  readonly source: MigrationSource;
  readonly startedAt: number;
  /** The time at which a user stopped the migration, in milliseconds of the virtual clock. */
  readonly stoppedAt?: number;
  /** Whether the target cluster had a database server, so that the migration copied rows. */
  readonly isReal?: boolean;
  /** How the migration ended; absent while it runs. */
  readonly ended?: MigrationEnd;
}

export interface MigrationEnd {
  readonly status: 'done' | 'error';
  readonly at: number;
  readonly reason?: string;
}

/** How the authorization endpoint responds: with its pages, or automatically with the decision of a given person. */
export type ConsentMode =
  | { readonly mode: 'ask' }
  | { readonly mode: 'deny' }
  | { readonly mode: 'approve'; readonly person: string; readonly team?: string };
