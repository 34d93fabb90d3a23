import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';
import type { Client } from './client-authentication.ts';
import { invalidGrant, invalidRequest } from './errors.ts';
import { grantReply } from './grant.ts';

/** A refresh token, once, for a new pair of the same scope, person and team (RFC 6749 §6). It outlives its access token. */
export function refreshPair(request: Request, { world }: Service, client: Client): Reply {
  const value = request.parameters().get('refresh_token');
  if (value === undefined) return invalidRequest('The parameter refresh_token is missing.');
  const pair = world.pairByRefreshToken(value);
  if (pair === undefined) return invalidGrant('The refresh token is not known.');
  if ('application' in client && client.application.clientId !== pair.clientId) {
    return invalidGrant('The refresh token was issued to another client.');
  }
  const fate = world.pairFate(pair);
  if (fate === 'refreshed') return invalidGrant('The refresh token is used.');
  if (fate === 'revoked') return invalidGrant('The refresh token is revoked.');
  return grantReply(world.refresh(pair), world);
}
