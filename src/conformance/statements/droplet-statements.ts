import { readStringField } from '../../base/json.ts';
import {
  buildOnlineMigrationApiPath,
  conformanceDropletAttributes,
  conformanceMigrationSource,
  createUniqueConformanceName,
  fetchAllDropletNames,
  readCreatedDroplets,
  readRegionSizeAndImageSlugs,
  requireCreatedDropletCount,
  requireTestedCluster,
  sendTestApiRequest,
  unknownClusterUuid,
  withTestDroplets,
} from '../api-requests.ts';
import {
  type ConformanceResponse,
  isSuccessfulResponse,
  readConformanceResponseJson,
  requireRefusedRequest,
  requireResponseCondition,
} from '../conformance-response.ts';
import type { ServerUnderTest } from '../server-under-test.ts';
import type { ConformanceStatement } from '../statement.ts';
import { obtainReadOnlyTestToken, obtainReadWriteToken } from '../tokens.ts';

/** The statements about creating droplets and about scopes (spec §2, §4.5, §5.4). */
export const dropletConformanceStatements: readonly ConformanceStatement[] = [
  {
    number: '28a',
    section: '2',
    text: 'With the scope read, POST is refused and nothing is created.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const token = await obtainReadOnlyTestToken(server);
      const name = createUniqueConformanceName(server);
      const json = { name, ...conformanceDropletAttributes };
      const response = await sendTestApiRequest(server, token, { method: 'POST', path: '/v2/droplets', json });
      requireRefusedRequest(response, 'a refusal with the scope read');
      await requireNames(server, response, (names) => !names.includes(name), 'no droplet of that name');
    },
  },
  {
    number: '28b',
    section: '2',
    text: 'With the scope read, DELETE is refused and nothing is deleted.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const token = await obtainReadOnlyTestToken(server);
      const name = createUniqueConformanceName(server);
      await withTestDroplets(server, { name, ...conformanceDropletAttributes }, async (created, [droplet]) => {
        requireCreatedDropletCount(server, created, 1);
        const path = `/v2/droplets/${String(droplet?.id)}`;
        const response = await sendTestApiRequest(server, token, { method: 'DELETE', path });
        requireRefusedRequest(response, 'a refusal with the scope read');
        await requireNames(server, response, (names) => names.includes(name), 'the droplet still exists');
      });
    },
  },
  {
    number: '28c',
    section: '2',
    text: 'With the scope read, PUT is refused and no migration starts.',
    needs: ['client', 'secret', 'consent', 'cluster'],
    play: async (server) => {
      const token = await obtainReadOnlyTestToken(server);
      const path = buildOnlineMigrationApiPath(requireTestedCluster(server));
      const known = await sendTestApiRequest(server, token, { method: 'GET', path });
      const before = readStringField(readConformanceResponseJson(known) ?? {}, 'id') ?? 'no id';
      const response = await sendTestApiRequest(server, token, {
        method: 'PUT',
        path,
        json: { source: conformanceMigrationSource },
      });
      requireRefusedRequest(response, 'a refusal with the scope read');
      const later = await sendTestApiRequest(server, token, { method: 'GET', path });
      requireResponseCondition(later.body.includes(before) || !isSuccessfulResponse(later), 'no new migration', later);
    },
  },
  {
    number: '29',
    section: '2',
    text: 'The scope `read write` permits POST and DELETE in addition to reading.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const token = await obtainReadWriteToken(server);
      const name = createUniqueConformanceName(server);
      const created = await withTestDroplets(server, { name, ...conformanceDropletAttributes }, async (response) => {
        requireCreatedDropletCount(server, response, 1);
        await requireNames(server, response, (names) => names.includes(name), 'the new droplet in the list');
        return response;
      });
      const names = await fetchAllDropletNames(server, token);
      requireResponseCondition(!names.includes(name), 'no droplet of that name after DELETE', created);
    },
  },
  {
    number: '30',
    section: '2',
    text: 'name is the name of the droplet that is created.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const name = createUniqueConformanceName(server);
      await withTestDroplets(server, { name, ...conformanceDropletAttributes }, async (response) => {
        requireCreatedDropletCount(server, response, 1);
        await requireNames(server, response, (names) => count(names, name) === 1, 'one droplet of that name');
      });
    },
  },
  {
    number: '31',
    section: '2',
    text: 'names creates one droplet for each name, with identical other attributes.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const names = ['a', 'b', 'c'].map((end) => `${createUniqueConformanceName(server)}-${end}`);
      await withTestDroplets(server, { names, ...conformanceDropletAttributes }, async (response, droplets) => {
        requireCreatedDropletCount(server, response, names.length);
        const created = droplets.map((droplet) => readStringField(droplet, 'name') ?? '');
        requireResponseCondition(
          names.every((name) => count(created, name) === 1),
          'one droplet for each name',
          response,
        );
        const attributes = new Set(droplets.map((droplet) => JSON.stringify(readRegionSizeAndImageSlugs(droplet))));
        requireResponseCondition(attributes.size === 1, 'identical region, size and image', response);
        await requireNames(
          server,
          response,
          (all) => names.every((name) => count(all, name) === 1),
          'all names listed',
        );
      });
    },
  },
  {
    number: '32',
    section: '2',
    text: 'names is given instead of name, not with it.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const [name, other] = [createUniqueConformanceName(server), createUniqueConformanceName(server)];
      await withTestDroplets(server, { name, names: [other], ...conformanceDropletAttributes }, (response) => {
        requireRefusedRequest(response, 'a refusal of a request with name and names');
      });
    },
  },
  {
    number: '33',
    section: '2',
    text: 'region, size and image are slugs, and the droplet has them.',
    needs: ['writes', 'token'],
    play: async (server) => {
      await withTestDroplets(
        server,
        { name: createUniqueConformanceName(server), ...conformanceDropletAttributes },
        (response, [droplet]) => {
          requireCreatedDropletCount(server, response, 1);
          const stored = droplet === undefined ? {} : readRegionSizeAndImageSlugs(droplet);
          for (const [name, slug] of Object.entries(conformanceDropletAttributes))
            requireResponseCondition(stored[name] === slug, `${name} ${slug}`, response);
        },
      );
      const unknown = {
        name: createUniqueConformanceName(server),
        ...conformanceDropletAttributes,
        size: 'no-such-size',
      };
      await withTestDroplets(server, unknown, (response) => {
        requireRefusedRequest(response, 'a refusal of an unknown size slug');
      });
    },
  },
  {
    number: '89',
    section: '4.5',
    text: 'POST /v2/droplets needs the header Content-Type: application/json.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const json = JSON.stringify({ name: createUniqueConformanceName(server), ...conformanceDropletAttributes });
      const headers = { 'content-type': 'text/plain' };
      const token = await obtainReadWriteToken(server);
      const response = await sendTestApiRequest(server, token, { method: 'POST', path: '/v2/droplets', json, headers });
      for (const droplet of readCreatedDroplets(response)) server.left.push(`droplet ${String(droplet.id)}`);
      requireRefusedRequest(response, 'a refusal of a request with a Content-Type other than application/json');
    },
  },
  {
    number: '93',
    section: '4.5',
    text: 'The deletion of a droplet is available.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const token = await obtainReadWriteToken(server);
      await withTestDroplets(
        server,
        { name: createUniqueConformanceName(server), ...conformanceDropletAttributes },
        (response) => requireCreatedDropletCount(server, response, 1),
      );
      const request = { method: 'GET', path: '/v2/droplets' };
      const response = await sendTestApiRequest(server, token, request);
      requireResponseCondition(server.left.length === 0, 'a deletion at DELETE /v2/droplets/{id}', response);
    },
  },
  {
    number: '113',
    section: '5',
    text: 'Any request that changes the account needs the scope `read write`.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const token = await obtainReadOnlyTestToken(server);
      for (const [method, path] of changes) {
        const response = await sendTestApiRequest(server, token, { method, path, json: {} });
        requireRefusedRequest(response, `a refusal of ${method} with the scope read`);
      }
    },
  },
];

const changes = [
  ['POST', '/v2/droplets'],
  ['DELETE', '/v2/droplets/1'],
  ['DELETE', '/v2/droplets?tag_name=conformance-no-such-tag'],
  ['PUT', buildOnlineMigrationApiPath(unknownClusterUuid)],
] as const;

async function requireNames(
  server: ServerUnderTest,
  response: ConformanceResponse,
  holds: (names: readonly string[]) => boolean,
  expected: string,
): Promise<void> {
  const names = await fetchAllDropletNames(server, await obtainReadWriteToken(server));
  requireResponseCondition(holds(names), expected, response);
}

function count(names: readonly string[], wanted: string): number {
  return names.filter((name) => name === wanted).length;
}
