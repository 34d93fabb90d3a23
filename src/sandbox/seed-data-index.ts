import type { RegisteredApplication, SandboxCluster, SandboxPerson, SandboxTeam } from './records.ts';
import type { SandboxSeedData } from './seed-data.ts';

/** People, teams, applications and clusters, by their ids. Only restoring a snapshot changes the registry. */
export interface SandboxSeedDataIndex {
  readonly application: (clientId: string) => RegisteredApplication | undefined;
  /** The clusters of an account, which is a person or a team. */
  readonly clustersOf: (account: string) => readonly SandboxCluster[];
  readonly person: (uuid: string) => SandboxPerson | undefined;
  readonly personByEmail: (email: string) => SandboxPerson | undefined;
  readonly team: (uuid: string) => SandboxTeam | undefined;
}

export function createSandboxSeedDataIndex(seed: SandboxSeedData): SandboxSeedDataIndex {
  const applications = new Map(seed.applications.map((application) => [application.clientId, application]));
  const people = new Map(seed.people.map((person) => [person.uuid, person]));
  const peopleByEmail = new Map(seed.people.map((person) => [person.email, person]));
  const teams = new Map(seed.teams.map((team) => [team.uuid, team]));
  return {
    application: (clientId) => applications.get(clientId),
    clustersOf: (account) => seed.clusters.filter(({ owner }) => owner === account),
    person: (uuid) => people.get(uuid),
    personByEmail: (email) => peopleByEmail.get(email.trim().toLowerCase()),
    team: (uuid) => teams.get(uuid),
  };
}
