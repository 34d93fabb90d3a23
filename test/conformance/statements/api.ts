import { readStringField } from '../../../src/base/json.ts';
import {
  callApi,
  createdDroplets,
  dropletAttributes,
  dropletNames,
  migrationPath,
  migrationSource,
  requireCluster,
  requireCreated,
  requireItems,
  requireSome,
  slugsOf,
  uniqueName,
  unknownClusterUuid,
  withDroplets,
} from '../api.ts';
import { freshTokens, madeUpSecret, readOnlyToken, readToken, writeToken } from '../grants.ts';
import {
  check,
  errorCodeOf,
  type HttpResponse,
  isSuccess,
  jsonOf,
  requireNotFound,
  requireRefused,
  requireSuccess,
} from '../response.ts';
import { otherUser } from '../sandbox.ts';
import type { Server } from '../server.ts';
import type { Statement } from '../statement.ts';

/** The statements about the lists, the bearer token and the errors of the resource API. */
export const apiStatements: readonly Statement[] = [
  {
    number: '7',
    rule: 'S7.1',
    text: 'An access token is a bearer token for the paths below /v2/.',
    needs: ['token'],
    play: async (server) => {
      const request = { method: 'GET', path: '/v2/actions' };
      const response = await callApi(server, await readToken(server), request);
      requireSuccess(response, 'a success status with the bearer token');
      const without = await callApi(server, undefined, request);
      requireRefused(without, 'a refusal of a request without a bearer token');
    },
  },
  {
    number: '8a',
    rule: 'S8.1',
    text: 'The operations to create droplets and to start a migration exist.',
    needs: [],
    play: async (server) => {
      for (const request of operations) {
        const response = await callApi(server, undefined, request);
        const expected = 'a refusal because the token is missing, not because of path or method';
        check(!isSuccess(response) && ![0, 405, 501].includes(response.status), expected, response);
      }
    },
  },
  {
    number: '8b',
    rule: 'S7.2',
    text: 'The operations to list actions and droplets exist.',
    needs: ['token'],
    play: async (server) => {
      for (const key of listKeys) await requireList(server, key);
    },
  },
  {
    number: '27',
    rule: 'S3.2',
    text: 'A token that may read permits GET and HEAD.',
    needs: ['token'],
    play: async (server) => {
      const token = await readToken(server);
      for (const method of ['GET', 'HEAD']) {
        const response = await callApi(server, token, { method, path: '/v2/droplets' });
        requireSuccess(response, `${method} with a success status`);
      }
    },
  },
  {
    number: '46',
    rule: 'S7.5',
    text: 'The not-found error of the resource API has the strings id and message.',
    needs: [],
    play: async (server) => requireNotFound(await sendWithUnknownToken(server)),
  },
  {
    number: '87',
    rule: 'S7.2',
    text: 'GET /v2/actions lists the actions of the account, with a token that may read.',
    needs: ['token'],
    play: (server) => requireList(server, 'actions'),
  },
  {
    number: '88',
    rule: 'S7.3',
    text: 'GET /v2/droplets lists the droplets of the account, with a token that may read.',
    needs: ['token'],
    play: (server) => requireList(server, 'droplets'),
  },
  {
    number: '91',
    rule: 'S7.4',
    text: 'Droplets and actions are those of the account of the token.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      const one = await readToken(server);
      const other = (await freshTokens(server, { person: otherUser(server) })).accessToken;
      for (const key of listKeys) {
        const request = { method: 'GET', path: `/v2/${key}`, query: { per_page: '200' } };
        const [mine, theirs] = [await callApi(server, one, request), await callApi(server, other, request)];
        const ids = new Set(requireSome(requireItems(mine, key), key).map(({ id }) => id));
        const shared = requireItems(theirs, key).some(({ id }) => ids.has(id));
        check(!shared, `no ${key} of another account`, theirs);
        const [id] = ids;
        const single = await callApi(server, other, { method: 'GET', path: `/v2/${key}/${String(id)}` });
        requireRefused(single, `a refusal of ${key} of another account by id`);
      }
    },
  },
  {
    number: '110',
    rule: 'S7.1',
    text: 'A call of the resource API carries the header Authorization: Bearer.',
    needs: ['token'],
    play: async (server) => {
      const token = await readToken(server);
      for (const scheme of ['Basic', 'Token', ''] as const) {
        const authorization = scheme === '' ? {} : { authorization: `${scheme} ${server.unique()}` };
        const request = { method: 'GET', path: '/v2/actions', headers: authorization };
        const response = await callApi(server, undefined, request);
        requireRefused(response, 'a refusal of a request without a bearer token');
      }
      // The token of a session is not sent in a URL, because servers write URLs to their logs.
      if (server.accessToken !== undefined) return;
      const query = await server.request({
        origin: 'api',
        method: 'GET',
        path: '/v2/actions',
        query: { access_token: token },
      });
      requireRefused(query, 'a refusal of a token in the query');
    },
  },
  {
    number: '116',
    rule: 'S7.5',
    text: 'An unknown access token is answered with id=not_found and a message.',
    needs: [],
    play: async (server) => requireNotFound(await sendWithUnknownToken(server)),
  },
  {
    number: '123',
    rule: 'S7.5',
    text: 'The message of id=not_found says that the resource could not be found.',
    needs: [],
    play: async (server) => {
      const response = await sendWithUnknownToken(server);
      const message = readStringField(jsonOf(response) ?? {}, 'message') ?? '';
      const said = /resource/i.test(message) && /not (be )?found|no such/i.test(message);
      check(said, 'a message that the resource could not be found', response);
    },
  },
  {
    number: '128a',
    rule: 'S1.5',
    text: 'The paths of the resource API begin with /v2.',
    needs: ['token'],
    play: async (server) => {
      const token = await readToken(server);
      const response = await callApi(server, token, { method: 'GET', path: '/actions' });
      requireRefused(response, 'no list without /v2');
      await requireList(server, 'actions');
    },
  },
  {
    number: '128b',
    rule: 'S1.4',
    text: 'The paths of the authorization server begin with /v1/oauth.',
    needs: [],
    play: async (server) => {
      for (const path of ['/v1/oauth/token', '/v1/oauth/revoke']) {
        const response = await server.request({ method: 'POST', path });
        check(errorCodeOf(response) !== undefined, 'a JSON body with an error', response);
      }
      const response = await server.request({ method: 'GET', path: '/v1/oauth/authorize' });
      check(![404, 0].includes(response.status), 'an authorization endpoint', response);
    },
  },
];

const listKeys = ['actions', 'droplets'] as const;

const operations = [
  { method: 'POST', path: '/v2/droplets', json: {} },
  { method: 'PUT', path: migrationPath(unknownClusterUuid), json: {} },
] as const;

async function requireList(server: Server, key: (typeof listKeys)[number]): Promise<void> {
  const token = await readToken(server);
  const response = await callApi(server, token, { method: 'GET', path: `/v2/${key}` });
  requireSuccess(response, `a list of ${key}`);
}

async function sendWithUnknownToken(server: Server) {
  return callApi(server, madeUpSecret(server, '[unknown token]'), {
    method: 'GET',
    path: '/v2/actions',
  });
}

/** The statements about creating droplets and about scopes. */
export const dropletStatements: readonly Statement[] = [
  {
    number: '28a',
    rule: 'S3.3',
    text: 'With the scope read, POST is refused and nothing is created.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const token = await readOnlyToken(server);
      const name = uniqueName(server);
      const json = { name, ...dropletAttributes };
      const response = await callApi(server, token, { method: 'POST', path: '/v2/droplets', json });
      requireRefused(response, 'a refusal with the scope read');
      await requireNames(server, response, (names) => !names.includes(name), 'no droplet of that name');
    },
  },
  {
    number: '28b',
    rule: 'S3.3',
    text: 'With the scope read, DELETE is refused and nothing is deleted.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const token = await readOnlyToken(server);
      const name = uniqueName(server);
      await withDroplets(server, { name, ...dropletAttributes }, async (created, [droplet]) => {
        requireCreated(server, created, 1);
        const path = `/v2/droplets/${String(droplet?.id)}`;
        const response = await callApi(server, token, { method: 'DELETE', path });
        requireRefused(response, 'a refusal with the scope read');
        await requireNames(server, response, (names) => names.includes(name), 'the droplet still exists');
      });
    },
  },
  {
    number: '28c',
    rule: 'S3.3',
    text: 'With the scope read, PUT is refused and no migration starts.',
    needs: ['client', 'secret', 'consent', 'cluster'],
    play: async (server) => {
      const token = await readOnlyToken(server);
      const path = migrationPath(requireCluster(server));
      const known = await callApi(server, token, { method: 'GET', path });
      const before = readStringField(jsonOf(known) ?? {}, 'id') ?? 'no id';
      const response = await callApi(server, token, {
        method: 'PUT',
        path,
        json: { source: migrationSource },
      });
      requireRefused(response, 'a refusal with the scope read');
      const later = await callApi(server, token, { method: 'GET', path });
      check(later.body.includes(before) || !isSuccess(later), 'no new migration', later);
    },
  },
  {
    number: '29',
    rule: 'S3.3',
    text: 'The scope `read write` permits POST and DELETE in addition to reading.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const token = await writeToken(server);
      const name = uniqueName(server);
      const created = await withDroplets(server, { name, ...dropletAttributes }, async (response) => {
        requireCreated(server, response, 1);
        await requireNames(server, response, (names) => names.includes(name), 'the new droplet in the list');
        return response;
      });
      const names = await dropletNames(server, token);
      check(!names.includes(name), 'no droplet of that name after DELETE', created);
    },
  },
  {
    number: '30',
    rule: 'S8.2',
    text: 'name is the name of the droplet that is created.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const name = uniqueName(server);
      await withDroplets(server, { name, ...dropletAttributes }, async (response) => {
        requireCreated(server, response, 1);
        await requireNames(server, response, (names) => count(names, name) === 1, 'one droplet of that name');
      });
    },
  },
  {
    number: '31',
    rule: 'S8.2',
    text: 'names creates one droplet for each name, with identical other attributes.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const names = ['a', 'b', 'c'].map((end) => `${uniqueName(server)}-${end}`);
      await withDroplets(server, { names, ...dropletAttributes }, async (response, droplets) => {
        requireCreated(server, response, names.length);
        const created = droplets.map((droplet) => readStringField(droplet, 'name') ?? '');
        check(
          names.every((name) => count(created, name) === 1),
          'one droplet for each name',
          response,
        );
        const attributes = new Set(droplets.map((droplet) => JSON.stringify(slugsOf(droplet))));
        check(attributes.size === 1, 'identical region, size and image', response);
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
    rule: 'S8.2',
    text: 'names is given instead of name, not with it.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const [name, other] = [uniqueName(server), uniqueName(server)];
      await withDroplets(server, { name, names: [other], ...dropletAttributes }, (response) => {
        requireRefused(response, 'a refusal of a request with name and names');
      });
    },
  },
  {
    number: '33',
    rule: 'S8.3',
    text: 'region, size and image are slugs, and the droplet has them.',
    needs: ['writes', 'token'],
    play: async (server) => {
      await withDroplets(server, { name: uniqueName(server), ...dropletAttributes }, (response, [droplet]) => {
        requireCreated(server, response, 1);
        const stored = droplet === undefined ? {} : slugsOf(droplet);
        for (const [name, slug] of Object.entries(dropletAttributes))
          check(stored[name] === slug, `${name} ${slug}`, response);
      });
      const unknown = {
        name: uniqueName(server),
        ...dropletAttributes,
        size: 'no-such-size',
      };
      await withDroplets(server, unknown, (response) => {
        requireRefused(response, 'a refusal of an unknown size slug');
      });
    },
  },
  {
    number: '89',
    rule: 'S7.6',
    text: 'POST /v2/droplets needs the header Content-Type: application/json.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const json = JSON.stringify({ name: uniqueName(server), ...dropletAttributes });
      const headers = { 'content-type': 'text/plain' };
      const token = await writeToken(server);
      const response = await callApi(server, token, { method: 'POST', path: '/v2/droplets', json, headers });
      for (const droplet of createdDroplets(response)) server.left.push(`droplet ${String(droplet.id)}`);
      requireRefused(response, 'a refusal of a request with a Content-Type other than application/json');
    },
  },
  {
    number: '93',
    rule: 'S8.4',
    text: 'The deletion of a droplet is available.',
    needs: ['writes', 'token'],
    play: async (server) => {
      const token = await writeToken(server);
      await withDroplets(server, { name: uniqueName(server), ...dropletAttributes }, (response) =>
        requireCreated(server, response, 1),
      );
      const request = { method: 'GET', path: '/v2/droplets' };
      const response = await callApi(server, token, request);
      check(server.left.length === 0, 'a deletion at DELETE /v2/droplets/{id}', response);
    },
  },
  {
    number: '113',
    rule: 'S3.3',
    text: 'Any request that changes the account needs the scope `read write`.',
    needs: ['client', 'secret', 'consent'],
    play: async (server) => {
      const token = await readOnlyToken(server);
      for (const [method, path] of changes) {
        const response = await callApi(server, token, { method, path, json: {} });
        requireRefused(response, `a refusal of ${method} with the scope read`);
      }
    },
  },
];

const changes = [
  ['POST', '/v2/droplets'],
  ['DELETE', '/v2/droplets/1'],
  ['DELETE', '/v2/droplets?tag_name=conformance-no-such-tag'],
  ['PUT', migrationPath(unknownClusterUuid)],
] as const;

async function requireNames(
  server: Server,
  response: HttpResponse,
  holds: (names: readonly string[]) => boolean,
  expected: string,
): Promise<void> {
  const names = await dropletNames(server, await writeToken(server));
  check(holds(names), expected, response);
}

function count(names: readonly string[], wanted: string): number {
  return names.filter((name) => name === wanted).length;
}
