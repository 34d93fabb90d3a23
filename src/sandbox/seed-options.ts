import { findFreePorts } from './http/listening-http-servers.ts';
import { type Random, seededRandom } from './random.ts';
import type { RegisteredApplication } from './records.ts';
import {
  addSandboxClusters,
  createApplication,
  generateSandboxSeedData,
  type NewSandboxCluster,
  type SandboxSeedData,
} from './seed-data.ts';
import type { ServerIdentity } from './state/saved-state.ts';
import { SandboxStateFolderError } from './state/state-error.ts';

/** The start options that change the seed data. */
export interface SandboxSeedOptions {
  readonly callbackUrls?: readonly string[];
  readonly apps?: readonly { readonly name: string; readonly callbackUrl: string }[];
  readonly seed?: number;
  /** Clusters that have a database server. */
  readonly clusters?: readonly NewSandboxCluster[];
}

/** Creates new seed data. Callback URLs that the options do not contain are created with ports that are currently free. */
export async function createSandboxSeedDataFromOptions(
  options: SandboxSeedOptions,
  random: Random,
): Promise<SandboxSeedData> {
  const { callbackUrls = [], apps = [] } = options;
  const [free = 0, other = 0] = await findFreePorts(2);
  const generator = options.seed === undefined ? random : seededRandom(options.seed);
  const applications = [
    {
      name: 'Sandbox CLI',
      callbackUrls: callbackUrls.length > 0 ? callbackUrls : [`http://127.0.0.1:${free}/callback`],
    },
    { name: 'Sandbox Dashboard', callbackUrls: [`http://127.0.0.1:${other}/callback`] },
    ...apps.map(({ name, callbackUrl }) => ({ name, callbackUrls: [callbackUrl] })),
  ];
  return generateSandboxSeedData(generator, applications, options.clusters);
}

/**
 * Returns the saved seed data, updated with the callback URLs, applications and clusters of the start options. Throws a
 * SandboxStateFolderError if the saved state was created with another seed.
 */
export function applyStartOptionsToSeedData(
  saved: { readonly seed: SandboxSeedData; readonly identity: Pick<ServerIdentity, 'seedNumber'> },
  options: SandboxSeedOptions,
  random: Random,
): SandboxSeedData {
  const { callbackUrls = [], apps = [], seed } = options;
  const { seedNumber } = saved.identity;
  if (seed !== undefined && seed !== seedNumber) {
    const known = seedNumber === undefined ? 'without a seed' : `with seed ${seedNumber}`;
    throw new SandboxStateFolderError(
      'unusable',
      `the ids of the saved state were generated ${known}, not with seed ${seed}`,
      {
        hint: 'omit `--seed`, or name another folder with `--state`',
      },
    );
  }
  const known = saved.seed.applications.map((application, at): RegisteredApplication => {
    const named = apps.filter(({ name }) => name === application.name).map(({ callbackUrl }) => callbackUrl);
    const urls = at === 0 && callbackUrls.length > 0 ? callbackUrls : named;
    return urls.length === 0 ? application : { ...application, callbackUrls: urls };
  });
  const added = apps
    .filter(({ name }) => known.every((application) => application.name !== name))
    .map(({ name, callbackUrl }) => createApplication(random, name, [callbackUrl]));
  const clusters = addSandboxClusters(
    saved.seed.clusters,
    options.clusters ?? [],
    saved.seed.people[0]?.uuid ?? '',
    random,
  );
  return { ...saved.seed, clusters, applications: [...known, ...added] };
}
