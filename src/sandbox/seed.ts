import type { SandboxData, SandboxDataClock } from './data-types.ts';
import type { Application, Cluster, Person, Team } from './records.ts';
import {
  arrayOf,
  decodeAnyObject,
  decodeBoolean,
  decodeInteger,
  decodeString,
  decodeTextThat,
  enumOf,
  JsonDecodeError,
  type JsonDecoder,
  objectOf,
  optional,
} from './state/decoder.ts';
import { serializeDroplet } from './v2/resource-json.ts';

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

/** A JSON object without members that the response has already. */
function additional(taken: readonly string[]): JsonDecoder<Readonly<Record<string, unknown>>> {
  return (value, path) => {
    const given = { ...decodeAnyObject(value, path) };
    const known = Object.keys(given).find((member) => taken.includes(member));
    if (known !== undefined) throw new JsonDecodeError(`${path}.${known} is a member of the response already`);
    const text = jsonOf(given);
    if (text === undefined) throw new JsonDecodeError(`${path} is not JSON`);
    if (text.length > MAX_ADDITIONAL)
      throw new JsonDecodeError(`${path} has more than ${MAX_ADDITIONAL} characters of JSON`);
    return JSON.parse(text);
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
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
        ? undefined
        : 'is not a time with a time zone, such as 2030-01-31T12:00:00Z',
    ),
  ),
  isFrozen: optional(decodeBoolean),
});

export const decodeSeed = objectOf<Seed>({
  people: arrayOf(
    objectOf<Person>({
      uuid: decodeString,
      name: decodeString,
      email: decodeString,
      password: decodeString,
      teams: arrayOf(decodeString),
    }),
  ),
  teams: arrayOf(objectOf<Team>({ uuid: decodeString, name: decodeString })),
  applications: arrayOf(
    objectOf<Application>({
      name: decodeString,
      clientId: decodeString,
      clientSecret: decodeString,
      callbackUrls: arrayOf(decodeString),
    }),
  ),
  clusters: arrayOf(
    objectOf<Cluster>({
      uuid: decodeString,
      name: decodeString,
      engine: enumOf('postgresql', 'redis'),
      version: decodeString,
      owner: decodeString,
    }),
  ),
  droplets: arrayOf(
    objectOf<SeedDroplet>({
      account: decodeString,
      name: decodeString,
      region: decodeString,
      size: decodeString,
      image: decodeInteger,
      tags: arrayOf(decodeString),
      age: decodeInteger,
      id: optional(decodeInteger),
    }),
  ),
  firstId: decodeInteger,
  clock: optional(decodeSeedClock),
  outsideSpecification: optional(decodeOutsideSpecification),
});
