import { type Chance, letters, seededChance } from './chance.ts';
import { freePorts } from './http/door.ts';
import type { Application, Cluster } from './records.ts';
import { type Seed, sowSeed, withClusters } from './seed.ts';
import type { Identity } from './state/saved.ts';
import { StateError } from './state/state-error.ts';

/** What a start can say about who is registered. */
export interface RegistrationOptions {
  readonly callbackUrls?: readonly string[];
  readonly apps?: readonly { readonly name: string; readonly callbackUrl: string }[];
  readonly seed?: number;
  /** Those with a data plane. */
  readonly clusters?: readonly Omit<Cluster, 'uuid'>[];
}

/** Everything drawn anew, with callback URLs on ports that are free at the moment. */
export async function register(options: RegistrationOptions, chance: Chance): Promise<Seed> {
  const { callbackUrls = [], apps = [] } = options;
  const [free = 0, other = 0] = await freePorts(2);
  const draw = options.seed === undefined ? chance : seededChance(options.seed);
  const applications = [
    {
      name: 'Sandbox CLI',
      callbackUrls: callbackUrls.length > 0 ? callbackUrls : [`http://127.0.0.1:${free}/callback`],
    },
    { name: 'Sandbox Dashboard', callbackUrls: [`http://127.0.0.1:${other}/callback`] },
    ...apps.map(({ name, callbackUrl }) => ({ name, callbackUrls: [callbackUrl] })),
  ];
  return sowSeed(draw, applications, options.clusters);
}

/** What was saved, and what the options say otherwise: other callback URLs, and applications that were not there before. */
export function registerAgain(
  saved: { readonly seed: Seed; readonly identity: Pick<Identity, 'seedNumber'> },
  options: RegistrationOptions,
  chance: Chance,
): Seed {
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
      return { name, callbackUrls: [callbackUrl], clientId: letters(chance, 40), clientSecret: letters(chance, 48) };
    });
  const clusters = withClusters(saved.seed.clusters, options.clusters ?? [], chance);
  return { ...saved.seed, clusters, applications: [...known, ...added] };
}
