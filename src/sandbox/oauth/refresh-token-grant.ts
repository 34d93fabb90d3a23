import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import type { OAuthClientAuthenticationResult } from './client-authentication.ts';
import { buildInvalidGrantReply, buildInvalidRequestReply } from './oauth-errors.ts';
import { renderTokenResponse } from './token-response.ts';

/**
 * Exchanges a refresh token for a new token pair (RFC 6749 §6). A refresh token can be used once, even after its access token
 * has expired.
 */
export function handleRefreshTokenGrant(
  request: SandboxHttpRequest,
  { world }: SandboxHandlerContext,
  client: OAuthClientAuthenticationResult,
): SandboxHttpReply {
  const value = request.parameters().get('refresh_token');
  if (value === undefined) return buildInvalidRequestReply('The parameter refresh_token is missing.');
  const pair = world.pairByRefreshToken(value);
  if (pair === undefined) return buildInvalidGrantReply('The refresh token is unknown.');
  if ('application' in client && client.application.clientId !== pair.clientId) {
    return buildInvalidGrantReply('The refresh token was issued to another client.');
  }
  const state = world.pairState(pair);
  if (state === 'refreshed') return buildInvalidGrantReply('The refresh token was used already.');
  if (state === 'revoked') return buildInvalidGrantReply('The refresh token is revoked.');
  const named = 'application' in client ? { client: client.application.clientId } : {};
  return renderTokenResponse(world.refresh(pair, { by: 'refresh', ...named }), world);
}
