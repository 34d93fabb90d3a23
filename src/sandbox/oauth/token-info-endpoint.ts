import type { SandboxHandlerContext } from '../handler-context.ts';
import { jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { createLoginCorrelationOfTokenPair } from '../login-trace.ts';
import { getLastTokenCharacters, type RequestLogFields, type SandboxLoginCorrelation } from '../request-log.ts';
import { readBearerToken } from '../v2/api-caller.ts';

/**
 * Returns the scope, expiry and application of a bearer token; spec.md does not list this endpoint, but clients of the public
 * service check tokens with it.
 */
export function handleTokenInfoRequest(
  request: SandboxHttpRequest,
  { world }: SandboxHandlerContext,
): SandboxHttpReply {
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
}

export function getLogFieldsOfTokenInfoRequest(request: SandboxHttpRequest): RequestLogFields {
  const hint = getLastTokenCharacters(readBearerToken(request) ?? '');
  return hint === undefined ? {} : { token_hint: hint };
}

export function findLoginCorrelationOfTokenInfo(
  request: SandboxHttpRequest,
  { world }: SandboxHandlerContext,
): SandboxLoginCorrelation | undefined {
  return createLoginCorrelationOfTokenPair(world.pair(readBearerToken(request) ?? ''));
}
