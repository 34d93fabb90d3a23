import type { SandboxData, SandboxDataClock } from './data-types.ts';
import type { Application, Cluster, Person, Team } from './records.ts';
import {
  arrayOf,
  decodeAnyObject,
  decodeBoolean,
  decodeInteger,
  decodeTextThat,
  enumOf,
  JsonDecodeError,
  type JsonDecoder,
  objectOf,
  optional,
} from './state/decoder.ts';
import { settleDroplet } from './v2/droplet-creation.ts';
import { serializeDroplet } from './v2/resource-json.ts';
import { isClockTime, MAX_DURATION_MS } from './virtual-clock.ts';

/** The initial state of a sandbox, which every reset restores. */
export interface Seed {
  readonly people: readonly Person[];
  readonly teams: readonly Team[];
  readonly applications: readonly Application[];
  readonly clusters: readonly Cluster[];
  readonly droplets: readonly SeedDroplet[];
  readonly firstId: number;
  readonly clock?: SandboxDataClock;
  readonly outsideSpecification?: OutsideSpecification;
}

export interface SeedDroplet {
  readonly account: string;
  readonly name: string;
  readonly region: string;
  readonly size: string;
  readonly image: number;
  readonly tags: readonly string[];
  /** The age of the droplet at the start of the sandbox, in milliseconds. */
  readonly age: number;
  readonly id?: number;
}

/** Additional members of responses, which no client may expect of the service. */
type OutsideSpecification = NonNullable<SandboxData['outsideSpecification']>;

/** People, teams, applications and clusters, by their ids. Only restoring a snapshot changes the registry. */
export interface SeedIndex {
  readonly application: (clientId: string) => Application | undefined;
  /** The clusters of an account, which is a person or a team. */
  readonly clustersOf: (account: string) => readonly Cluster[];
  readonly person: (uuid: string) => Person | undefined;
  readonly personByEmail: (email: string) => Person | undefined;
  readonly team: (uuid: string) => Team | undefined;
}

export function indexSeed(seed: Seed): SeedIndex {
  const applications = new Map(seed.applications.map((application) => [application.clientId, application]));
  const people = new Map(seed.people.map((person) => [person.uuid, person]));
  const peopleByEmail = new Map(seed.people.map((person) => [normalizeEmail(person.email), person]));
  const teams = new Map(seed.teams.map((team) => [team.uuid, team]));
  return {
    application: (clientId) => applications.get(clientId),
    clustersOf: (account) => seed.clusters.filter(({ owner }) => owner === account),
    person: (uuid) => people.get(uuid),
    personByEmail: (email) => peopleByEmail.get(normalizeEmail(email)),
    team: (uuid) => teams.get(uuid),
  };
}

/** The address in the form in which it is compared. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** Whether the sign-in form of a browser accepts the text as an e-mail address (https://html.spec.whatwg.org/#valid-e-mail-address). */
export function isEmail(text: string): boolean {
  return text.length <= 254 && EMAIL.test(text);
}

const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;

/**
 * Completes the sentence "<URL> …"; undefined for a URL that can be registered: absolute, ASCII, without a fragment (RFC 6749
 * §3.1.2), and http, https or a private-use scheme (RFC 8252 §7.1).
 */
export function callbackUrlProblem(text: string): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'is not an absolute ASCII URL';
  if (text.includes('#')) return 'has a fragment';
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' || protocol.includes('.')
    ? undefined
    : 'has a scheme other than http, https or a private-use scheme, which contains a dot';
}

function matching(pattern: RegExp, problem: string): JsonDecoder<string> {
  return decodeTextThat((text) => (pattern.test(text) ? undefined : problem));
}

function integerFrom(least: number, most: number, what: string): JsonDecoder<number> {
  return (value, path) => {
    const read = decodeInteger(value, path);
    return read >= least && read <= most ? read : fail(`${path} is not ${what} from ${least} to ${most}`);
  };
}

function filled<T>(decode: JsonDecoder<readonly T[]>): JsonDecoder<readonly T[]> {
  return (value, path) => {
    const list = decode(value, path);
    return list.length === 0 ? fail(`${path} is empty`) : list;
  };
}

const uuidText = matching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'is not a UUID');

/** What may stand in data, in a snapshot and in a saved state, and therefore on the terminal and in headers. */
export const RULES = {
  name: matching(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u, 'is not a name of 1 to 255 printable characters'),
  email: decodeTextThat((text) => (isEmail(text) ? undefined : 'is not an e-mail address that a browser accepts')),
  // Nobody sees a space at an end, or a character without a glyph, in the password that the sandbox prints.
  password: matching(
    /^(?=.{1,256}$)[^\s\p{C}]([^\p{C}\p{Zl}\p{Zp}]*[^\s\p{C}])?$/u,
    'is not 1 to 256 printable characters without a space at an end',
  ),
  /** UUIDs are compared as text, in lower case. */
  uuid: ((value, path) => uuidText(value, path).toLowerCase()) satisfies JsonDecoder<string>,
  credential: matching(/^[\x21-\x7e]{1,256}$/, 'is not 1 to 256 visible ASCII characters'),
  callbackUrls: filled(arrayOf(decodeTextThat(callbackUrlProblem))),
  clusterName: matching(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/,
    'is not a name of 1 to 63 letters, digits, hyphens and underscores',
  ),
  engine: enumOf('postgresql', 'redis'),
  id: integerFrom(1, 2 ** 48, 'an id'),
} as const;

interface Parts {
  readonly people: readonly { readonly email: string; readonly uuid?: string; readonly teams?: readonly string[] }[];
  readonly teams: readonly { readonly name: string; readonly uuid?: string }[];
  readonly applications: readonly { readonly name: string; readonly clientId?: string }[];
  readonly clusters: readonly { readonly name: string; readonly uuid?: string; readonly owner?: string }[];
  readonly droplets: readonly { readonly id?: number; readonly account?: string }[];
}

/** Throws for a list that may not be empty, for equal names or ids, and for a reference to a missing person or team. */
export function requireConsistency({ people, teams, applications, clusters, droplets }: Parts, prefix = ''): void {
  const problem = (text: string): never => fail(`${prefix}${text}`);
  const requireDistinct = (places: readonly Place[]): void => {
    const seen = new Map<string | number, string>();
    for (const [path, value] of places) {
      const first = seen.get(value);
      if (first !== undefined) problem(`${path} is equal to ${first}`);
      seen.set(value, path);
    }
  };
  if (people.length === 0) problem('people is empty');
  if (applications.length === 0) problem('applications is empty');
  // Each of these names an account.
  requireDistinct([
    ...placesOf('people', people, 'email', normalizeEmail),
    ...placesOf('people', people, 'uuid'),
    ...placesOf('teams', teams, 'uuid'),
    ...placesOf('teams', teams, 'name', normalizeEmail),
  ]);
  requireDistinct(placesOf('applications', applications, 'name'));
  requireDistinct(placesOf('applications', applications, 'clientId'));
  requireDistinct(placesOf('clusters', clusters, 'name'));
  requireDistinct(placesOf('clusters', clusters, 'uuid'));
  requireDistinct(placesOf('droplets', droplets, 'id'));
  const [findAccount, findTeam] = [accountFinder(people, teams), accountFinder([], teams)];
  for (const [at, { teams: names = [] }] of people.entries()) {
    const found = names.map((text) => findTeam(text));
    for (const [each, team] of found.entries()) {
      if (team === undefined) problem(`people[${at}].teams[${each}] is not a team of the data`);
      if (found.indexOf(team) !== each) problem(`people[${at}].teams[${each}] is a team that is given before`);
    }
  }
  const owners = [...placesOf('clusters', clusters, 'owner'), ...placesOf('droplets', droplets, 'account')];
  const missing = owners.find(([, text]) => findAccount(String(text)) === undefined);
  if (missing !== undefined) problem(`${missing[0]} is not a person or team of the sandbox`);
}

/** Finds the person or team that an e-mail address, the name of a team or a UUID means. */
export function accountFinder<
  P extends { readonly email: string; readonly uuid?: string },
  T extends { readonly name: string; readonly uuid?: string },
>(people: readonly P[], teams: readonly T[]): (text: string) => P | T | undefined {
  const accounts = new Map<string, P | T>();
  const add = (account: P | T, ...names: readonly (string | undefined)[]): void => {
    for (const text of names) if (text !== undefined) accounts.set(normalizeEmail(text), account);
  };
  for (const team of teams) add(team, team.name, team.uuid);
  for (const person of people) add(person, person.email, person.uuid);
  return (text) => accounts.get(normalizeEmail(text));
}

type Place = readonly [path: string, value: string | number];

function placesOf<K extends string>(
  list: string,
  rows: readonly { readonly [key in K]?: string | number }[],
  member: K,
  normalize: (text: string) => string = (text) => text,
): readonly Place[] {
  return rows.flatMap((row, at): readonly Place[] => {
    const value = row[member];
    if (value === undefined) return [];
    return [[`${list}[${at}].${member}`, typeof value === 'string' ? normalize(value) : value]];
  });
}

function fail(message: string): never {
  throw new JsonDecodeError(message);
}

/** A JSON object without members that the response has already. */
function additional(taken: readonly string[]): JsonDecoder<Readonly<Record<string, unknown>>> {
  return (value, path) => {
    const text = jsonOf(decodeAnyObject(value, path));
    if (text === undefined) return fail(`${path} is not JSON`);
    if (text.length > MAX_ADDITIONAL) fail(`${path} has more than ${MAX_ADDITIONAL} characters of JSON`);
    // The members are those of the JSON, which a method toJSON determines.
    const given = { ...decodeAnyObject(JSON.parse(text), path) };
    const known = Object.keys(given).find((member) => taken.includes(member));
    return known === undefined ? given : fail(`${path}.${known} is a member of the response already`);
  };
}

/** Undefined for a value with a cycle, nested too deep, or with a number that JSON does not have. */
function jsonOf(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

const MAX_ADDITIONAL = 65_536;
const TOKEN_RESPONSE = ['access_token', 'token_type', 'expires_in', 'refresh_token', 'scope', 'info'];
const DROPLET = Object.keys(
  JSON.parse(
    serializeDroplet(
      {
        id: 1,
        account: '',
        name: '',
        region: '',
        size: '',
        image: 0,
        tags: [],
        features: [],
        createdAt: 0,
        activeAt: 0,
      },
      0,
    ),
  ),
);

export const decodeOutsideSpecification = objectOf<OutsideSpecification>({
  tokenResponse: optional(additional(TOKEN_RESPONSE)),
  droplet: optional(additional(DROPLET)),
});

export const decodeSeedClock = objectOf<SandboxDataClock>({
  startAt: optional(
    decodeTextThat((text) =>
      isTime(text)
        ? undefined
        : 'is not a time with a time zone, such as 2030-01-31T12:00:00Z, from the year 1970 to 9998',
    ),
  ),
  isFrozen: optional(decodeBoolean),
});

/** `Date.parse` reads a day that a month does not have as one of the next month. */
function isTime(text: string): boolean {
  const [, date = ''] = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  const day = Date.parse(`${date}T00:00Z`);
  return !Number.isNaN(day) && new Date(day).toISOString().startsWith(date) && isClockTime(Date.parse(text));
}

const decodeSeedDroplet = objectOf<SeedDroplet>({
  account: RULES.uuid,
  name: RULES.name,
  region: RULES.name,
  size: RULES.name,
  image: decodeInteger,
  tags: arrayOf(RULES.name),
  age: integerFrom(0, MAX_DURATION_MS, 'an age in milliseconds'),
  id: optional(RULES.id),
});

const decodeSeedParts = objectOf<Seed>({
  people: arrayOf(
    objectOf<Person>({
      uuid: RULES.uuid,
      name: RULES.name,
      email: RULES.email,
      password: RULES.password,
      teams: arrayOf(RULES.uuid),
    }),
  ),
  teams: arrayOf(objectOf<Team>({ uuid: RULES.uuid, name: RULES.name })),
  applications: arrayOf(
    objectOf<Application>({
      name: RULES.name,
      clientId: RULES.credential,
      clientSecret: RULES.credential,
      callbackUrls: RULES.callbackUrls,
    }),
  ),
  clusters: arrayOf(
    objectOf<Cluster>({
      uuid: RULES.uuid,
      name: RULES.clusterName,
      engine: RULES.engine,
      // A database server may report any version.
      version: RULES.name,
      owner: RULES.uuid,
    }),
  ),
  droplets: arrayOf((value, path) => settleDroplet(decodeSeedDroplet(value, path), path)),
  firstId: RULES.id,
  clock: optional(decodeSeedClock),
  outsideSpecification: optional(decodeOutsideSpecification),
});

export const decodeSeed: JsonDecoder<Seed> = (value, path) => {
  const seed = decodeSeedParts(value, path);
  requireConsistency(seed, path === '' ? '' : `${path}.`);
  return seed;
};
