import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { ApplicationAuthorization, SandboxGrant, SandboxOAuthScope, SandboxPerson } from '../records.ts';
import { redirectWithError, redirectWithFragment, redirectWithQuery } from './authorization-redirects.ts';
import type { SandboxAuthorizationRequest } from './authorization-request.ts';

/** Stores the approval and redirects with an authorization code or an access token. */
export function approveAuthorizationRequest(
  request: SandboxAuthorizationRequest,
  person: SandboxPerson,
  team: string | undefined,
  { world }: SandboxHandlerContext,
): SandboxHttpReply {
  const authorization = world.authorize({
    person: person.uuid,
    clientId: request.application.clientId,
    scope: request.scope,
    ...(team === undefined ? {} : { team }),
  });
  return redirectWithAuthorizationGrant(request, buildSandboxGrantOfAuthorization(authorization, request.scope), world);
}

/** Redirects with an authorization code or an access token for an existing approval. */
export function redirectWithAuthorizationGrant(
  request: SandboxAuthorizationRequest,
  grant: SandboxGrant,
  world: SandboxHandlerContext['world'],
): SandboxHttpReply {
  if (request.responseType === 'code') {
    const { code } = world.issueCode(grant, request.redirectTo.redirectUri, request.challenge);
    return redirectWithQuery(request.redirectTo, { code });
  }
  const pair = world.issuePair(grant, 'implicit');
  return redirectWithFragment(request.redirectTo, {
    access_token: pair.accessToken,
    token_type: 'bearer',
    expires_in: String((pair.expiresAt - pair.issuedAt) / 1000),
  });
}

/** In both flows, the error is in the query of the redirect URI (docs/service.md S4.13). */
export function redirectWithAuthorizationDenial(request: SandboxAuthorizationRequest): SandboxHttpReply {
  return redirectWithError(request.redirectTo, 'access_denied', 'The resource owner denied the request.');
}

export function buildSandboxGrantOfAuthorization(
  authorization: ApplicationAuthorization,
  scope: SandboxOAuthScope,
): SandboxGrant {
  const { id, person, clientId, team } = authorization;
  return { authorization: id, person, clientId, scope, ...(team === undefined ? {} : { team }) };
}
