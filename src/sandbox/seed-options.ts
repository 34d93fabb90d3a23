import { findFreePorts } from './http/listening-origin.ts';
import { type Random, randomString, seededRandom } from './random.ts';
import type { Application, SandboxCluster } from './records.ts';
import { addClusters, generateSeedData, type SeedData } from './seed-data.ts';
import type { SandboxIdentity } from './state/saved-state.ts';
import { StateError } from './state/state-error.ts';

/** What a start can say about who is registered. */
export interface SeedOptions {
  readonly callbackUrls?: readonly string[];
  readonly apps?: readonly { readonly name: string; readonly callbackUrl: string }[];
  readonly seed?: number;
  /** Those with a data plane. */
  readonly clusters?: readonly Omit<SandboxCluster, 'uuid'>[];
}

/** Everything drawn anew, with callback URLs on ports that are free at the moment. */
export async function createSeedData(options: SeedOptions, chance: Random): Promise<SeedData> {
  const { callbackUrls = [], apps = [] } = options;
  const [free = 0, other = 0] = await findFreePorts(2);
  const draw = options.seed === undefined ? chance : seededRandom(options.seed);
  const applications = [
    {
      name: 'Sandbox CLI',
      callbackUrls: callbackUrls.length > 0 ? callbackUrls : [`http://127.0.0.1:${free}/callback`],
    },
    { name: 'Sandbox Dashboard', callbackUrls: [`http://127.0.0.1:${other}/callback`] },
    ...apps.map(({ name, callbackUrl }) => ({ name, callbackUrls: [callbackUrl] })),
  ];
  return generateSeedData(draw, applications, options.clusters);
}

/** What was saved, and what the options say otherwise: other callback URLs, and applications that were not there before. */
export function updateSeedData(
  saved: { readonly seed: SeedData; readonly identity: Pick<SandboxIdentity, 'seedNumber'> },
  options: SeedOptions,
  chance: Random,
): SeedData {
  const { callbackUrls = [], apps = [], seed } = options;
  const { seedNumber } = saved.identity;
  if (seed !== undefined && seed !== seedNumber) {
    const known = seedNumber === undefined ? 'without a seed' : `with the seed ${seedNumber}`;
    throw new StateError('unusable', `the ids of this state were drawn ${known}, not with the seed ${seed}`, {
      hint: 'leave `--seed` out, or name another folder with `--state`',
    });
  }
  const known = saved.seed.applications.map((application, at): Application => {
    const named = apps.filter(({ name }) => name === application.name).map(({ callbackUrl }) => callbackUrl);
    const urls = at === 0 && callbackUrls.length > 0 ? callbackUrls : named;
    return urls.length === 0 ? application : { ...application, callbackUrls: urls };
  });
  const added = apps
    .filter(({ name }) => known.every((application) => application.name !== name))
    .map(({ name, callbackUrl }): Application => {
      return {
        name,
        callbackUrls: [callbackUrl],
        clientId: randomString(chance, 40),
        clientSecret: randomString(chance, 48),
      };
    });
  const clusters = addClusters(saved.seed.clusters, options.clusters ?? [], chance);
  return { ...saved.seed, clusters, applications: [...known, ...added] };
}
