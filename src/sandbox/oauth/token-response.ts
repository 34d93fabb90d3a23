import { jsonReply, type SandboxHttpReply } from '../http/http-reply.ts';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import type { IssuedTokenPair } from '../records.ts';

/** An access token response (docs/service.md S2.5, RFC 6749 §5.1). Members that do not apply to the token are omitted from the response. */
export function renderTokenResponse(pair: IssuedTokenPair, world: LiveSandboxState): SandboxHttpReply {
  const person = world.registry.person(pair.person);
  const team = pair.team === undefined ? undefined : world.registry.team(pair.team);
  return jsonReply(200, {
    access_token: pair.accessToken,
    token_type: 'bearer',
    expires_in: Math.floor((pair.expiresAt - pair.issuedAt) / 1000),
    refresh_token: pair.refreshToken,
    scope: pair.scope,
    info: {
      name: person?.name,
      email: person?.email,
      uuid: person?.uuid,
      team_uuid: team?.uuid,
      team_name: team?.name,
    },
  });
}
