import type { SandboxRequestHandler } from '../handler-context.ts';
import { jsonReply } from '../http/http-reply.ts';
import { readBearerToken } from '../v2/api-caller.ts';

/**
 * Returns the scope, expiry and application of a bearer token; docs/service.md does not list this endpoint, but clients of the public
 * service check tokens with it.
 */
export const handleTokenInfoRequest: SandboxRequestHandler = (request, { world }) => {
  const pair = world.pair(readBearerToken(request) ?? '');
  if (pair === undefined || world.pairState(pair) !== 'valid') {
    const body = { id: 'unauthorized', message: 'Unable to authenticate you' };
    return jsonReply(401, body, { 'www-authenticate': 'Bearer error="invalid_token"' });
  }
  return jsonReply(200, {
    // resource_owner_id is a number, because clients of the public service read a number.
    resource_owner_id: Number.parseInt(pair.person.slice(0, 8), 16),
    scopes: pair.scope.split(' '),
    expires_in_seconds: Math.floor((pair.expiresAt - world.now()) / 1_000),
    application: { uid: pair.clientId },
    created_at: Math.floor(pair.issuedAt / 1_000),
  });
};
