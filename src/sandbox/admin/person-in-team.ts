import type { LiveSandboxState } from '../live-sandbox-state.ts';
import type { SandboxPerson } from '../records.ts';
import { nonEmptyTextMember } from './json-body.ts';

export interface SandboxPersonInTeam {
  /** UUID. */
  readonly person: string;
  /** The UUID of a team to which the person belongs; absent for the person's own account. */
  readonly team?: string;
}

/** Decodes the members `user` and `team?` of a request body; if the result is a string, it is the error message. */
export function decodeRequestedPersonInTeam(
  body: ReadonlyMap<string, unknown>,
  world: LiveSandboxState,
): SandboxPersonInTeam | string {
  const user = nonEmptyTextMember(body, 'user') ?? '';
  const person = world.registry.personByEmail(user) ?? world.registry.person(user);
  if (person === undefined) return 'user must be the e-mail address or UUID of a person of this sandbox.';
  const text = nonEmptyTextMember(body, 'team');
  if (text === undefined) return { person: person.uuid };
  const team = findTeam(world, person, text);
  if (team === undefined) return 'team must be the UUID or name of a team of the user.';
  return { person: person.uuid, team };
}

function findTeam(world: LiveSandboxState, person: SandboxPerson, text: string): string | undefined {
  return person.teams.find((uuid) => uuid === text || world.registry.team(uuid)?.name === text);
}
