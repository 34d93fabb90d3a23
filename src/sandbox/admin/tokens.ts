import type { SandboxRequestHandler } from '../handler-context.ts';
import { emptyReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import { buildSandboxGrantOfAuthorization } from '../oauth/authorization-response.ts';
import { parseSandboxOAuthScope } from '../oauth/rules/scope.ts';
import { renderTokenResponse } from '../oauth/token-response.ts';
import type { IssuedTokenPair } from '../records.ts';
import { buildAdminErrorReply } from './is-authenticated-admin-request.ts';
import { nonEmptyTextMember, readAdminJsonBody } from './json-body.ts';
import { decodeRequestedPersonInTeam } from './person-in-team.ts';

/**
 * Body: `{user, scope?, team?, client_id?}`. The reply is the same as from the token endpoint; the request also counts as an
 * approval by the person.
 */
export const handleAdminIssueTokenPair: SandboxRequestHandler = (request, { world }) => {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const personInTeam = decodeRequestedPersonInTeam(body, world);
  if (typeof personInTeam === 'string') return buildAdminErrorReply(422, personInTeam);
  const scopeText = body.has('scope') ? body.get('scope') : '';
  const scope = typeof scopeText === 'string' ? parseSandboxOAuthScope(scopeText) : undefined;
  if (scope === undefined) return buildAdminErrorReply(422, 'scope must be read or read write.');
  const clientId = nonEmptyTextMember(body, 'client_id') ?? world.seed.applications[0]?.clientId ?? '';
  if (world.registry.application(clientId) === undefined) {
    return buildAdminErrorReply(422, 'client_id must be the client ID of a registered application.');
  }
  const authorization = world.authorize({ ...personInTeam, clientId, scope });
  return renderTokenResponse(
    world.issuePair(buildSandboxGrantOfAuthorization(authorization, scope), 'admin_issue'),
    world,
  );
};

/** Body: `{token}`. Sets the expiry of the access token to the current time; the refresh token stays valid. */
export const handleAdminExpireAccessToken: SandboxRequestHandler = (request, { world }) => {
  return withTokenPair(request, world, (pair) => {
    world.expire(pair);
    return emptyReply(204);
  });
};

/** Body: `{token}`. Revokes the access token and the refresh token. */
export const handleAdminRevokeTokenPair: SandboxRequestHandler = (request, { world }) => {
  return withTokenPair(request, world, (pair) => {
    world.revoke(pair);
    return emptyReply(204);
  });
};

/** Body: `{token}`. Refreshes the token pair as another client with the same tokens would, and responds with the new pair. */
export const handleAdminRefreshAsOtherClient: SandboxRequestHandler = (request, { world }) => {
  return withTokenPair(request, world, (pair) => {
    const state = world.pairState(pair);
    if (pair.refreshToken === undefined) return buildAdminErrorReply(409, 'The implicit flow issues no refresh token.');
    if (state === 'refreshed' || state === 'revoked') return buildAdminErrorReply(409, `The token pair is ${state}.`);
    return renderTokenResponse(world.refresh(pair, { by: 'admin_refresh' }), world);
  });
};

function withTokenPair(
  request: SandboxHttpRequest,
  world: LiveSandboxState,
  act: (pair: IssuedTokenPair) => SandboxHttpReply,
): SandboxHttpReply {
  const body = readAdminJsonBody(request);
  const value = body === undefined ? undefined : nonEmptyTextMember(body, 'token');
  if (value === undefined) return buildAdminErrorReply(422, 'token must be an access token or a refresh token.');
  const pair = world.pair(value) ?? world.pairByRefreshToken(value);
  return pair === undefined ? buildAdminErrorReply(404, 'The token is unknown.') : act(pair);
}
