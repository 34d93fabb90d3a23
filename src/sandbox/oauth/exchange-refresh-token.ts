import type { HttpReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { SandboxService } from '../service.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import { invalidGrant, invalidRequest } from './oauth-errors.ts';
import { renderTokenResponse } from './token-response.ts';

/** A refresh token, once, for a new pair of the same scope, person and team (RFC 6749 §6). It outlives its access token. */
export function exchangeRefreshToken(
  request: HttpRequest,
  { world }: SandboxService,
  client: ClientAuthentication,
): HttpReply {
  const value = request.parameters().get('refresh_token');
  if (value === undefined) return invalidRequest('The parameter refresh_token is missing.');
  const pair = world.pairByRefreshToken(value);
  if (pair === undefined) return invalidGrant('The refresh token is not known.');
  if ('application' in client && client.application.clientId !== pair.clientId) {
    return invalidGrant('The refresh token was issued to another client.');
  }
  const fate = world.pairState(pair);
  if (fate === 'refreshed') return invalidGrant('The refresh token is used.');
  if (fate === 'revoked') return invalidGrant('The refresh token is revoked.');
  return renderTokenResponse(world.refresh(pair), world);
}
