import { type Random, randomString, randomUuid } from './random.ts';
import type { Application, Person, SandboxCluster, Team } from './records.ts';

/** The world as it is at the start and after every reset. */
export interface SeedData {
  readonly people: readonly Person[];
  readonly teams: readonly Team[];
  readonly applications: readonly Application[];
  readonly clusters: readonly SandboxCluster[];
  readonly droplets: readonly SeedDroplet[];
  readonly firstId: number;
}

export interface SeedDroplet {
  readonly account: string;
  readonly name: string;
  readonly region: string;
  readonly size: string;
  readonly image: number;
  readonly tags: readonly string[];
  /** How long before the start it was created, in milliseconds. */
  readonly age: number;
}

/** Draws every id in one fixed order, so that a seeded chance gives the same ones at every start. */
export function generateSeedData(
  chance: Random,
  applications: readonly { readonly name: string; readonly callbackUrls: readonly string[] }[],
  moreClusters: readonly Omit<SandboxCluster, 'uuid'>[] = [],
): SeedData {
  const team: Team = { uuid: randomUuid(chance), name: 'Harbour Works' };
  const alone: Person = person(chance, 'Maya Lindqvist', 'maya@example.com', []);
  const member: Person = person(chance, 'Tomás Okafor', 'tomas@example.com', [team.uuid]);
  const clusters: readonly SandboxCluster[] = [
    { uuid: randomUuid(chance), name: 'orders', engine: 'postgresql', version: '17' },
    { uuid: randomUuid(chance), name: 'cache', engine: 'redis', version: '7' },
  ];
  const seed: SeedData = {
    people: [alone, member],
    teams: [team],
    clusters,
    applications: applications.map(({ name, callbackUrls }) => ({
      name,
      callbackUrls,
      clientId: randomString(chance, 40),
      clientSecret: randomString(chance, 48),
    })),
    droplets: [
      { account: alone.uuid, name: 'web-01', ...SMALL, region: 'fra1', tags: ['web'], age: 21 * DAY },
      { account: alone.uuid, name: 'web-02', ...SMALL, region: 'fra1', tags: ['web'], age: 20 * DAY },
      { account: alone.uuid, name: 'db-01', ...LARGE, region: 'fra1', tags: ['db'], age: 6 * DAY },
      { account: member.uuid, name: 'scratch', ...SMALL, region: 'ams3', tags: [], age: 2 * DAY },
      { account: team.uuid, name: 'build-01', ...LARGE, region: 'nyc3', tags: ['ci'], age: 40 * DAY },
      { account: team.uuid, name: 'build-02', ...LARGE, region: 'nyc3', tags: ['ci'], age: 9 * DAY },
    ],
    firstId: 400_000_001,
  };
  return { ...seed, clusters: addClusters(clusters, moreClusters, chance) };
}

/** Adds those that are not there by name; one that is there under another engine is somebody's mistake. */
export function addClusters(
  known: readonly SandboxCluster[],
  wanted: readonly Omit<SandboxCluster, 'uuid'>[],
  chance: Random,
): readonly SandboxCluster[] {
  const other = wanted.find(({ name, engine }) => known.some((one) => one.name === name && one.engine !== engine));
  if (other !== undefined) throw new Error(`the cluster ${other.name} is not of the engine ${other.engine}`);
  const added = wanted.filter(({ name }) => known.every((one) => one.name !== name));
  return [...known, ...added.map((cluster) => ({ uuid: randomUuid(chance), ...cluster }))];
}

const DAY = 86_400_000;
const SMALL = { size: 's-1vcpu-1gb', image: 155_133_621 } as const;
const LARGE = { size: 's-4vcpu-8gb', image: 164_502_311 } as const;

function person(chance: Random, name: string, email: string, teams: readonly string[]): Person {
  return { uuid: randomUuid(chance), name, email, password: randomString(chance, 14), teams };
}
