import { emptyReply, type HttpReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { grantUnder } from '../oauth/authorization-response.ts';
import { renderTokenResponse } from '../oauth/token-response.ts';
import type { Scope, TokenPair } from '../records.ts';
import type { SandboxService } from '../service.ts';
import type { World } from '../world.ts';
import { adminError } from './access.ts';
import { readJsonBody, textMember } from './json-body.ts';
import { findPerson, findTeam } from './people.ts';

/** `{user, scope?, team?, client_id?}`: a grant as the token endpoint gives it. It counts as the person's approval. */
export function issueTokenPair(request: HttpRequest, { world }: SandboxService): HttpReply {
  const body = readJsonBody(request);
  if (body === undefined) return adminError(400, 'The body must be a JSON object.');
  const person = findPerson(world, textMember(body, 'user'));
  if (person === undefined)
    return adminError(422, 'user must be the e-mail address or UUID of a person of this sandbox.');
  const scope = readScope(body.get('scope'));
  if (scope === undefined) return adminError(422, 'scope must be read or read write.');
  const wanted = textMember(body, 'team');
  const team = wanted === undefined ? undefined : findTeam(world, person, wanted);
  if (wanted !== undefined && team === undefined)
    return adminError(422, 'team must be the UUID or name of a team of the user.');
  const application = world.registry.application(
    textMember(body, 'client_id') ?? world.seed.applications[0]?.clientId ?? '',
  );
  if (application === undefined) return adminError(422, 'client_id must be the client id of a registered application.');
  const authorization = world.authorize({
    person: person.uuid,
    clientId: application.clientId,
    scope,
    ...(team === undefined ? {} : { team }),
  });
  return renderTokenResponse(world.issuePair(grantUnder(authorization, scope), true), world);
}

/** `{token}`: its access token expires now, its refresh token stays. */
export function expireAccessToken(request: HttpRequest, { world }: SandboxService): HttpReply {
  return withPair(request, world, (pair) => {
    world.expire(pair);
    return emptyReply(204);
  });
}

/** `{token}`: the pair dies. */
export function revokeTokenPair(request: HttpRequest, { world }: SandboxService): HttpReply {
  return withPair(request, world, (pair) => {
    world.revoke(pair);
    return emptyReply(204);
  });
}

/** `{token}`: as if somebody else had refreshed the pair; answers the new grant. */
export function refreshTokenPair(request: HttpRequest, { world }: SandboxService): HttpReply {
  return withPair(request, world, (pair) => {
    const fate = world.pairState(pair);
    if (pair.refreshToken === undefined) return adminError(409, 'There is no refresh token in the implicit flow.');
    if (fate === 'refreshed' || fate === 'revoked') return adminError(409, `The pair is ${fate}.`);
    return renderTokenResponse(world.refresh(pair), world);
  });
}

function withPair(request: HttpRequest, world: World, act: (pair: TokenPair) => HttpReply): HttpReply {
  const body = readJsonBody(request);
  const value = body === undefined ? undefined : textMember(body, 'token');
  if (value === undefined) return adminError(422, 'token must be an access token or a refresh token.');
  const pair = world.pair(value) ?? world.pairByRefreshToken(value);
  return pair === undefined ? adminError(404, 'The token is not known.') : act(pair);
}

function readScope(value: unknown): Scope | undefined {
  if (value === undefined || value === '' || value === 'read') return 'read';
  return value === 'read write' || value === 'write read' ? 'read write' : undefined;
}
