import { createHash } from 'node:crypto';
import { type Random, randomString } from './random.ts';
import type {
  ApplicationAuthorization,
  AuthorizationCode,
  IssuedTokenPair,
  SandboxGrant,
  TokenIssuance,
} from './records.ts';
import type { SandboxStateTable } from './state/state-table.ts';

/** Stores authorizations, and the codes and tokens that were issued under them. */
export interface SandboxGrantStore {
  readonly authorizations: SandboxStateTable<ApplicationAuthorization>;
  /**
   * Authorization ids by the key of `authorizationKey`, because a person approves an application separately for each context
   * (personal or team).
   */
  readonly authorizationIds: Map<string, string>;
  readonly codes: SandboxStateTable<AuthorizationCode>;
  /** The token pairs, by their access token. */
  readonly pairs: SandboxStateTable<IssuedTokenPair>;
  /** Access tokens by the refresh token that was issued with them. */
  readonly refreshTokens: Map<string, string>;
}

export type AuthorizationCodeStatus = 'valid' | 'used' | 'revoked' | 'expired';
export type TokenPairState = 'valid' | 'expired' | 'revoked' | 'refreshed';

const CODE_LIFETIME_MS = 10 * 60_000;
const ACCESS_TOKEN_LIFETIME_MS = 30 * 86_400_000;

export function createSandboxGrantStore(
  tables: Pick<SandboxGrantStore, 'authorizations' | 'codes' | 'pairs'>,
): SandboxGrantStore {
  const { authorizations, codes, pairs } = tables;
  const store: SandboxGrantStore = {
    authorizations,
    codes,
    pairs,
    authorizationIds: new Map(),
    refreshTokens: new Map(),
  };
  for (const authorization of authorizations.rows()) {
    store.authorizationIds.set(authorizationKey(authorization), authorization.id);
  }
  for (const { refreshToken, accessToken } of pairs.rows()) {
    if (refreshToken !== undefined) store.refreshTokens.set(refreshToken, accessToken);
  }
  return store;
}

/**
 * The most recent authorization that the person gave to the application, for a personal or a team context. A request with
 * prompt=none uses this authorization.
 */
export function findLatestAuthorizationOfPerson(
  store: SandboxGrantStore,
  person: string,
  clientId: string,
): ApplicationAuthorization | undefined {
  return authorizationsOfPerson(store, person)
    .filter((one) => one.clientId === clientId)
    .at(-1);
}

/** The authorizations of a person, in the order in which the person last approved them. */
export function authorizationsOfPerson(store: SandboxGrantStore, person: string): readonly ApplicationAuthorization[] {
  return [...store.authorizations.rows()].filter((one) => one.person === person);
}

function authorizationKey({ person, clientId, team }: Pick<SandboxGrant, 'person' | 'clientId' | 'team'>): string {
  return `${person} ${clientId} ${team ?? ''}`;
}

/**
 * Stores the approval of an application. Within the same context, approving `read` does not reduce an earlier approval of `read
 * write`.
 */
export function saveApplicationAuthorization(
  store: SandboxGrantStore,
  random: Random,
  grant: Omit<SandboxGrant, 'authorization'>,
  now: number,
): ApplicationAuthorization {
  const { person, clientId, scope, team } = grant;
  const known = store.authorizations.get(store.authorizationIds.get(authorizationKey(grant)) ?? '');
  const keepsWriteScope = known?.scope === 'read write';
  const authorization: ApplicationAuthorization = {
    id: known?.id ?? randomString(random, 24),
    person,
    clientId,
    scope: keepsWriteScope ? 'read write' : scope,
    ...(team === undefined ? {} : { team }),
    since: known?.since ?? now,
  };
  // The authorization is moved to the end of the table, because the table is sorted by the last approval.
  store.authorizations.drop(authorization.id);
  store.authorizations.put(authorization);
  store.authorizationIds.set(authorizationKey(authorization), authorization.id);
  return authorization;
}

/**
 * Revokes every code and token that was issued under the authorization, because they are valid only while the authorization
 * exists.
 */
export function revokeApplicationAuthorizationInStore(
  store: SandboxGrantStore,
  authorization: ApplicationAuthorization,
): void {
  store.authorizations.drop(authorization.id);
  store.authorizationIds.delete(authorizationKey(authorization));
}

export function getAuthorizationCodeStatus(
  store: SandboxGrantStore,
  code: AuthorizationCode,
  now: number,
): AuthorizationCodeStatus {
  if (code.usedFor !== undefined) return 'used';
  if (!store.authorizations.has(code.authorization)) return 'revoked';
  return now < code.expiresAt ? 'valid' : 'expired';
}

export function getIssuedTokenPairState(store: SandboxGrantStore, pair: IssuedTokenPair, now: number): TokenPairState {
  if (pair.end !== undefined) return pair.end;
  if (!store.authorizations.has(pair.authorization)) return 'revoked';
  return now < pair.expiresAt ? 'valid' : 'expired';
}

export function addAuthorizationCode(
  store: SandboxGrantStore,
  random: Random,
  grant: SandboxGrant,
  options: { readonly redirectUri: string; readonly challenge: string | undefined; readonly now: number },
): AuthorizationCode {
  const { redirectUri, challenge, now } = options;
  const code: AuthorizationCode = {
    ...pickGrant(grant),
    code: randomString(random, 43),
    redirectUri,
    ...(challenge === undefined ? {} : { challenge }),
    expiresAt: now + CODE_LIFETIME_MS,
  };
  store.codes.put(code);
  return code;
}

/**
 * Adds a token pair. Without `issue.chain`, the token pair is the first of a new chain of refreshes. The implicit flow
 * issues no refresh token.
 */
export function addTokenPair(
  store: SandboxGrantStore,
  random: Random,
  grant: SandboxGrant,
  { issue, now }: { readonly issue: Omit<TokenIssuance, 'chain'> & Partial<TokenIssuance>; readonly now: number },
): IssuedTokenPair {
  const accessToken = randomToken(random);
  const pair: IssuedTokenPair = {
    ...pickGrant(grant),
    accessToken,
    ...(issue.by === 'implicit' ? {} : { refreshToken: randomToken(random) }),
    issuedAt: now,
    expiresAt: now + ACCESS_TOKEN_LIFETIME_MS,
    issue: { ...issue, chain: issue.chain ?? secretFingerprint(accessToken) },
  };
  store.pairs.put(pair);
  if (pair.refreshToken !== undefined) store.refreshTokens.set(pair.refreshToken, pair.accessToken);
  return pair;
}

/** Issues tokens for an authorization code and marks the code as used. */
export function issueTokensForAuthorizationCode(
  store: SandboxGrantStore,
  random: Random,
  code: AuthorizationCode,
  now: number,
): IssuedTokenPair {
  const issue = { by: 'code', client: code.clientId, chain: secretFingerprint(code.code) } as const;
  const pair = addTokenPair(store, random, code, { issue, now });
  store.codes.put({ ...code, usedFor: pair.accessToken });
  return pair;
}

/** Ends a token pair and issues a new token pair in its place. */
export function replaceTokenPair(
  store: SandboxGrantStore,
  random: Random,
  pair: IssuedTokenPair,
  { issue, now }: { readonly issue: Omit<TokenIssuance, 'chain'>; readonly now: number },
): IssuedTokenPair {
  const successor = addTokenPair(store, random, pair, {
    issue: { ...issue, chain: pair.issue.chain },
    now,
  });
  store.pairs.put({ ...pair, end: 'refreshed', successor: successor.accessToken });
  return successor;
}

/**
 * The newest token pair that was issued by refreshing this token pair, directly or in several steps; the token pair itself
 * if it was not refreshed.
 */
export function findLatestTokenPairSuccessor(
  store: SandboxGrantStore,
  accessToken: string,
): IssuedTokenPair | undefined {
  let pair = store.pairs.get(accessToken);
  while (pair?.successor !== undefined) pair = store.pairs.get(pair.successor);
  return pair;
}

/** Identifies a code or token without revealing it. */
export function secretFingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url').slice(0, 16);
}

/** Returns the members of the grant, without the other members of a code or token pair. */
function pickGrant({ authorization, person, clientId, scope, team }: SandboxGrant): SandboxGrant {
  return { authorization, person, clientId, scope, ...(team === undefined ? {} : { team }) };
}

function randomToken(random: Random): string {
  return `sandbox_${randomString(random, 48)}`;
}
