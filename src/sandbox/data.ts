import type {
  SandboxData,
  SandboxDataApplication,
  SandboxDataCluster,
  SandboxDataDroplet,
  SandboxDataPerson,
} from './data-types.ts';
import { findFreePorts } from './http/server.ts';
import { type Random, randomString, randomUuid, seededRandom } from './random.ts';
import type { Application, Cluster, Person, Team } from './records.ts';
import { decodeOutsideSpecification, decodeSeedClock, normalizeEmail, type Seed, type SeedDroplet } from './seed.ts';
import {
  arrayOf,
  decodeInteger,
  decodeString,
  decodeTextThat,
  enumOf,
  JsonDecodeError,
  type JsonDecoder,
  objectOf,
  optional,
} from './state/decoder.ts';
import { SandboxStateFolderError } from './state/journal.ts';
import type { ServerIdentity } from './state/saved-state.ts';
import { decodeSnapshot, SNAPSHOT_FORMAT, type Snapshot } from './state/snapshot.ts';
import { decodeCreation } from './v2/droplet-creation.ts';
import { parseDuration } from './virtual-clock.ts';

/** The message names the place in the data as a JSON path, and contains no value that may be a secret. */
export class SandboxDataError extends Error {
  override readonly name = 'SandboxDataError';
}

/** Data whose members have the right form and refer to each other; or a snapshot. Throws a SandboxDataError. */
export function readData(value: unknown): SandboxData | Snapshot {
  if (typeof value === 'object' && value !== null && 'format' in value && value.format === SNAPSHOT_FORMAT) {
    const snapshot = decodeSnapshot(value);
    if (typeof snapshot === 'string') throw new SandboxDataError(snapshot.replace(/\.$/, ''));
    return snapshot;
  }
  try {
    const data = decodeData(value, '');
    requireConsistency(data);
    return data;
  } catch (error) {
    if (!(error instanceof JsonDecodeError)) throw error;
    throw new SandboxDataError(error.message);
  }
}

/** Whether the sign-in form of a browser accepts the text as an e-mail address (https://html.spec.whatwg.org/#valid-e-mail-address). */
export function isEmail(text: string): boolean {
  return text.length <= 254 && EMAIL.test(text);
}

const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

function matching(pattern: RegExp, problem: string): JsonDecoder<string> {
  return decodeTextThat((text) => (pattern.test(text) ? undefined : problem));
}

const name = matching(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u, 'is not a name of 1 to 255 printable characters');
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const uuidText = matching(uuidPattern, 'is not a UUID');
/** UUIDs are compared as text, in lower case. */
const uuid: JsonDecoder<string> = (value, path) => uuidText(value, path).toLowerCase();
const credential = matching(/^[\x21-\x7e]{1,256}$/, 'is not 1 to 256 visible ASCII characters');

/** Settles the attributes as a request that creates the droplet does. */
const droplet: JsonDecoder<SandboxDataDroplet> = (value, path) => {
  const given = dropletMembers(value, path);
  const { name: dropletName, size = DEFAULT_SIZE, image = DEFAULT_IMAGE, region, tags } = given;
  const request = { name: dropletName, size, image, ...definedOnly({ region, tags }) };
  const creation = decodeCreation(request);
  if (typeof creation === 'string') throw new JsonDecodeError(`${path}.${creation.replace(/\.$/, '')}`);
  const { spec } = creation;
  return { ...given, region: spec.region, size: spec.size, image: spec.image, tags: spec.tags };
};

const DEFAULT_SIZE = 's-1vcpu-1gb';
const DEFAULT_IMAGE = 'ubuntu-24-04-x64';

const dropletMembers = objectOf<SandboxDataDroplet>({
  name: decodeString,
  id: optional(idOf('id')),
  account: optional(decodeString),
  region: optional(decodeString),
  size: optional(decodeString),
  image: optional((value, path) => (typeof value === 'string' ? value : decodeInteger(value, path))),
  tags: optional(arrayOf(decodeString)),
  age: optional((value, path) => {
    const age = parseDuration(value);
    if (age === undefined) throw new JsonDecodeError(`${path} is not milliseconds or a duration such as 21d`);
    return age;
  }),
});

function idOf(what: string): JsonDecoder<number> {
  return (value, path) => {
    const id = decodeInteger(value, path);
    if (id < 1 || id > MAX_ID) throw new JsonDecodeError(`${path} is not an ${what} from 1 to ${MAX_ID}`);
    return id;
  };
}

const MAX_ID = 2 ** 48;

const decodeData = objectOf<SandboxData>({
  $schema: optional(decodeString),
  people: optional(
    arrayOf(
      objectOf<SandboxDataPerson>({
        email: decodeTextThat((text) =>
          isEmail(text) ? undefined : 'is not an e-mail address that a browser accepts',
        ),
        name: optional(name),
        password: optional(matching(/^[^\p{Cc}\p{Cs}]{1,256}$/u, 'is not 1 to 256 printable characters')),
        uuid: optional(uuid),
        teams: optional(arrayOf(decodeString)),
      }),
    ),
  ),
  teams: optional(arrayOf(objectOf<{ name: string; uuid?: string }>({ name, uuid: optional(uuid) }))),
  applications: optional(
    arrayOf(
      objectOf<SandboxDataApplication>({
        name,
        clientId: optional(credential),
        clientSecret: optional(credential),
        callbackUrls: optional(arrayOf(decodeTextThat(callbackUrlProblem))),
      }),
    ),
  ),
  clusters: optional(
    arrayOf(
      objectOf<SandboxDataCluster>({
        name: matching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/, 'is not a name of letters, digits, hyphens and underscores'),
        engine: enumOf('postgresql', 'redis'),
        version: optional(matching(/^\d{1,3}(\.\d{1,4}){0,2}$/, 'is not a version such as 17')),
        uuid: optional(uuid),
        owner: optional(decodeString),
      }),
    ),
  ),
  droplets: optional(arrayOf(droplet)),
  clock: optional(decodeSeedClock),
  outsideSpecification: optional(decodeOutsideSpecification),
  firstId: optional(idOf('id')),
});

/** Throws for a list that may not be empty, for equal names or ids, and for a reference to a missing person or team. */
function requireConsistency(given: SandboxData): void {
  const data = withDefaults(given);
  const { people, teams, applications, clusters, droplets } = data;
  if (given.people === undefined && given.teams !== undefined)
    fail('teams needs people: the teams of a sandbox without data belong to its people');
  if (people.length === 0) fail('people is empty');
  if (applications.length === 0) fail('applications is empty');
  requireDistinct([...placesOf('people', people, 'uuid'), ...placesOf('teams', teams, 'uuid')]);
  requireDistinct(placesOf('people', people, 'email', normalizeEmail));
  requireDistinct(placesOf('teams', teams, 'name'));
  requireDistinct(placesOf('applications', applications, 'name'));
  requireDistinct(placesOf('applications', applications, 'clientId'));
  requireDistinct(placesOf('clusters', clusters, 'name'));
  requireDistinct(placesOf('clusters', clusters, 'uuid'));
  requireDistinct(placesOf('droplets', droplets, 'id'));
  const [findAccount, findTeam] = [accountFinder(people, teams), accountFinder([], teams)];
  for (const [at, { teams: names = [] }] of people.entries())
    for (const [each, text] of names.entries())
      if (findTeam(text) === undefined) fail(`people[${at}].teams[${each}] is not a team of the data`);
  const owners = [...placesOf('clusters', clusters, 'owner'), ...placesOf('droplets', droplets, 'account')];
  const missing = owners.find(([, text]) => findAccount(String(text)) === undefined);
  if (missing !== undefined) fail(`${missing[0]} is not a person or team of the sandbox`);
}

/** Finds the person or team that an e-mail address, the name of a team or a UUID means. */
function accountFinder<
  P extends { readonly email: string; readonly uuid?: string },
  T extends { readonly name: string; readonly uuid?: string },
>(people: readonly P[], teams: readonly T[]): (text: string) => P | T | undefined {
  const accounts = new Map<string, P | T>();
  for (const team of teams) for (const key of [team.name, team.uuid]) if (key !== undefined) accounts.set(key, team);
  for (const person of people)
    for (const key of [normalizeEmail(person.email), person.uuid]) if (key !== undefined) accounts.set(key, person);
  return (text) => accounts.get(normalizeEmail(text)) ?? accounts.get(text);
}

type Place = readonly [path: string, value: string | number];

function placesOf<K extends string>(
  list: string,
  rows: readonly { readonly [key in K]?: string | number }[] = [],
  member: K,
  normalize: (text: string) => string = (text) => text,
): readonly Place[] {
  return rows.flatMap((row, at): readonly Place[] => {
    const value = row[member];
    if (value === undefined) return [];
    return [[`${list}[${at}].${member}`, typeof value === 'string' ? normalize(value) : value]];
  });
}

function requireDistinct(places: readonly Place[]): void {
  const seen = new Map<string | number, string>();
  for (const [path, value] of places) {
    const first = seen.get(value);
    if (first !== undefined) fail(`${path} is equal to ${first}`);
    seen.set(value, path);
  }
}

function definedOnly(members: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function fail(message: string): never {
  throw new JsonDecodeError(message);
}

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
}

/** A cluster that a start option registers. */
export type NewCluster = Omit<Cluster, 'uuid' | 'owner'>;

/** The content of a new sandbox. A generator with a seed gives the same ids at every start, so their order never changes. */
export async function createSeed(options: SeedOptions, random: Random): Promise<Seed> {
  const { data = {} } = options;
  const generator = options.seed === undefined ? random : seededRandom(options.seed);
  const seed = 'format' in data ? data.seed : completeData(withDefaults(data), await findFreePorts(2), generator);
  return addOptions(seed, options, generator);
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

function completeData(
  data: ReturnType<typeof withDefaults>,
  [firstPort = 0, otherPort = 0]: readonly number[],
  random: Random,
): Seed {
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
  const applications = data.applications.map(({ name: own, callbackUrls, ...given }, at) => {
    const free = [`http://127.0.0.1:${at === 0 ? firstPort : otherPort}/callback`];
    return newApplication(own, callbackUrls ?? free, random, given);
  });
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
  { callbackUrls = [], apps = [], users = [], clusters = [] }: SeedOptions,
  random: Random,
): Seed {
  const urlsOf = (named: string): readonly string[] =>
    apps.filter((app) => app.name === named).map(({ callbackUrl }) => callbackUrl);
  const known = seed.applications.map((application, at): Application => {
    const urls = at === 0 && callbackUrls.length > 0 ? callbackUrls : urlsOf(application.name);
    return urls.length === 0 ? application : { ...application, callbackUrls: urls };
  });
  const added = [...new Set(apps.map((app) => app.name))]
    .filter((named) => known.every((application) => application.name !== named))
    .map((named) => newApplication(named, urlsOf(named), random));
  const owner = seed.people[0]?.uuid ?? '';
  const grown = {
    ...seed,
    applications: [...known, ...added],
    clusters: addClusters(seed.clusters, clusters, owner, random),
  };
  const emails = new Set(seed.people.map(({ email }) => normalizeEmail(email)));
  const strangers = users.filter((email) => !emails.has(normalizeEmail(email)));
  return { ...grown, people: [...seed.people, ...strangers.map((email) => newPerson(email, random))] };
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

/** Throws for e-mail addresses with which nobody could sign in. */
export function requireUsers(users: readonly string[]): void {
  for (const [at, email] of users.entries()) {
    if (!isEmail(email)) throw new Error(`user ${JSON.stringify(email.slice(0, 80))} is not an e-mail address`);
    if (users.findIndex((one) => normalizeEmail(one) === normalizeEmail(email)) !== at)
      throw new Error(`user ${email} is given twice`);
  }
}

/** Throws unless the URL is absolute, ASCII, without a fragment (RFC 6749 §3.1.2), and http, https or a private-use scheme (RFC 8252 §7.1). */
export function requireCallbackUrl(text: string): void {
  const problem = callbackUrlProblem(text);
  if (problem !== undefined) throw new Error(`callback URL ${JSON.stringify(text)} ${problem}`);
}

/** Completes the sentence "<URL> …"; undefined for a URL that can be registered. */
export function callbackUrlProblem(text: string): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'is not an absolute ASCII URL';
  if (text.includes('#')) return 'has a fragment';
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' || protocol.includes('.')
    ? undefined
    : 'has a scheme other than http, https or a private-use scheme, which contains a dot';
}
