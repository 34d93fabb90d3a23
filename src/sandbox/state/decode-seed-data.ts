import type { RegisteredApplication, SandboxCluster, SandboxPerson, SandboxTeam } from '../records.ts';
import type { SandboxSeedData, SandboxSeedDroplet } from '../seed-data.ts';
import { createArrayDecoder, createEnumDecoder, createObjectDecoder, decodeInteger, decodeString } from './decoder.ts';

export const decodeSandboxSeedData = createObjectDecoder<SandboxSeedData>({
  people: createArrayDecoder(
    createObjectDecoder<SandboxPerson>({
      uuid: decodeString,
      name: decodeString,
      email: decodeString,
      password: decodeString,
      teams: createArrayDecoder(decodeString),
    }),
  ),
  teams: createArrayDecoder(createObjectDecoder<SandboxTeam>({ uuid: decodeString, name: decodeString })),
  applications: createArrayDecoder(
    createObjectDecoder<RegisteredApplication>({
      name: decodeString,
      clientId: decodeString,
      clientSecret: decodeString,
      callbackUrls: createArrayDecoder(decodeString),
    }),
  ),
  clusters: createArrayDecoder(
    createObjectDecoder<SandboxCluster>({
      uuid: decodeString,
      name: decodeString,
      engine: createEnumDecoder('postgresql', 'redis'),
      version: decodeString,
      owner: decodeString,
    }),
  ),
  droplets: createArrayDecoder(
    createObjectDecoder<SandboxSeedDroplet>({
      account: decodeString,
      name: decodeString,
      region: decodeString,
      size: decodeString,
      image: decodeInteger,
      tags: createArrayDecoder(decodeString),
      age: decodeInteger,
    }),
  ),
  firstId: decodeInteger,
});
