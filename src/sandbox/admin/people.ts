import type { Person } from '../records.ts';
import type { World } from '../world.ts';

/** A person by e-mail address or UUID. */
export function findPerson(world: World, text: string | undefined): Person | undefined {
  return text === undefined ? undefined : (world.registry.personByEmail(text) ?? world.registry.person(text));
}

/** UUID of one of the person's teams, by UUID or name. */
export function findTeam(world: World, person: Person, text: string): string | undefined {
  return person.teams.find((uuid) => uuid === text || world.registry.team(uuid)?.name === text);
}
