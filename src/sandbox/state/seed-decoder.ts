import type { Application, Person, SandboxCluster, Team } from '../records.ts';
import type { SeedData, SeedDroplet } from '../seed-data.ts';
import { arrayDecoder, asInteger, asString, objectOf, oneOfValues, optionalMemberDecoder } from './decoder.ts';

export const decodeSeed = objectOf<SeedData>({
  people: arrayDecoder(
    objectOf<Person>({
      uuid: asString,
      name: asString,
      email: asString,
      password: asString,
      teams: arrayDecoder(asString),
    }),
  ),
  teams: arrayDecoder(objectOf<Team>({ uuid: asString, name: asString })),
  applications: arrayDecoder(
    objectOf<Application>({
      name: asString,
      clientId: asString,
      clientSecret: asString,
      callbackUrls: arrayDecoder(asString),
    }),
  ),
  clusters: arrayDecoder(
    objectOf<SandboxCluster>({
      uuid: asString,
      name: asString,
      engine: oneOfValues('postgresql', 'redis'),
      version: asString,
      owner: optionalMemberDecoder(asString),
    }),
  ),
  droplets: arrayDecoder(
    objectOf<SeedDroplet>({
      account: asString,
      name: asString,
      region: asString,
      size: asString,
      image: asInteger,
      tags: arrayDecoder(asString),
      age: asInteger,
    }),
  ),
  firstId: asInteger,
});
