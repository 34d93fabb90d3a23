import { readStringField } from '../../base/json.ts';
import {
  buildOnlineMigrationApiPath,
  requireListItemsOfResponse,
  sendTestApiRequest,
  unknownClusterUuid,
} from '../api-requests.ts';
import {
  isSuccessfulResponse,
  readConformanceErrorCode,
  readConformanceResponseJson,
  requireNotFoundError,
  requireRefusedRequest,
  requireResponseCondition,
  requireSuccessfulResponse,
} from '../conformance-response.ts';
import { obtainPrerequisiteTokens } from '../grants.ts';
import { createMadeUpSecret } from '../made-up-codes.ts';
import { requireSandboxUserInAnyTeam } from '../sandbox-people.ts';
import type { ServerUnderTest } from '../server-under-test.ts';
import type { ConformanceStatement } from '../statement.ts';
import { obtainTokenThatCanRead } from '../tokens.ts';

/** The statements about the lists, the bearer token and the errors of the resource API (spec §2, §4.5, §5, §7, §9). */
export const apiConformanceStatements: readonly ConformanceStatement[] = [
  {
    number: '7',
    section: '1',
    text: 'An access token is a bearer token for the paths below /v2/.',
    needs: ['token'],
    play: async (server) => {
      const request = { method: 'GET', path: '/v2/actions' };
      const response = await sendTestApiRequest(server, await obtainTokenThatCanRead(server), request);
      requireSuccessfulResponse(response, 'a success status with the bearer token');
      const without = await sendTestApiRequest(server, undefined, request);
      requireRefusedRequest(without, 'a refusal of a request without a bearer token');
    },
  },
  {
    number: '8a',
    section: '1',
    text: 'The operations to create droplets and to start a migration exist.',
    needs: [],
    play: async (server) => {
      for (const request of operations) {
        const response = await sendTestApiRequest(server, undefined, request);
        const expected = 'a refusal because the token is missing, not because of path or method';
        requireResponseCondition(
          !isSuccessfulResponse(response) && ![0, 405, 501].includes(response.status),
          expected,
          response,
        );
      }
    },
  },
  {
    number: '8b',
    section: '1',
    text: 'The operations to list actions and droplets exist.',
    needs: ['token'],
    play: async (server) => {
      for (const key of listKeys) await requireList(server, key);
    },
  },
  {
    number: '27',
    section: '2',
    text: 'A token that may read permits GET and HEAD.',
    needs: ['token'],
    play: async (server) => {
      const token = await obtainTokenThatCanRead(server);
      for (const method of ['GET', 'HEAD']) {
        const response = await sendTestApiRequest(server, token, { method, path: '/v2/droplets' });
        requireSuccessfulResponse(response, `${method} with a success status`);
      }
    },
  },
  {
    number: '46',
    section: '2',
    text: 'The not-found error of the resource API has the strings id and message.',
    needs: [],
    play: async (server) => requireNotFoundError(await sendWithUnknownToken(server)),
  },
  {
    number: '87',
    section: '4.5',
    text: 'GET /v2/actions lists the actions of the account, with a token that may read.',
    needs: ['token'],
    play: (server) => requireList(server, 'actions'),
  },
  {
    number: '88',
    section: '4.5',
    text: 'GET /v2/droplets lists the droplets of the account, with a token that may read.',
    needs: ['token'],
    play: (server) => requireList(server, 'droplets'),
  },
  {
    number: '91',
    section: '4.5',
    text: 'Droplets and actions are those of the account of the token.',
    needs: ['client', 'secret', 'sandbox'],
    play: async (server) => {
      const one = await obtainTokenThatCanRead(server);
      const other = (await obtainPrerequisiteTokens(server, { person: requireSandboxUserInAnyTeam(server) }))
        .accessToken;
      for (const key of listKeys) {
        const request = { method: 'GET', path: `/v2/${key}`, query: { per_page: '200' } };
        const [mine, theirs] = [
          await sendTestApiRequest(server, one, request),
          await sendTestApiRequest(server, other, request),
        ];
        const ids = new Set(requireListItemsOfResponse(mine, key).map(({ id }) => id));
        const shared = requireListItemsOfResponse(theirs, key).some(({ id }) => ids.has(id));
        requireResponseCondition(ids.size > 0 && !shared, `no ${key} of another account`, theirs);
        const [id] = ids;
        const single = await sendTestApiRequest(server, other, { method: 'GET', path: `/v2/${key}/${String(id)}` });
        requireRefusedRequest(single, `a refusal of ${key} of another account by id`);
      }
    },
  },
  {
    number: '110',
    section: '5',
    text: 'A call of the resource API carries the header Authorization: Bearer.',
    needs: ['token'],
    play: async (server) => {
      const token = await obtainTokenThatCanRead(server);
      for (const scheme of ['Basic', 'Token', ''] as const) {
        const authorization = scheme === '' ? {} : { authorization: `${scheme} ${server.unique()}` };
        const request = { method: 'GET', path: '/v2/actions', headers: authorization };
        const response = await sendTestApiRequest(server, undefined, request);
        requireRefusedRequest(response, 'a refusal of a request without a bearer token');
      }
      // The token of a session is not sent in a URL, because servers write URLs to their logs.
      if (server.accessToken !== undefined) return;
      const query = await server.request({
        origin: 'api',
        method: 'GET',
        path: '/v2/actions',
        query: { access_token: token },
      });
      requireRefusedRequest(query, 'a refusal of a token in the query');
    },
  },
  {
    number: '116',
    section: '5',
    text: 'An unknown access token is answered with id=not_found and a message.',
    needs: [],
    play: async (server) => requireNotFoundError(await sendWithUnknownToken(server)),
  },
  {
    number: '123',
    section: '7',
    text: 'The message of id=not_found says that the resource could not be found.',
    needs: [],
    play: async (server) => {
      const response = await sendWithUnknownToken(server);
      const message = readStringField(readConformanceResponseJson(response) ?? {}, 'message') ?? '';
      const said = /resource/i.test(message) && /not (be )?found|no such/i.test(message);
      requireResponseCondition(said, 'a message that the resource could not be found', response);
    },
  },
  {
    number: '128a',
    section: '9',
    text: 'The paths of the resource API begin with /v2.',
    needs: ['token'],
    play: async (server) => {
      const token = await obtainTokenThatCanRead(server);
      const response = await sendTestApiRequest(server, token, { method: 'GET', path: '/actions' });
      requireRefusedRequest(response, 'no list without /v2');
      await requireList(server, 'actions');
    },
  },
  {
    number: '128b',
    section: '9',
    text: 'The paths of the authorization server begin with /v1/oauth.',
    needs: [],
    play: async (server) => {
      for (const path of ['/v1/oauth/token', '/v1/oauth/revoke']) {
        const response = await server.request({ method: 'POST', path });
        requireResponseCondition(
          readConformanceErrorCode(response) !== undefined,
          'a JSON body with an error',
          response,
        );
      }
      const response = await server.request({ method: 'GET', path: '/v1/oauth/authorize' });
      requireResponseCondition(![404, 0].includes(response.status), 'an authorization endpoint', response);
    },
  },
];

const listKeys = ['actions', 'droplets'] as const;

const operations = [
  { method: 'POST', path: '/v2/droplets', json: {} },
  { method: 'PUT', path: buildOnlineMigrationApiPath(unknownClusterUuid), json: {} },
] as const;

async function requireList(server: ServerUnderTest, key: (typeof listKeys)[number]): Promise<void> {
  const token = await obtainTokenThatCanRead(server);
  const response = await sendTestApiRequest(server, token, { method: 'GET', path: `/v2/${key}` });
  requireSuccessfulResponse(response, `a list of ${key}`);
}

async function sendWithUnknownToken(server: ServerUnderTest) {
  return sendTestApiRequest(server, createMadeUpSecret(server, '[unknown token]'), {
    method: 'GET',
    path: '/v2/actions',
  });
}
