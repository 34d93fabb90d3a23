import { type Random, randomString, randomUuid } from './random.ts';
import type { RegisteredApplication, SandboxCluster, SandboxPerson, SandboxTeam } from './records.ts';

/** The initial state of a sandbox, which every reset restores. */
export interface SandboxSeedData {
  readonly people: readonly SandboxPerson[];
  readonly teams: readonly SandboxTeam[];
  readonly applications: readonly RegisteredApplication[];
  readonly clusters: readonly SandboxCluster[];
  readonly droplets: readonly SandboxSeedDroplet[];
  readonly firstId: number;
}

export interface SandboxSeedDroplet {
  readonly account: string;
  readonly name: string;
  readonly region: string;
  readonly size: string;
  readonly image: number;
  readonly tags: readonly string[];
  /** The age of the droplet at the start of the sandbox, in milliseconds. */
  readonly age: number;
}

/** Generates all ids in a fixed order, so that a generator with a seed gives the same ids at every start. */
export function generateSandboxSeedData(
  random: Random,
  applications: readonly { readonly name: string; readonly callbackUrls: readonly string[] }[],
  moreClusters: readonly NewSandboxCluster[] = [],
): SandboxSeedData {
  const team: SandboxTeam = { uuid: randomUuid(random), name: 'Harbour Works' };
  const alone: SandboxPerson = person(random, 'Maya Lindqvist', 'maya@example.com', []);
  const member: SandboxPerson = person(random, 'Tomás Okafor', 'tomas@example.com', [team.uuid]);
  const clusters: readonly SandboxCluster[] = [
    { uuid: randomUuid(random), name: 'orders', engine: 'postgresql', version: '17', owner: alone.uuid },
    { uuid: randomUuid(random), name: 'cache', engine: 'redis', version: '7', owner: alone.uuid },
  ];
  const seed: SandboxSeedData = {
    people: [alone, member],
    teams: [team],
    clusters,
    applications: applications.map(({ name, callbackUrls }) => createApplication(random, name, callbackUrls)),
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
  return { ...seed, clusters: addSandboxClusters(clusters, moreClusters, alone.uuid, random) };
}

/** An application with a new client ID and client secret. */
export function createApplication(
  random: Random,
  name: string,
  callbackUrls: readonly string[],
): RegisteredApplication {
  return { name, callbackUrls, clientId: randomString(random, 40), clientSecret: randomString(random, 48) };
}

/** A cluster that a start option registers. */
export type NewSandboxCluster = Omit<SandboxCluster, 'uuid' | 'owner'>;

/**
 * Adds the clusters whose names are new; the account `owner` owns them. Throws when a cluster with the same name has another
 * engine.
 */
export function addSandboxClusters(
  known: readonly SandboxCluster[],
  additional: readonly NewSandboxCluster[],
  owner: string,
  random: Random,
): readonly SandboxCluster[] {
  const mismatch = additional.find(({ name, engine }) =>
    known.some((one) => one.name === name && one.engine !== engine),
  );
  if (mismatch !== undefined) throw new Error(`cluster ${mismatch.name} is not a ${mismatch.engine} cluster`);
  const added = additional.filter(({ name }) => known.every((one) => one.name !== name));
  return [...known, ...added.map((cluster) => ({ uuid: randomUuid(random), ...cluster, owner }))];
}

const DAY = 86_400_000;
const SMALL = { size: 's-1vcpu-1gb', image: 155_133_621 } as const;
const LARGE = { size: 's-4vcpu-8gb', image: 164_502_311 } as const;

function person(random: Random, name: string, email: string, teams: readonly string[]): SandboxPerson {
  return { uuid: randomUuid(random), name, email, password: randomString(random, 14), teams };
}
