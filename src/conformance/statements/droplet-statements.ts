import { isJsonRecord, type JsonRecord, readStringField } from '../../json.ts';
import {
  dropletAttributes,
  exampleSource,
  listDropletNames,
  migrationPath,
  readCreatedDroplets,
  requireCluster,
  requireKnownForm,
  sendApiRequest,
  withCreatedDroplets,
} from '../api-requests.ts';
import { type ConformanceResponse, isSuccessful, readJsonBody, requireOfResponse } from '../conformance-response.ts';
import type { ServerUnderTest } from '../server-under-test.ts';
import type { ConformanceStatement } from '../statement.ts';
import { requireReadOnlyToken, requireWriteToken } from '../tokens.ts';

/** The statements about creating droplets and about scopes (spec §2, §4.5, §5.4). */
export const dropletStatements: readonly ConformanceStatement[] = [
  {
    number: '28a',
    section: '2',
    text: 'With the scope read, POST is refused and nothing is created.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const token = await requireReadOnlyToken(server);
      const name = uniqueName(server);
      const json = { name, ...dropletAttributes };
      const response = await sendApiRequest(server, token, { method: 'POST', path: '/v2/droplets', json });
      requireOfResponse(!isSuccessful(response), 'a refusal with the scope read', response);
      await requireNames(server, response, (names) => !names.includes(name), 'no droplet of that name');
    },
  },
  {
    number: '28b',
    section: '2',
    text: 'With the scope read, DELETE is refused and nothing is deleted.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const token = await requireReadOnlyToken(server);
      const name = uniqueName(server);
      await withCreatedDroplets(server, { name, ...dropletAttributes }, async (created, [droplet]) => {
        requireCreated(server, created, 1);
        const path = `/v2/droplets/${String(droplet?.id)}`;
        const response = await sendApiRequest(server, token, { method: 'DELETE', path });
        requireOfResponse(!isSuccessful(response), 'a refusal with the scope read', response);
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
      const token = await requireReadOnlyToken(server);
      const path = migrationPath(requireCluster(server));
      const known = await sendApiRequest(server, token, { method: 'GET', path });
      const before = readStringField(readJsonBody(known) ?? {}, 'id') ?? 'no id';
      const response = await sendApiRequest(server, token, { method: 'PUT', path, json: { source: exampleSource } });
      requireOfResponse(!isSuccessful(response), 'a refusal with the scope read', response);
      const later = await sendApiRequest(server, token, { method: 'GET', path });
      requireOfResponse(later.body.includes(before) || !isSuccessful(later), 'no new migration', later);
    },
  },
  {
    number: '29',
    section: '2',
    text: 'The scope `read write` permits POST and DELETE in addition to reading.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const token = await requireWriteToken(server);
      const name = uniqueName(server);
      const created = await withCreatedDroplets(server, { name, ...dropletAttributes }, async (response) => {
        requireCreated(server, response, 1);
        await requireNames(server, response, (names) => names.includes(name), 'the new droplet in the list');
        return response;
      });
      const names = await listDropletNames(server, token);
      requireOfResponse(!names.includes(name), 'no droplet of that name after DELETE', created);
    },
  },
  {
    number: '30',
    section: '2',
    text: 'name is the name of the droplet that is created.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const name = uniqueName(server);
      await withCreatedDroplets(server, { name, ...dropletAttributes }, async (response) => {
        requireCreated(server, response, 1);
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
      const names = ['a', 'b', 'c'].map((end) => `${uniqueName(server)}-${end}`);
      await withCreatedDroplets(server, { names, ...dropletAttributes }, async (response, droplets) => {
        requireCreated(server, response, names.length);
        const created = droplets.map((droplet) => readStringField(droplet, 'name') ?? '');
        requireOfResponse(
          names.every((name) => count(created, name) === 1),
          'one droplet for each name',
          response,
        );
        const attributes = new Set(droplets.map((droplet) => JSON.stringify(attributesOf(droplet))));
        requireOfResponse(attributes.size === 1, 'identical region, size and image', response);
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
      const [name, other] = [uniqueName(server), uniqueName(server)];
      await withCreatedDroplets(server, { name, names: [other], ...dropletAttributes }, (response) => {
        requireOfResponse(!isSuccessful(response), 'a refusal of a request with name and names', response);
      });
    },
  },
  {
    number: '33',
    section: '2',
    text: 'region, size and image are slugs, and the droplet has them.',
    needs: ['writes', 'token'],
    play: async (server) => {
      await withCreatedDroplets(server, { name: uniqueName(server), ...dropletAttributes }, (response, [droplet]) => {
        requireCreated(server, response, 1);
        const stored = droplet === undefined ? {} : attributesOf(droplet);
        for (const [name, slug] of Object.entries(dropletAttributes))
          requireOfResponse(stored[name] === slug, `${name} ${slug}`, response);
      });
      const unknown = { name: uniqueName(server), ...dropletAttributes, size: 'no-such-size' };
      await withCreatedDroplets(server, unknown, (response) => {
        requireOfResponse(!isSuccessful(response), 'a refusal of an unknown size slug', response);
      });
    },
  },
  {
    number: '89',
    section: '4.5',
    text: 'POST /v2/droplets needs the header Content-Type: application/json.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const json = JSON.stringify({ name: uniqueName(server), ...dropletAttributes });
      const headers = { 'content-type': 'text/plain' };
      const token = await requireWriteToken(server);
      const response = await sendApiRequest(server, token, { method: 'POST', path: '/v2/droplets', json, headers });
      for (const droplet of readCreatedDroplets(response)) server.left.push(`droplet ${String(droplet.id)}`);
      requireOfResponse(!isSuccessful(response), 'a refusal of another Content-Type', response);
    },
  },
  {
    number: '93',
    section: '4.5',
    text: 'The deletion of a droplet is available.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const token = await requireWriteToken(server);
      await withCreatedDroplets(server, { name: uniqueName(server), ...dropletAttributes }, (response) =>
        requireCreated(server, response, 1),
      );
      const request = { method: 'GET', path: '/v2/droplets' };
      const response = await sendApiRequest(server, token, request);
      requireOfResponse(server.left.length === 0, 'a deletion at DELETE /v2/droplets/{id}', response);
    },
  },
  {
    number: '113',
    section: '5',
    text: 'Any request that changes the account needs the scope `read write`.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const token = await requireReadOnlyToken(server);
      for (const [method, path] of changes) {
        const response = await sendApiRequest(server, token, { method, path, json: {} });
        requireOfResponse(!isSuccessful(response), `a refusal of ${method} with the scope read`, response);
      }
    },
  },
];

const changes = [
  ['POST', '/v2/droplets'],
  ['DELETE', '/v2/droplets/1'],
  ['DELETE', '/v2/droplets?tag_name=conformance-no-such-tag'],
  ['PUT', migrationPath('00000000-0000-4000-8000-000000000000')],
] as const;

export function uniqueName(server: ServerUnderTest): string {
  return `conformance-${server.unique()}`;
}

function requireCreated(server: ServerUnderTest, response: ConformanceResponse, number: number): void {
  const created = readCreatedDroplets(response);
  requireKnownForm(server, created.length > 0, response);
  requireOfResponse(isSuccessful(response) && created.length === number, `${number} created`, response);
}

async function requireNames(
  server: ServerUnderTest,
  response: ConformanceResponse,
  holds: (names: readonly string[]) => boolean,
  expected: string,
): Promise<void> {
  const names = await listDropletNames(server, await requireWriteToken(server));
  requireOfResponse(holds(names), expected, response);
}

function count(names: readonly string[], wanted: string): number {
  return names.filter((name) => name === wanted).length;
}

/** The slugs of a droplet, whose attributes are objects with a slug or slugs. */
function attributesOf(droplet: JsonRecord): JsonRecord {
  return Object.fromEntries(
    ['region', 'size', 'image'].map((name) => {
      const value = droplet[name];
      return [name, isJsonRecord(value) ? value.slug : value];
    }),
  );
}
