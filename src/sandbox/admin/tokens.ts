import { empty, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { mandateOf } from '../oauth/approval.ts';
import { grantReply } from '../oauth/grant.ts';
import type { Scope, TokenPair } from '../records.ts';
import type { Service } from '../service.ts';
import type { World } from '../world.ts';
import { readBody, textOf } from './body.ts';
import { adminProblem } from './gate.ts';
import { findPerson, findTeam } from './people.ts';

/** `{user, scope?, team?, client_id?}`: a grant as the token endpoint gives it. It counts as the person's approval. */
export function issueToken(request: Request, { world }: Service): Reply {
  const body = readBody(request);
  if (body === undefined) return adminProblem(400, 'The body must be a JSON object.');
  const person = findPerson(world, textOf(body, 'user'));
  if (person === undefined)
    return adminProblem(422, 'user must be the e-mail address or UUID of a person of this sandbox.');
  const scope = readScope(body.get('scope'));
  if (scope === undefined) return adminProblem(422, 'scope must be read or read write.');
  const wanted = textOf(body, 'team');
  const team = wanted === undefined ? undefined : findTeam(world, person, wanted);
  if (wanted !== undefined && team === undefined)
    return adminProblem(422, 'team must be the UUID or name of a team of the user.');
  const application = world.directory.application(
    textOf(body, 'client_id') ?? world.seed.applications[0]?.clientId ?? '',
  );
  if (application === undefined)
    return adminProblem(422, 'client_id must be the client id of a registered application.');
  const authorization = world.authorize({
    person: person.uuid,
    clientId: application.clientId,
    scope,
    ...(team === undefined ? {} : { team }),
  });
  return grantReply(world.issuePair(mandateOf(authorization, scope), true), world);
}

/** `{token}`: its access token expires now, its refresh token stays. */
export function expireToken(request: Request, { world }: Service): Reply {
  return withPair(request, world, (pair) => {
    world.expire(pair);
    return empty(204);
  });
}

/** `{token}`: the pair dies. */
export function revokeToken(request: Request, { world }: Service): Reply {
  return withPair(request, world, (pair) => {
    world.revoke(pair);
    return empty(204);
  });
}

/** `{token}`: as if somebody else had refreshed the pair; answers the new grant. */
export function refreshToken(request: Request, { world }: Service): Reply {
  return withPair(request, world, (pair) => {
    const fate = world.pairFate(pair);
    if (pair.refreshToken === undefined) return adminProblem(409, 'There is no refresh token in the implicit flow.');
    if (fate === 'refreshed' || fate === 'revoked') return adminProblem(409, `The pair is ${fate}.`);
    return grantReply(world.refresh(pair), world);
  });
}

function withPair(request: Request, world: World, act: (pair: TokenPair) => Reply): Reply {
  const body = readBody(request);
  const value = body === undefined ? undefined : textOf(body, 'token');
  if (value === undefined) return adminProblem(422, 'token must be an access token or a refresh token.');
  const pair = world.pair(value) ?? world.pairByRefreshToken(value);
  return pair === undefined ? adminProblem(404, 'The token is not known.') : act(pair);
}

function readScope(value: unknown): Scope | undefined {
  if (value === undefined || value === '' || value === 'read') return 'read';
  return value === 'read write' || value === 'write read' ? 'read write' : undefined;
}
