import {
  type SandboxData,
  type SandboxDataApplication,
  type SandboxDataClock,
  type SandboxDataCluster,
  type SandboxDataDroplet,
  SandboxDataError,
  type SandboxDataPerson,
} from './data-types.ts';
import { findFreePorts } from './http/server.ts';
import { type Random, randomString, randomUuid, seededRandom } from './random.ts';
import type { Application, Cluster, Person, Team } from './records.ts';
import {
  accountFinder,
  callbackUrlProblem,
  decodeOutsideSpecification,
  decodeSeedClock,
  isEmail,
  normalizeEmail,
  RULES,
  requireConsistency,
  type Seed,
  type SeedDroplet,
} from './seed.ts';
import {
  arrayOf,
  decodeInteger,
  decodeString,
  decodeTextThat,
  JsonDecodeError,
  objectOf,
  optional,
} from './state/decoder.ts';
import { SandboxStateFolderError } from './state/journal.ts';
import type { ServerIdentity } from './state/saved-state.ts';
import { decodeSnapshot, SNAPSHOT_FORMAT, type Snapshot } from './state/snapshot.ts';
import { settleDroplet } from './v2/droplet-creation.ts';
import { parseDuration } from './virtual-clock.ts';

/** Data whose members have the right form and refer to each other; or a snapshot. Throws a SandboxDataError. */
export function readData(value: unknown): SandboxData | Snapshot {
  if (typeof value === 'object' && value !== null && 'format' in value && value.format === SNAPSHOT_FORMAT) {
    const snapshot = decodeSnapshot(value);
    if (typeof snapshot === 'string') throw new SandboxDataError(snapshot.replace(/\.$/, ''));
    return snapshot;
  }
  try {
    const data = decodeData(value, '');
    if (data.people === undefined && data.teams !== undefined)
      throw new JsonDecodeError('teams needs people: the teams of a sandbox without data belong to its people');
    requireConsistency(withDefaults(data));
    return data;
  } catch (error) {
    if (!(error instanceof JsonDecodeError)) throw error;
    throw new SandboxDataError(error.message);
  }
}

const DEFAULT_SIZE = 's-1vcpu-1gb';
const DEFAULT_IMAGE = 'ubuntu-24-04-x64';

const decodeDroplet = objectOf<SandboxDataDroplet>({
  name: decodeString,
  id: optional(RULES.id),
  account: optional(decodeString),
  region: optional(decodeString),
  size: optional(decodeString),
  image: optional((value, path) => (typeof value === 'string' ? value : decodeInteger(value, path))),
  tags: optional(arrayOf(decodeString)),
  age: optional<string | number>((value, path) => {
    const age = parseDuration(value);
    if (age === undefined)
      throw new JsonDecodeError(`${path} is not milliseconds or a duration such as 21d, of at most 36525d`);
    return age;
  }),
});

const decodeData = objectOf<SandboxData>({
  $schema: optional(decodeString),
  people: optional(
    arrayOf(
      objectOf<SandboxDataPerson>({
        email: RULES.email,
        name: optional(RULES.name),
        password: optional(RULES.password),
        uuid: optional(RULES.uuid),
        teams: optional(arrayOf(decodeString)),
      }),
    ),
  ),
  teams: optional(arrayOf(objectOf<{ name: string; uuid?: string }>({ name: RULES.name, uuid: optional(RULES.uuid) }))),
  applications: optional(
    arrayOf(
      objectOf<SandboxDataApplication>({
        name: RULES.name,
        clientId: optional(RULES.credential),
        clientSecret: optional(RULES.credential),
        callbackUrls: optional(RULES.callbackUrls),
      }),
    ),
  ),
  clusters: optional(
    arrayOf(
      objectOf<SandboxDataCluster>({
        name: RULES.clusterName,
        engine: RULES.engine,
        version: optional(
          decodeTextThat((text) =>
            /^\d{1,3}(\.\d{1,4}){0,2}$/.test(text) ? undefined : 'is not a version such as 17',
          ),
        ),
        uuid: optional(RULES.uuid),
        owner: optional(decodeString),
      }),
    ),
  ),
  droplets: optional(
    arrayOf<SandboxDataDroplet>((value, path) =>
      settleDroplet({ size: DEFAULT_SIZE, image: DEFAULT_IMAGE, ...decodeDroplet(value, path) }, path),
    ),
  ),
  clock: optional(decodeSeedClock),
  outsideSpecification: optional(decodeOutsideSpecification),
  firstId: optional(RULES.id),
});

type FilledParts = 'people' | 'teams' | 'applications' | 'clusters' | 'droplets';

function withDefaults(data: SandboxData): SandboxData & Required<Pick<SandboxData, FilledParts>> {
  const base = data.people === undefined ? DEFAULT_DATA : { ...DEFAULT_DATA, teams: [], clusters: [], droplets: [] };
  return { ...base, ...data };
}

const DAY = 86_400_000;
const SMALL = { size: 's-1vcpu-1gb', image: 155_133_621 } as const;
const LARGE = { size: 's-4vcpu-8gb', image: 164_502_311 } as const;

/** The content of a sandbox without data. */
const DEFAULT_DATA: Required<Pick<SandboxData, FilledParts>> = {
  teams: [{ name: 'Harbour Works' }],
  people: [
    { name: 'Maya Lindqvist', email: 'maya@example.com' },
    { name: 'Tomás Okafor', email: 'tomas@example.com', teams: ['Harbour Works'] },
  ],
  applications: [{ name: 'Sandbox CLI' }, { name: 'Sandbox Dashboard' }],
  clusters: [
    { name: 'orders', engine: 'postgresql' },
    { name: 'cache', engine: 'redis' },
  ],
  droplets: [
    { name: 'web-01', ...SMALL, region: 'fra1', tags: ['web'], age: 21 * DAY },
    { name: 'web-02', ...SMALL, region: 'fra1', tags: ['web'], age: 20 * DAY },
    { name: 'db-01', ...LARGE, region: 'fra1', tags: ['db'], age: 6 * DAY },
    { account: 'tomas@example.com', name: 'scratch', ...SMALL, region: 'ams3', age: 2 * DAY },
    { account: 'Harbour Works', name: 'build-01', ...LARGE, region: 'nyc3', tags: ['ci'], age: 40 * DAY },
    { account: 'Harbour Works', name: 'build-02', ...LARGE, region: 'nyc3', tags: ['ci'], age: 9 * DAY },
  ],
};

/** The start options that change the content of a sandbox. */
export interface SeedOptions {
  readonly data?: SandboxData | Snapshot | undefined;
  /** E-mail addresses of further people. */
  readonly users?: readonly string[];
  readonly callbackUrls?: readonly string[];
  readonly apps?: readonly { readonly name: string; readonly callbackUrl: string }[];
  readonly seed?: number;
  /** Clusters that have a database server. */
  readonly clusters?: readonly NewCluster[];
  readonly clock?: SandboxDataClock;
}

/** A cluster that a start option registers. */
export type NewCluster = Omit<Cluster, 'uuid' | 'owner'>;

/** The content of a new sandbox. A generator with a seed gives the same ids at every start, so their order never changes. */
export async function createSeed(options: SeedOptions, random: Random): Promise<Seed> {
  const { data = {} } = options;
  const generator = options.seed === undefined ? random : seededRandom(options.seed);
  const seed = 'format' in data ? data.seed : completeData(withDefaults(data), generator);
  const grown = addOptions(seed, options, generator);
  const [firstPort = 0, otherPort = 0] = await findFreePorts(2);
  const applications = grown.applications.map((application, at): Application => {
    if (application.callbackUrls.length > 0) return application;
    return { ...application, callbackUrls: [`http://127.0.0.1:${at === 0 ? firstPort : otherPort}/callback`] };
  });
  return { ...grown, applications };
}

/**
 * The saved content with the people, callback URLs, applications and clusters of the start options. Throws a
 * SandboxStateFolderError if the saved state was created with another seed.
 */
export function extendSeed(
  saved: { readonly seed: Seed; readonly identity: Pick<ServerIdentity, 'seedNumber'> },
  options: SeedOptions,
  random: Random,
): Seed {
  const { seedNumber } = saved.identity;
  if (options.seed !== undefined && options.seed !== seedNumber) {
    const known = seedNumber === undefined ? 'without a seed' : `with seed ${seedNumber}`;
    throw new SandboxStateFolderError(
      'unusable',
      `the ids of the saved state were generated ${known}, not with seed ${options.seed}`,
      { hint: 'omit `--seed`, or name another folder with `--state`' },
    );
  }
  return addOptions(saved.seed, options, random);
}

/** An application whose callback URLs are absent gets them last. */
function completeData(data: ReturnType<typeof withDefaults>, random: Random): Seed {
  const teams = data.teams.map((team): Team => ({ uuid: randomUuid(random), ...team }));
  const findTeam = accountFinder([], teams);
  const people = data.people.map(({ email, name: own, teams: names = [], ...given }) => ({
    ...newPerson(email, random, given),
    ...(own === undefined ? {} : { name: own }),
    teams: names.flatMap((text) => findTeam(text)?.uuid ?? []),
  }));
  const findAccount = accountFinder(people, teams);
  const ownerOf = (text: string | undefined): string =>
    (text === undefined ? people[0] : findAccount(text))?.uuid ?? '';
  const clusters = data.clusters.map(({ name: own, engine, version, uuid: given, owner }): Cluster => {
    const id = given ?? randomUuid(random);
    return {
      uuid: id,
      name: own,
      engine,
      version: version ?? (engine === 'postgresql' ? '17' : '7'),
      owner: ownerOf(owner),
    };
  });
  const applications = data.applications.map(({ name: own, callbackUrls = [], ...given }) =>
    newApplication(own, callbackUrls, random, given),
  );
  const droplets = data.droplets.map(
    ({ account, id, age = 0, image, region = '', size = '', tags = [], name: own }): SeedDroplet => ({
      account: ownerOf(account),
      name: own,
      ...{ region, size, tags, image: Number(image), age: Number(age) },
      ...(id === undefined ? {} : { id }),
    }),
  );
  const { clock, outsideSpecification } = data;
  return {
    ...{ people, teams, clusters, applications, droplets },
    firstId: droplets.reduce((most, { id = 0 }) => Math.max(most, id + 1), data.firstId ?? 400_000_001),
    ...(clock === undefined ? {} : { clock }),
    ...(outsideSpecification === undefined ? {} : { outsideSpecification }),
  };
}

function addOptions(
  seed: Seed,
  { callbackUrls = [], apps = [], users = [], clusters = [], clock }: SeedOptions,
  random: Random,
): Seed {
  const urlsOf = (named: string): readonly string[] =>
    apps.filter((app) => app.name === named).map(({ callbackUrl }) => callbackUrl);
  // The added URLs are the first ones, because the client uses the first.
  const known = seed.applications.map((application, at): Application => {
    const urls = [...(at === 0 ? callbackUrls : []), ...urlsOf(application.name), ...application.callbackUrls];
    return { ...application, callbackUrls: [...new Set(urls)] };
  });
  const added = [...new Set(apps.map((app) => app.name))]
    .filter((named) => known.every((application) => application.name !== named))
    .map((named) => newApplication(named, [...new Set(urlsOf(named))], random));
  const owner = seed.people[0]?.uuid ?? '';
  const grown = {
    ...seed,
    applications: [...known, ...added],
    clusters: addClusters(seed.clusters, clusters, owner, random),
    ...(clock === undefined ? {} : { clock: { ...seed.clock, ...clock } }),
  };
  const emails = new Set(seed.people.map(({ email }) => normalizeEmail(email)));
  const strangers = users.filter((email) => !emails.has(normalizeEmail(email)));
  const whole = { ...grown, people: [...seed.people, ...strangers.map((email) => newPerson(email, random))] };
  requireConsistency(whole);
  return whole;
}

function newPerson(email: string, random: Random, given: { uuid?: string; password?: string } = {}): Person {
  const own = { uuid: given.uuid ?? randomUuid(random), password: given.password ?? randomString(random, 14) };
  return { ...own, email, name: email.slice(0, email.indexOf('@')), teams: [] };
}

function newApplication(
  named: string,
  callbackUrls: readonly string[],
  random: Random,
  given: { readonly clientId?: string; readonly clientSecret?: string } = {},
): Application {
  return {
    name: named,
    callbackUrls,
    clientId: given.clientId ?? randomString(random, 40),
    clientSecret: given.clientSecret ?? randomString(random, 48),
  };
}

/** Adds the clusters whose names are new. Throws when a cluster with the same name has another engine. */
function addClusters(
  known: readonly Cluster[],
  additional: readonly NewCluster[],
  owner: string,
  random: Random,
): readonly Cluster[] {
  const mismatch = additional.find(({ name: own, engine }) =>
    known.some((one) => one.name === own && one.engine !== engine),
  );
  if (mismatch !== undefined) throw new Error(`cluster ${mismatch.name} is not a ${mismatch.engine} cluster`);
  const added = additional.filter(({ name: own }) => known.every((one) => one.name !== own));
  return [...known, ...added.map((cluster) => ({ uuid: randomUuid(random), ...cluster, owner }))];
}

type CheckedOptions = Pick<SeedOptions, 'users' | 'callbackUrls' | 'apps'> & {
  readonly clusters?: readonly { readonly name: string }[];
};

/** Throws for start options with what data may not contain, before anything is started. */
export function requireOptions({ users = [], callbackUrls = [], apps = [], clusters = [] }: CheckedOptions): void {
  for (const [at, email] of users.entries()) {
    if (!isEmail(email)) throw new Error(`user ${shown(email)} is not an e-mail address`);
    if (users.findIndex((one) => normalizeEmail(one) === normalizeEmail(email)) !== at)
      throw new Error(`user ${email} is given twice`);
  }
  for (const text of [...callbackUrls, ...apps.map(({ callbackUrl }) => callbackUrl)]) {
    const problem = callbackUrlProblem(text);
    if (problem !== undefined) throw new Error(`callback URL ${shown(text)} ${problem}`);
  }
  for (const app of apps) RULES.name(app.name, `the application name ${shown(app.name)}`);
  for (const cluster of clusters) RULES.clusterName(cluster.name, `the cluster name ${shown(cluster.name)}`);
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
