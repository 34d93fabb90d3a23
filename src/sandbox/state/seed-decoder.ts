import type { Application, Cluster, Person, Team } from '../records.ts';
import type { Seed, SeedDroplet } from '../seed.ts';
import { list, object, oneOf, text, whole } from './decoder.ts';

export const decodeSeed = object<Seed>({
  people: list(object<Person>({ uuid: text, name: text, email: text, password: text, teams: list(text) })),
  teams: list(object<Team>({ uuid: text, name: text })),
  applications: list(object<Application>({ name: text, clientId: text, clientSecret: text, callbackUrls: list(text) })),
  clusters: list(
    object<Cluster>({
      uuid: text,
      name: text,
      engine: oneOf('postgresql', 'redis'),
      version: text,
    }),
  ),
  droplets: list(
    object<SeedDroplet>({
      account: text,
      name: text,
      region: text,
      size: text,
      image: whole,
      tags: list(text),
      age: whole,
    }),
  ),
  firstId: whole,
});
