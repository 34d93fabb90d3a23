import { type Random, randomString } from './random.ts';
import type { Authorization, AuthorizationCode, SandboxGrant, TokenPair } from './records.ts';
import type { StateTable } from './state/state-table.ts';

/** Authorizations, and the codes and tokens that live under them. */
export interface GrantStore {
  readonly authorizations: StateTable<Authorization>;
  /** Authorization ids by `person client`. */
  readonly authorizationIds: Map<string, string>;
  readonly codes: StateTable<AuthorizationCode>;
  /** By access token. */
  readonly pairs: StateTable<TokenPair>;
  /** Access tokens by the refresh token issued with them. */
  readonly refreshTokens: Map<string, string>;
}

export type CodeState = 'valid' | 'used' | 'revoked' | 'expired';
export type TokenPairState = 'valid' | 'expired' | 'revoked' | 'refreshed';

const CODE_LIFETIME_MS = 10 * 60_000;
const ACCESS_TOKEN_LIFETIME_MS = 30 * 86_400_000;

export function createGrantStore(tables: Pick<GrantStore, 'authorizations' | 'codes' | 'pairs'>): GrantStore {
  const { authorizations, pairs } = tables;
  return {
    ...tables,
    authorizationIds: new Map(
      authorizations.rows().map(({ id, person, clientId }) => [`${person} ${clientId}`, id] as const),
    ),
    refreshTokens: new Map(
      pairs.rows().flatMap(({ refreshToken, accessToken }): readonly (readonly [string, string])[] => {
        return refreshToken === undefined ? [] : [[refreshToken, accessToken]];
      }),
    ),
  };
}

export function findAuthorization(vault: GrantStore, person: string, clientId: string): Authorization | undefined {
  return vault.authorizations.get(vault.authorizationIds.get(`${person} ${clientId}`) ?? '');
}

/** Remembers an approval; in the same context a narrower one does not take back a wider one. */
export function saveAuthorization(
  vault: GrantStore,
  chance: Random,
  { person, clientId, scope, team }: Omit<SandboxGrant, 'authorization'>,
  now: number,
): Authorization {
  const known = findAuthorization(vault, person, clientId);
  const keepsWider = known !== undefined && known.team === team && known.scope === 'read write';
  const authorization: Authorization = {
    id: known?.id ?? randomString(chance, 24),
    person,
    clientId,
    scope: keepsWider ? 'read write' : scope,
    ...(team === undefined ? {} : { team }),
    since: known?.since ?? now,
  };
  vault.authorizations.put(authorization);
  vault.authorizationIds.set(`${person} ${clientId}`, authorization.id);
  return authorization;
}

/** Everything that was issued under the authorization dies with it, because nothing else has its id. */
export function deleteAuthorization(vault: GrantStore, { id, person, clientId }: Authorization): void {
  vault.authorizations.drop(id);
  vault.authorizationIds.delete(`${person} ${clientId}`);
}

export function getCodeState(vault: GrantStore, code: AuthorizationCode, now: number): CodeState {
  if (code.usedFor !== undefined) return 'used';
  if (!vault.authorizations.has(code.authorization)) return 'revoked';
  return now < code.expiresAt ? 'valid' : 'expired';
}

export function getTokenPairState(vault: GrantStore, pair: TokenPair, now: number): TokenPairState {
  if (pair.end !== undefined) return pair.end;
  if (!vault.authorizations.has(pair.authorization)) return 'revoked';
  return now < pair.expiresAt ? 'valid' : 'expired';
}

export function addCode(
  vault: GrantStore,
  chance: Random,
  mandate: SandboxGrant,
  {
    redirectUri,
    challenge,
    now,
  }: { readonly redirectUri: string; readonly challenge: string | undefined; readonly now: number },
): AuthorizationCode {
  const code: AuthorizationCode = {
    ...pickGrant(mandate),
    code: randomString(chance, 43),
    redirectUri,
    ...(challenge === undefined ? {} : { challenge }),
    expiresAt: now + CODE_LIFETIME_MS,
  };
  vault.codes.put(code);
  return code;
}

export function addTokenPair(
  vault: GrantStore,
  chance: Random,
  mandate: SandboxGrant,
  { isRefreshable, now }: { readonly isRefreshable: boolean; readonly now: number },
): TokenPair {
  const pair: TokenPair = {
    ...pickGrant(mandate),
    accessToken: newToken(chance),
    ...(isRefreshable ? { refreshToken: newToken(chance) } : {}),
    issuedAt: now,
    expiresAt: now + ACCESS_TOKEN_LIFETIME_MS,
  };
  vault.pairs.put(pair);
  if (pair.refreshToken !== undefined) vault.refreshTokens.set(pair.refreshToken, pair.accessToken);
  return pair;
}

/** What a pair has become by refreshing, however often. */
export function latestSuccessor(vault: GrantStore, accessToken: string): TokenPair | undefined {
  let pair = vault.pairs.get(accessToken);
  while (pair?.successor !== undefined) pair = vault.pairs.get(pair.successor);
  return pair;
}

/** A code or a pair is a mandate too; nothing else of it is passed on. */
function pickGrant({ authorization, person, clientId, scope, team }: SandboxGrant): SandboxGrant {
  return { authorization, person, clientId, scope, ...(team === undefined ? {} : { team }) };
}

function newToken(chance: Random): string {
  return `sandbox_${randomString(chance, 48)}`;
}
