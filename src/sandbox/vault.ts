import { type Chance, letters } from './chance.ts';
import type { Authorization, AuthorizationCode, Mandate, TokenPair } from './records.ts';

/** Authorizations, and the codes and tokens that live under them. */
export interface Vault {
  readonly authorizations: Map<string, Authorization>;
  /** Authorization ids by `person client`. */
  readonly authorizationIds: Map<string, string>;
  readonly codes: Map<string, AuthorizationCode>;
  /** By access token. */
  readonly pairs: Map<string, TokenPair>;
  /** Access tokens by the refresh token issued with them. */
  readonly refreshTokens: Map<string, string>;
}

export type CodeFate = 'valid' | 'used' | 'revoked' | 'expired';
export type PairFate = 'valid' | 'expired' | 'revoked' | 'refreshed';

export function emptyVault(): Vault {
  return {
    authorizations: new Map(),
    authorizationIds: new Map(),
    codes: new Map(),
    pairs: new Map(),
    refreshTokens: new Map(),
  };
}

export function findAuthorization(vault: Vault, person: string, clientId: string): Authorization | undefined {
  return vault.authorizations.get(vault.authorizationIds.get(`${person} ${clientId}`) ?? '');
}

/** Remembers an approval; in the same context a narrower one does not take back a wider one. */
export function putAuthorization(
  vault: Vault,
  chance: Chance,
  { person, clientId, scope, team }: Omit<Mandate, 'authorization'>,
  now: number,
): Authorization {
  const known = findAuthorization(vault, person, clientId);
  const keepsWider = known !== undefined && known.team === team && known.scope === 'read write';
  const authorization: Authorization = {
    id: known?.id ?? letters(chance, 24),
    person,
    clientId,
    scope: keepsWider ? 'read write' : scope,
    ...(team === undefined ? {} : { team }),
    since: known?.since ?? now,
  };
  vault.authorizations.set(authorization.id, authorization);
  vault.authorizationIds.set(`${person} ${clientId}`, authorization.id);
  return authorization;
}

/** Everything that was issued under the authorization dies with it, because nothing else has its id. */
export function dropAuthorization(vault: Vault, { id, person, clientId }: Authorization): void {
  vault.authorizations.delete(id);
  vault.authorizationIds.delete(`${person} ${clientId}`);
}

export function codeFate(vault: Vault, code: AuthorizationCode, now: number): CodeFate {
  if (code.usedFor !== undefined) return 'used';
  if (!vault.authorizations.has(code.authorization)) return 'revoked';
  return now < code.expiresAt ? 'valid' : 'expired';
}

export function pairFate(vault: Vault, pair: TokenPair, now: number): PairFate {
  if (pair.end !== undefined) return pair.end;
  if (!vault.authorizations.has(pair.authorization)) return 'revoked';
  return now < pair.expiresAt ? 'valid' : 'expired';
}

export function putPair(
  vault: Vault,
  chance: Chance,
  { authorization, person, clientId, scope, team }: Mandate,
  times: Pick<TokenPair, 'issuedAt' | 'expiresAt'>,
  isRefreshable: boolean,
): TokenPair {
  const pair: TokenPair = {
    authorization,
    person,
    clientId,
    scope,
    ...(team === undefined ? {} : { team }),
    accessToken: newToken(chance),
    ...(isRefreshable ? { refreshToken: newToken(chance) } : {}),
    ...times,
  };
  vault.pairs.set(pair.accessToken, pair);
  if (pair.refreshToken !== undefined) vault.refreshTokens.set(pair.refreshToken, pair.accessToken);
  return pair;
}

/** What a pair has become by refreshing, however often. */
export function lastDescendant(vault: Vault, accessToken: string): TokenPair | undefined {
  let pair = vault.pairs.get(accessToken);
  while (pair?.successor !== undefined) pair = vault.pairs.get(pair.successor);
  return pair;
}

function newToken(chance: Chance): string {
  return `sandbox_${letters(chance, 48)}`;
}
