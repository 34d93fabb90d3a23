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
  /** Of the service; one with a data plane has that of its server. */
  readonly version: string;
}

/** What a person allowed an application: codes and tokens live only as long as the authorization they name. */
export interface Authorization {
  readonly id: string;
  readonly person: string;
  readonly clientId: string;
  readonly scope: Scope;
  /** UUID of the team it was given under; absent for the person's own account. */
  readonly team?: string;
  readonly since: number;
}

/** Whom a code or a token speaks for, and how far. */
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
  /** S256 challenge, when one was sent. */
  readonly challenge?: string;
  /** Milliseconds of the virtual clock; dead from this instant on. */
  readonly expiresAt: number;
  /** Access token of the grant the code was exchanged for. */
  readonly usedFor?: string;
}

/** An access token and, outside the implicit flow, the refresh token issued with it. */
export interface TokenPair extends SandboxGrant {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly issuedAt: number;
  /** Milliseconds of the virtual clock; the access token is dead from this instant on. */
  readonly expiresAt: number;
  readonly end?: 'revoked' | 'refreshed';
  /** Access token of the pair a refresh put in its place. */
  readonly successor?: string;
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
  /** What it was made for. */
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
  /** Before this instant of the virtual clock the droplet is new, from it on active. */
  readonly activeAt: number;
}

export interface SandboxAction {
  readonly id: number;
  readonly account: string;
  readonly type: 'create' | 'destroy';
  readonly droplet: number;
  readonly region: string;
  readonly startedAt: number;
  readonly completedAt: number;
}

/** Where a migration reads from; its password is kept nowhere. */
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
  /** UUID of the target. */
  readonly cluster: string;
  readonly source: SandboxMigrationSource;
  readonly startedAt: number;
  /** When a person stopped it. */
  readonly stoppedAt?: number;
  /** Rows are moved, or were. */
  readonly isReal?: boolean;
  /** How it ended by itself. */
  readonly ended?: SandboxMigrationEnd;
}

export interface SandboxMigrationEnd {
  readonly status: 'done' | 'error';
  readonly at: number;
  readonly reason?: string;
}

/** What stands in for the person at the authorization endpoint. */
export type ConsentScript =
  | { readonly mode: 'ask' }
  | { readonly mode: 'deny' }
  | { readonly mode: 'approve'; readonly person: string; readonly team?: string };
