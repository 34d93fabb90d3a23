import type { RegisteredApplication, SandboxCluster, SandboxPerson, SandboxTeam } from '../records.ts';
import type { SandboxSeedData, SandboxSeedDroplet } from '../seed-data.ts';
import {
  createArrayDecoder,
  createEnumDecoder,
  createObjectDecoder,
  createOptionalMemberDecoder,
  integerDecoder,
  stringDecoder,
} from './decoder.ts';

export const decodeSandboxSeedData = createObjectDecoder<SandboxSeedData>({
  people: createArrayDecoder(
    createObjectDecoder<SandboxPerson>({
      uuid: stringDecoder,
      name: stringDecoder,
      email: stringDecoder,
      password: stringDecoder,
      teams: createArrayDecoder(stringDecoder),
    }),
  ),
  teams: createArrayDecoder(createObjectDecoder<SandboxTeam>({ uuid: stringDecoder, name: stringDecoder })),
  applications: createArrayDecoder(
    createObjectDecoder<RegisteredApplication>({
      name: stringDecoder,
      clientId: stringDecoder,
      clientSecret: stringDecoder,
      callbackUrls: createArrayDecoder(stringDecoder),
    }),
  ),
  clusters: createArrayDecoder(
    createObjectDecoder<SandboxCluster>({
      uuid: stringDecoder,
      name: stringDecoder,
      engine: createEnumDecoder('postgresql', 'redis'),
      version: stringDecoder,
      owner: createOptionalMemberDecoder(stringDecoder),
    }),
  ),
  droplets: createArrayDecoder(
    createObjectDecoder<SandboxSeedDroplet>({
      account: stringDecoder,
      name: stringDecoder,
      region: stringDecoder,
      size: stringDecoder,
      image: integerDecoder,
      tags: createArrayDecoder(stringDecoder),
      age: integerDecoder,
    }),
  ),
  firstId: integerDecoder,
});
