import type { SandboxRequestHandler } from '../handler-context.ts';
import { jsonReply } from '../http/http-reply.ts';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import type { AuthorizationConsentMode } from '../records.ts';
import { buildAdminErrorReply } from './is-authenticated-admin-request.ts';
import { readAdminJsonBody } from './json-body.ts';
import { decodeRequestedPersonInTeam } from './person-in-team.ts';

export const handleGetAuthorizationConsentMode: SandboxRequestHandler = (_request, { world }) => {
  return jsonReply(200, scriptView(world));
};

/**
 * Sets the consent script from the body `{mode: "ask"}`, `{mode: "deny"}` or `{mode: "approve", user, team?}`. With `lasting:
 * true` the consent script also applies after a reset.
 */
export const handleChangeAuthorizationConsentMode: SandboxRequestHandler = (request, { world }) => {
  const body = readAdminJsonBody(request);
  if (body === undefined) return buildAdminErrorReply(400, 'The body must be a JSON object.');
  const script = decodeScript(body, world);
  if (typeof script === 'string') return buildAdminErrorReply(422, script);
  if (body.get('lasting') === true) world.firstConsent = script;
  world.consent = script;
  return jsonReply(200, scriptView(world));
};

function decodeScript(body: ReadonlyMap<string, unknown>, world: LiveSandboxState): AuthorizationConsentMode | string {
  const mode = body.get('mode');
  if (mode === 'ask' || mode === 'deny') return { mode };
  if (mode !== 'approve') return 'mode must be approve, deny or ask.';
  const personInTeam = decodeRequestedPersonInTeam(body, world);
  return typeof personInTeam === 'string' ? personInTeam : { mode, ...personInTeam };
}

function scriptView(world: LiveSandboxState): object {
  const script = world.consent;
  if (script.mode !== 'approve') return { mode: script.mode };
  return { mode: script.mode, user: world.registry.person(script.person)?.email, team: script.team };
}
