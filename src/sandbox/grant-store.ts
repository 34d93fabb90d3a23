import { createHash } from 'node:crypto';
import { type Random, randomString } from './random.ts';
import type { Authorization, AuthorizationCode, Grant, TokenIssuance, TokenPair } from './records.ts';
import type { Table } from './state/tables.ts';

export type CodeStatus = 'valid' | 'used' | 'revoked' | 'expired';
export type PairState = 'valid' | 'expired' | 'revoked' | 'refreshed';

const CODE_LIFETIME_MS = 10 * 60_000;
const ACCESS_TOKEN_LIFETIME_MS = 30 * 86_400_000;

interface GrantTables {
  readonly authorizations: Table<Authorization>;
  readonly codes: Table<AuthorizationCode>;
  /** The token pairs, by their access token. */
  readonly pairs: Table<TokenPair>;
}

/** The authorizations, and the codes and tokens that were issued under them. */
export class GrantStore {
  readonly #tables: GrantTables;
  readonly #random: Random;
  readonly #now: () => number;
  /**
   * Authorization ids by the key of `authorizationKey`, because a person approves an application separately for each context
   * (personal or team).
   */
  readonly #authorizationIds = new Map<string, string>();
  /** Access tokens by the refresh token that was issued with them. */
  readonly #refreshTokens = new Map<string, string>();

  constructor(tables: GrantTables, random: Random, now: () => number) {
    this.#tables = tables;
    this.#random = random;
    this.#now = now;
    for (const authorization of tables.authorizations.rows())
      this.#authorizationIds.set(authorizationKey(authorization), authorization.id);
    for (const { refreshToken, accessToken } of tables.pairs.rows())
      if (refreshToken !== undefined) this.#refreshTokens.set(refreshToken, accessToken);
  }

  /**
   * The most recent authorization that the person gave to the application, for a personal or a team context. A request with
   * prompt=none uses this authorization.
   */
  latestAuthorization(person: string, clientId: string): Authorization | undefined {
    return this.authorizationsOf(person)
      .filter((one) => one.clientId === clientId)
      .at(-1);
  }

  /** The authorizations of a person, in the order in which the person last approved them. */
  authorizationsOf(person: string): readonly Authorization[] {
    return this.#tables.authorizations.rows().filter((one) => one.person === person);
  }

  /**
   * Stores the approval of an application. Within the same context, approving `read` does not reduce an earlier approval of
   * `read write`.
   */
  authorize(grant: Omit<Grant, 'authorization'>): Authorization {
    const { person, clientId, scope, team } = grant;
    const { authorizations } = this.#tables;
    const known = authorizations.get(this.#authorizationIds.get(authorizationKey(grant)) ?? '');
    const keepsWriteScope = known?.scope === 'read write';
    const authorization: Authorization = {
      id: known?.id ?? randomString(this.#random, 24),
      person,
      clientId,
      scope: keepsWriteScope ? 'read write' : scope,
      ...(team === undefined ? {} : { team }),
      since: known?.since ?? this.#now(),
    };
    // The authorization is moved to the end of the table, because the table is sorted by the last approval.
    authorizations.drop(authorization.id);
    authorizations.put(authorization);
    this.#authorizationIds.set(authorizationKey(authorization), authorization.id);
    return authorization;
  }

  /**
   * Revokes every code and token that was issued under the authorization, because they are valid only while the authorization
   * exists.
   */
  revokeAuthorization(authorization: Authorization): void {
    this.#tables.authorizations.drop(authorization.id);
    this.#authorizationIds.delete(authorizationKey(authorization));
  }

  issueCode(grant: Grant, redirectUri: string, challenge: string | undefined): AuthorizationCode {
    const code: AuthorizationCode = {
      ...pickGrant(grant),
      code: randomString(this.#random, 43),
      redirectUri,
      ...(challenge === undefined ? {} : { challenge }),
      expiresAt: this.#now() + CODE_LIFETIME_MS,
    };
    this.#tables.codes.put(code);
    return code;
  }

  code(value: string): AuthorizationCode | undefined {
    return this.#tables.codes.get(value);
  }

  codeState(code: AuthorizationCode): CodeStatus {
    if (code.usedFor !== undefined) return 'used';
    if (!this.#tables.authorizations.has(code.authorization)) return 'revoked';
    return this.#now() < code.expiresAt ? 'valid' : 'expired';
  }

  /** Issues tokens for an authorization code and marks the code as used. */
  exchange(code: AuthorizationCode): TokenPair {
    const pair = this.#addPair(code, { by: 'code', client: code.clientId, chain: secretFingerprint(code.code) });
    this.#tables.codes.put({ ...code, usedFor: pair.accessToken });
    return pair;
  }

  issuePair(grant: Grant, by: 'implicit' | 'admin_issue'): TokenPair {
    return this.#addPair(grant, { by });
  }

  /** The token pairs of a person, oldest first. */
  pairsOf(person: string): readonly TokenPair[] {
    return this.#tables.pairs.rows().filter((pair) => pair.person === person);
  }

  pair(accessToken: string): TokenPair | undefined {
    return this.#tables.pairs.get(accessToken);
  }

  pairByRefreshToken(refreshToken: string): TokenPair | undefined {
    return this.pair(this.#refreshTokens.get(refreshToken) ?? '');
  }

  pairState(pair: TokenPair): PairState {
    if (pair.end !== undefined) return pair.end;
    if (!this.#tables.authorizations.has(pair.authorization)) return 'revoked';
    return this.#now() < pair.expiresAt ? 'valid' : 'expired';
  }

  /** Ends a token pair and issues a new token pair in its place. */
  refresh(pair: TokenPair, issue: Omit<TokenIssuance, 'chain'>): TokenPair {
    const successor = this.#addPair(pair, { ...issue, chain: pair.issue.chain });
    this.#tables.pairs.put({ ...pair, end: 'refreshed', successor: successor.accessToken });
    return successor;
  }

  revoke(pair: TokenPair): void {
    if (pair.end === undefined) this.#tables.pairs.put({ ...pair, end: 'revoked' });
  }

  /** Revokes the newest token pair that was issued by refreshing this one, directly or in several steps. */
  revokeSuccessors(accessToken: string): void {
    let pair = this.pair(accessToken);
    while (pair?.successor !== undefined) pair = this.pair(pair.successor);
    if (pair !== undefined) this.revoke(pair);
  }

  expire(pair: TokenPair): void {
    this.#tables.pairs.put({ ...pair, expiresAt: Math.min(pair.expiresAt, this.#now()) });
  }

  /**
   * Adds a token pair. Without `chain`, the token pair is the first of a new chain of refreshes. The implicit flow issues no
   * refresh token.
   */
  #addPair(grant: Grant, issue: Omit<TokenIssuance, 'chain'> & Partial<TokenIssuance>): TokenPair {
    const now = this.#now();
    const accessToken = randomToken(this.#random);
    const pair: TokenPair = {
      ...pickGrant(grant),
      accessToken,
      ...(issue.by === 'implicit' ? {} : { refreshToken: randomToken(this.#random) }),
      issuedAt: now,
      expiresAt: now + ACCESS_TOKEN_LIFETIME_MS,
      issue: { ...issue, chain: issue.chain ?? secretFingerprint(accessToken) },
    };
    this.#tables.pairs.put(pair);
    if (pair.refreshToken !== undefined) this.#refreshTokens.set(pair.refreshToken, pair.accessToken);
    return pair;
  }
}

/** Identifies a code or token without revealing it. */
export function secretFingerprint(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url').slice(0, 16);
}

function authorizationKey({ person, clientId, team }: Pick<Grant, 'person' | 'clientId' | 'team'>): string {
  return `${person} ${clientId} ${team ?? ''}`;
}

/** Returns the members of the grant, without the other members of a code or token pair. */
function pickGrant({ authorization, person, clientId, scope, team }: Grant): Grant {
  return { authorization, person, clientId, scope, ...(team === undefined ? {} : { team }) };
}

function randomToken(random: Random): string {
  return `sandbox_${randomString(random, 48)}`;
}
