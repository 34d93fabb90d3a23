import { type HttpReply, jsonReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { ConsentScript } from '../records.ts';
import type { SandboxService } from '../service.ts';
import type { World } from '../world.ts';
import { adminError } from './access.ts';
import { readJsonBody, textMember } from './json-body.ts';
import { findPerson, findTeam } from './people.ts';

export function showConsentScript(_request: HttpRequest, { world }: SandboxService): HttpReply {
  return jsonReply(200, view(world));
}

/** `{mode: "ask"}`, `{mode: "deny"}` or `{mode: "approve", user, team?}`; with `lasting: true` a reset comes back to it. */
export function changeConsentScript(request: HttpRequest, { world }: SandboxService): HttpReply {
  const body = readJsonBody(request);
  if (body === undefined) return adminError(400, 'The body must be a JSON object.');
  const script = decodeScript(body, world);
  if (typeof script === 'string') return adminError(422, script);
  if (body.get('lasting') === true) world.firstConsent = script;
  world.consent = script;
  return jsonReply(200, view(world));
}

function decodeScript(body: ReadonlyMap<string, unknown>, world: World): ConsentScript | string {
  const mode = body.get('mode');
  if (mode === 'ask' || mode === 'deny') return { mode };
  if (mode !== 'approve') return 'mode must be approve, deny or ask.';
  const person = findPerson(world, textMember(body, 'user'));
  if (person === undefined) return 'user must be the e-mail address or UUID of a person of this sandbox.';
  const wanted = textMember(body, 'team');
  if (wanted === undefined) return { mode, person: person.uuid };
  const team = findTeam(world, person, wanted);
  return team === undefined
    ? 'team must be the UUID or name of a team of the user.'
    : { mode, person: person.uuid, team };
}

function view(world: World): object {
  const script = world.consent;
  if (script.mode !== 'approve') return { mode: script.mode };
  return { mode: script.mode, user: world.registry.person(script.person)?.email, team: script.team };
}
