import { json, type Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { ConsentScript } from '../records.ts';
import type { Service } from '../service.ts';
import type { World } from '../world.ts';
import { readBody, textOf } from './body.ts';
import { adminProblem } from './gate.ts';
import { findPerson, findTeam } from './people.ts';

export function showConsent(_request: Request, { world }: Service): Reply {
  return json(200, view(world));
}

/** `{mode: "ask"}`, `{mode: "deny"}` or `{mode: "approve", user, team?}`; with `lasting: true` a reset comes back to it. */
export function scriptConsent(request: Request, { world }: Service): Reply {
  const body = readBody(request);
  if (body === undefined) return adminProblem(400, 'The body must be a JSON object.');
  const script = decodeScript(body, world);
  if (typeof script === 'string') return adminProblem(422, script);
  if (body.get('lasting') === true) world.firstConsent = script;
  world.consent = script;
  return json(200, view(world));
}

function decodeScript(body: ReadonlyMap<string, unknown>, world: World): ConsentScript | string {
  const mode = body.get('mode');
  if (mode === 'ask' || mode === 'deny') return { mode };
  if (mode !== 'approve') return 'mode must be approve, deny or ask.';
  const person = findPerson(world, textOf(body, 'user'));
  if (person === undefined) return 'user must be the e-mail address or UUID of a person of this sandbox.';
  const wanted = textOf(body, 'team');
  if (wanted === undefined) return { mode, person: person.uuid };
  const team = findTeam(world, person, wanted);
  return team === undefined
    ? 'team must be the UUID or name of a team of the user.'
    : { mode, person: person.uuid, team };
}

function view(world: World): object {
  const script = world.consent;
  if (script.mode !== 'approve') return { mode: script.mode };
  return { mode: script.mode, user: world.directory.person(script.person)?.email, team: script.team };
}
