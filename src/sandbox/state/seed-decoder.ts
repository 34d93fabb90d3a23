import type { Application, Person, SandboxCluster, Team } from '../records.ts';
import type { SeedData, SeedDroplet } from '../seed-data.ts';
import { arrayOf, asInteger, asString, objectOf, oneOfValues } from './decoder.ts';

export const decodeSeed = objectOf<SeedData>({
  people: arrayOf(
    objectOf<Person>({ uuid: asString, name: asString, email: asString, password: asString, teams: arrayOf(asString) }),
  ),
  teams: arrayOf(objectOf<Team>({ uuid: asString, name: asString })),
  applications: arrayOf(
    objectOf<Application>({
      name: asString,
      clientId: asString,
      clientSecret: asString,
      callbackUrls: arrayOf(asString),
    }),
  ),
  clusters: arrayOf(
    objectOf<SandboxCluster>({
      uuid: asString,
      name: asString,
      engine: oneOfValues('postgresql', 'redis'),
      version: asString,
    }),
  ),
  droplets: arrayOf(
    objectOf<SeedDroplet>({
      account: asString,
      name: asString,
      region: asString,
      size: asString,
      image: asInteger,
      tags: arrayOf(asString),
      age: asInteger,
    }),
  ),
  firstId: asInteger,
});
