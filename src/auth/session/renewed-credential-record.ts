import { compareAccounts } from '../../base/identity.ts';
import type { Secret } from '../../base/secret.ts';
import { accountAndTeam, assumedLifetime, type TokenGrant, type TokenResult } from '../oauth/index.ts';
import type { CredentialRecord } from './credential-record.ts';
import { getTokenFreshness } from './stored-session.ts';

/** Why a session is refreshed: it expires soon, the API refused the token, or the user requested it. */
export type TokenRefreshCause =
  | { readonly kind: 'due' }
  | { readonly kind: 'refused'; readonly token: Secret }
  | { readonly kind: 'forced'; readonly sid: string; readonly gen: number };

export function isTokenRefreshDue(record: CredentialRecord, cause: TokenRefreshCause, nowMs: number): boolean {
  if (cause.kind === 'refused') return record.accessToken.reveal() === cause.token.reveal();
  if (cause.kind === 'forced') return record.sid === cause.sid && record.gen === cause.gen;
  return getTokenFreshness(record, nowMs) !== 'valid';
}

/**
 * Creates the session record of the next generation. `sentAt` (seconds) is the time before the request was sent, so that the
 * computed expiry is never too late. A grant of another account or team creates a record that is marked as ended but contains
 * the tokens, so that they can be revoked even after a crash.
 */
export function buildRenewedCredentialRecord(
  old: CredentialRecord,
  grant: TokenGrant,
  sentAt: number,
): CredentialRecord {
  const answered = accountAndTeam(grant.info);
  if (compareAccounts(old, answered) === 'different') {
    const { refreshToken: _used, ...rest } = old;
    const { accessToken, refreshToken } = grant;
    return {
      ...rest,
      gen: old.gen + 1,
      accessToken,
      ...(refreshToken === undefined ? {} : { refreshToken }),
      expiresAt: 0,
      obtainedAt: sentAt,
      otherGrant: { ...answered, isRevoked: false },
    };
  }
  const refreshToken = grant.refreshToken ?? old.refreshToken;
  // A response without a lifetime means that the lifetime is unchanged (RFC 6749 §5.1). It is not known after an invalid
  // response, whose record is marked as expired.
  const earlierLifetime = old.expiresAt - old.obtainedAt;
  const expiresIn = grant.expiresIn ?? (earlierLifetime > 0 ? earlierLifetime : assumedLifetime);
  return {
    ...old,
    gen: old.gen + 1,
    accessToken: grant.accessToken,
    // If the response has no new refresh token, the old one stays valid (RFC 6749 §6).
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...answered,
    expiresAt: sentAt + expiresIn,
    obtainedAt: sentAt,
    scope: grant.scope ?? old.scope,
  };
}

/**
 * Creates the record from the response to a refresh; undefined when the response contains no new token. The old refresh token
 * is invalid after the response, so a new refresh token is stored even if the rest of the response is unusable: the record is
 * then marked as expired, and the next refresh sends the new refresh token.
 */
export function buildCredentialRecordOfResponse(
  old: CredentialRecord,
  answer: TokenResult,
  sentAt: number,
): CredentialRecord | undefined {
  if (answer.kind === 'granted') return buildRenewedCredentialRecord(old, answer.grant, sentAt);
  if (answer.kind !== 'malformed' || answer.partial === undefined) return undefined;
  const { accessToken = old.accessToken, ...rest } = answer.partial;
  return buildRenewedCredentialRecord(old, { ...rest, accessToken, expiresIn: 0 }, sentAt);
}

/**
 * Whether a refresh that sent the refresh token of `sent` may replace the stored record. On a network file system that does not
 * share locks, another process may have stored a newer grant or another session, which must not be overwritten.
 */
export function canRefreshReplaceCredentialRecord(
  stored: CredentialRecord | undefined,
  sent: CredentialRecord,
): boolean {
  if (stored?.sid !== sent.sid || stored.gen > sent.gen) return false;
  // A grant may replace a record that is marked as ended: another process sent the same refresh token and was refused.
  const isEnded = stored.refreshToken === undefined;
  return stored.gen < sent.gen || isEnded || stored.refreshToken?.reveal() === sent.refreshToken?.reveal();
}

/**
 * The record after the server rejected the refresh token: the access token stays valid until it expires, unless the API refused
 * it.
 */
export function buildRecordAfterRefreshRejection(
  record: CredentialRecord,
  cause: TokenRefreshCause,
  nowMs: number,
): CredentialRecord {
  const { refreshToken: _rejected, ...rest } = record;
  return cause.kind === 'refused' ? { ...rest, expiresAt: Math.min(rest.expiresAt, Math.floor(nowMs / 1000)) } : rest;
}
