import type { TokenGrant } from '../oauth/token-grant.ts';
import type { Secret } from '../secret.ts';
import type { CredentialRecord } from './credential-record.ts';
import { tokenFreshness } from './stored-session.ts';

/** Why a refresh may be due: the clock, a refusal of the token that was sent, or a person's wish. */
export type RefreshCause =
  | { readonly kind: 'due' }
  | { readonly kind: 'refused'; readonly token: Secret }
  | { readonly kind: 'forced'; readonly sid: string; readonly gen: number };

export function isRefreshDue(record: CredentialRecord, cause: RefreshCause, nowMs: number): boolean {
  if (cause.kind === 'refused') return record.accessToken.reveal() === cause.token.reveal();
  if (cause.kind === 'forced') return record.sid === cause.sid && record.gen === cause.gen;
  return tokenFreshness(record, nowMs) !== 'valid';
}

/** The next generation. `sentAt`, in seconds, is from before the request, so a token never seems to live longer than it does. */
export function renewedRecord(old: CredentialRecord, grant: TokenGrant, sentAt: number): CredentialRecord {
  const refreshToken = grant.refreshToken ?? old.refreshToken;
  const accountUuid = grant.info?.uuid ?? old.accountUuid;
  // A server that does not say gives what it gave before (RFC 6749 §5.1).
  const expiresIn = grant.expiresIn ?? old.expiresAt - old.obtainedAt;
  return {
    ...old,
    gen: old.gen + 1,
    accessToken: grant.accessToken,
    // RFC 6749 §6: a server that issues no new refresh token lets the old one live.
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(accountUuid === undefined ? {} : { accountUuid }),
    expiresAt: sentAt + expiresIn,
    obtainedAt: sentAt,
    scope: grant.scope ?? old.scope,
  };
}

/** A terminal answer: the refresh token is gone; the access token serves to its end unless it is what was refused. */
export function withoutRefreshToken(record: CredentialRecord, cause: RefreshCause, nowMs: number): CredentialRecord {
  const { refreshToken: _dead, ...rest } = record;
  return cause.kind === 'refused' ? { ...rest, expiresAt: Math.min(rest.expiresAt, Math.floor(nowMs / 1000)) } : rest;
}
