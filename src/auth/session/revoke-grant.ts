import { CliError } from '../../base/errors.ts';
import { HttpSendError, type HttpSender } from '../../platform/http-sender.ts';
import { timeoutSignal } from '../../platform/timeout-signal.ts';
import {
  decodeRevocation,
  type OAuthClient,
  revokeRequest,
  sendTokenRequest,
  type TokenGrant,
} from '../oauth/index.ts';
import type { LoginResult } from './store-login.ts';

export interface RevokeTokenGrantDeps {
  readonly client: OAuthClient;
  readonly createSender: () => Promise<HttpSender>;
}

/** Revokes a grant that was not stored, then throws `error` with a detail that reports whether the revocation succeeded. */
export async function revokeTokenGrantAndThrow(
  deps: RevokeTokenGrantDeps,
  grant: TokenGrant,
  error: unknown,
): Promise<never> {
  const isRevoked = await revokeTokenGrant(deps, grant);
  if (!(error instanceof CliError)) throw error;
  const outcome = isRevoked
    ? 'the grant was revoked and nothing was stored'
    : 'nothing was stored, but the grant could not be revoked; revoke the application in the control panel';
  const detail = error.detail === undefined ? outcome : `${error.detail}; ${outcome}`;
  throw new CliError(error.code, error.message, { ...error, detail, cause: error });
}

/**
 * Revokes the tokens of a grant within 5 s (https://www.rfc-editor.org/rfc/rfc7009); resolves with false when the revocation
 * failed.
 */
export async function revokeTokenGrant(
  deps: RevokeTokenGrantDeps,
  { accessToken, refreshToken }: Pick<TokenGrant, 'accessToken' | 'refreshToken'>,
): Promise<boolean> {
  // By docs/service.md S6.3 the revoked access token is also the bearer token of the request, and the refresh token is revoked with it.
  const isSpecForm = deps.client.tokenParams === 'query';
  // At other servers the refresh token may remain valid after its access token was revoked (RFC 7009 §2.1).
  const tokens = isSpecForm || refreshToken === undefined ? [accessToken] : [refreshToken, accessToken];
  const headers = isSpecForm ? { authorization: `Bearer ${accessToken.reveal()}` } : {};
  const signal = timeoutSignal(5_000);
  try {
    let isRevoked = true;
    for (const token of tokens) {
      const request = revokeRequest(deps.client, token);
      const response = await sendTokenRequest(await deps.createSender(), request, signal, headers);
      isRevoked &&= decodeRevocation(response) === undefined;
    }
    return isRevoked;
  } catch (error) {
    if (error instanceof HttpSendError) return false;
    throw error;
  }
}

/**
 * Revokes the session that a login replaced. The replaced session is revoked only at a server that follows docs/service.md, because
 * at other servers a revocation may end all grants of the application (RFC 7009 §2.1), including the new one. A failed
 * revocation is ignored, because the tokens of the replaced session are no longer stored. A token from `auth login
 * --with-token` is not revoked, because the program did not obtain it; nor is a session revoked whose access token is the same
 * as the new one.
 */
export async function revokeReplacedSession(
  deps: RevokeTokenGrantDeps & { readonly isSpecServer: () => boolean },
  { record, replaced }: Pick<LoginResult, 'record' | 'replaced'>,
): Promise<void> {
  if (replaced === undefined || deps.client.tokenParams !== 'query' || !deps.isSpecServer()) return;
  if (replaced.isGivenToken === true || replaced.accessToken.reveal() === record.accessToken.reveal()) return;
  await revokeTokenGrant(deps, replaced);
}
