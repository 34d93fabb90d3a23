import type { HttpReply } from '../http/http-reply.ts';
import type { Authorization, Person, SandboxGrant, Scope } from '../records.ts';
import type { SandboxService } from '../service.ts';
import { redirectWithError, redirectWithFragment, redirectWithQuery } from './authorization-redirects.ts';
import type { SandboxAuthorizationRequest } from './authorization-request.ts';

/** The person said yes: the approval is remembered and the application gets its code or token. */
export function approveRequest(
  wish: SandboxAuthorizationRequest,
  person: Person,
  team: string | undefined,
  { world }: SandboxService,
): HttpReply {
  const authorization = world.authorize({
    person: person.uuid,
    clientId: wish.application.clientId,
    scope: wish.scope,
    ...(team === undefined ? {} : { team }),
  });
  return respondWithGrant(wish, grantUnder(authorization, wish.scope), world);
}

/** What was approved before is given again, in the context it was approved in. */
export function respondWithGrant(
  wish: SandboxAuthorizationRequest,
  mandate: SandboxGrant,
  world: SandboxService['world'],
): HttpReply {
  if (wish.responseType === 'code') {
    const { code } = world.issueCode(mandate, wish.redirectTo.redirectUri, wish.challenge);
    return redirectWithQuery(wish.redirectTo, { code });
  }
  const pair = world.issuePair(mandate, false);
  return redirectWithFragment(wish.redirectTo, {
    access_token: pair.accessToken,
    token_type: 'bearer',
    expires_in: String((pair.expiresAt - pair.issuedAt) / 1000),
  });
}

/** Reported in the query in both flows (spec §7). */
export function denyRequest(wish: SandboxAuthorizationRequest): HttpReply {
  return redirectWithError(wish.redirectTo, 'access_denied', 'The resource owner denied the request.');
}

export function grantUnder(authorization: Authorization, scope: Scope): SandboxGrant {
  const { id, person, clientId, team } = authorization;
  return { authorization: id, person, clientId, scope, ...(team === undefined ? {} : { team }) };
}
