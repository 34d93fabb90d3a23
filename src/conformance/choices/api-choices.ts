import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../base/json.ts';
import type { Secret } from '../../base/secret.ts';
import { requireListItemsOfResponse, sendTestApiRequest } from '../api-requests.ts';
import { isSuccessfulResponse, readConformanceResponseJson, summarizeResponse } from '../conformance-response.ts';
import { obtainPrerequisiteTokens } from '../grants.ts';
import { createMadeUpSecret } from '../made-up-codes.ts';
import { requireSandboxUserInAnyTeam } from '../sandbox-people.ts';
import type { ServerUnderTest } from '../server-under-test.ts';
import type { SpecGapProbe } from '../statement.ts';
import { obtainReadOnlyTestToken, obtainTokenThatCanRead } from '../tokens.ts';

/** The functions that observe open choices about the resource API, its lists and its errors. */
export const apiSpecGapProbes: readonly SpecGapProbe[] = [
  {
    id: 'team-resources',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const person = requireSandboxUserInAnyTeam(server);
      const team = await obtainPrerequisiteTokens(server, { person, team: person.teams[0]?.uuid ?? '' });
      const personal = await obtainPrerequisiteTokens(server, { person });
      const [ofTeam, own] = [
        await dropletIds(server, team.accessToken),
        await dropletIds(server, personal.accessToken),
      ];
      const isSeparate = ofTeam.length > 0 && ofTeam.every((id) => !own.includes(id));
      return { 'droplets of a token of a team': isSeparate ? 'those of the team' : 'not those of the team alone' };
    },
  },
  {
    id: 'account',
    needs: ['token'],
    observe: async (server) => {
      const response = await get(server, '/v2/account');
      const { account } = readConformanceResponseJson(response) ?? {};
      const team = isJsonRecord(account) && account.team === null ? 'null' : 'present or absent';
      return { 'GET /v2/account': summarizeResponse(response), 'team of a personal token': team };
    },
  },
  {
    id: 'token-info',
    needs: ['token'],
    observe: async (server) => {
      const send = async (bearer: Secret): Promise<string> =>
        String((await server.request({ method: 'GET', path: '/v1/oauth/token/info', bearer })).status);
      return {
        'valid token': await send(await obtainTokenThatCanRead(server)),
        'unknown token': await send(createMadeUpSecret(server, '[unknown token]')),
      };
    },
  },
  {
    id: 'unknown-token-status',
    needs: [],
    observe: async (server) => {
      const token = createMadeUpSecret(server, '[unknown token]');
      const response = await sendTestApiRequest(server, token, { method: 'GET', path: '/v2/actions' });
      return { 'unknown token': summarizeResponse(response) };
    },
  },
  {
    id: 'missing-token',
    needs: [],
    observe: async (server) => {
      const response = await sendTestApiRequest(server, undefined, { method: 'GET', path: '/v2/actions' });
      const challenge = response.header('www-authenticate');
      return { 'no bearer header': summarizeResponse(response), 'WWW-Authenticate': challenge ?? 'absent' };
    },
  },
  {
    id: 'scope-status',
    needs: ['client', 'secret', 'consent'],
    observe: async (server) => {
      const token = await obtainReadOnlyTestToken(server);
      const send = async (path: string): Promise<string> =>
        summarizeResponse(await sendTestApiRequest(server, token, { method: 'POST', path, json: {} }));
      return {
        'POST /v2/droplets with the scope read': await send('/v2/droplets'),
        'POST to an unknown path with the scope read': await send('/v2/no-such-path'),
      };
    },
  },
  {
    id: 'trailing-slash',
    needs: ['token'],
    observe: async (server) => ({
      'one trailing slash': summarizeResponse(await get(server, '/v2/actions/')),
      'two trailing slashes': summarizeResponse(await get(server, '/v2/actions//')),
    }),
  },
  {
    id: 'api-errors',
    needs: ['token'],
    observe: async (server) => {
      const unknown = await get(server, '/v2/no-such-path');
      const json = readConformanceResponseJson(unknown) ?? {};
      const members = ['id', 'message', 'request_id'].filter((name) => readStringField(json, name) !== undefined);
      return {
        'unknown path': summarizeResponse(unknown),
        'members of an error': members.join(', '),
        'unknown droplet': summarizeResponse(await get(server, '/v2/droplets/1')),
      };
    },
  },
  {
    id: 'host-header',
    needs: [],
    observe: async (server) => {
      const headers = { host: 'attacker.example.com' };
      const send = async (origin: 'auth' | 'api', path: string): Promise<string> =>
        summarizeResponse(await server.request({ origin, method: 'GET', path, headers }));
      return {
        'resource API, another host': await send('api', '/v2/actions'),
        'authorization server, another host': await send('auth', '/v1/oauth/authorize'),
      };
    },
  },
  {
    id: 'cross-origin',
    needs: [],
    observe: async (server) => {
      const origin = 'https://app.example.com';
      const preflight = async (to: 'auth' | 'api', path: string, method: string): Promise<string> => {
        const headers = { origin, 'access-control-request-method': method };
        return String((await server.request({ origin: to, method: 'OPTIONS', path, headers })).status);
      };
      const response = await sendTestApiRequest(server, undefined, {
        method: 'GET',
        path: '/v2/actions',
        headers: { origin },
      });
      return {
        'preflight for /v2/actions': await preflight('api', '/v2/actions', 'GET'),
        'Access-Control-Allow-Origin of /v2/actions': response.header('access-control-allow-origin') ?? 'absent',
        'preflight for the revocation endpoint': await preflight('auth', '/v1/oauth/revoke', 'POST'),
        'preflight for the token endpoint': await preflight('auth', '/v1/oauth/token', 'POST'),
      };
    },
  },
  {
    id: 'rate-limits',
    needs: ['token'],
    observe: async (server) => {
      const response = await get(server, '/v2/actions');
      const names = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
      const sent = names.filter((name) => response.header(name) !== undefined);
      return { 'rate limit headers': sent.length === 0 ? 'none' : sent.join(', ') };
    },
  },
  {
    id: 'lists',
    needs: ['token'],
    observe: async (server) => ({
      'page 0': summarizeResponse(await get(server, '/v2/actions?page=0')),
      'per_page 0': summarizeResponse(await get(server, '/v2/actions?per_page=0')),
      'per_page 201': summarizeResponse(await get(server, '/v2/actions?per_page=201')),
      'items with per_page 1': describeCount(await listPage(server, '/v2/actions?per_page=1', 'actions')),
      'items after the last page': String((await listPage(server, '/v2/actions?page=1000000', 'actions')).length),
      'pages together': await comparePages(server),
      'order of actions': describeOrder(await listPage(server, '/v2/actions?per_page=200', 'actions'), 'started_at'),
      'order of droplets': describeOrder(await listPage(server, '/v2/droplets?per_page=200', 'droplets'), 'created_at'),
    }),
  },
  {
    id: 'single-resources',
    needs: ['token'],
    observe: async (server) => {
      const statusOfFirst = async (key: string): Promise<string> => {
        const [first] = await listPage(server, `/v2/${key}`, key);
        return first === undefined ? 'no item' : summarizeResponse(await get(server, `/v2/${key}/${String(first.id)}`));
      };
      return {
        'GET /v2/actions/{id}': await statusOfFirst('actions'),
        'GET /v2/droplets/{id}': await statusOfFirst('droplets'),
        'unknown id': summarizeResponse(await get(server, '/v2/actions/1')),
      };
    },
  },
];

async function get(server: ServerUnderTest, path: string) {
  return sendTestApiRequest(server, await obtainTokenThatCanRead(server), { method: 'GET', path });
}

async function listPage(server: ServerUnderTest, path: string, key: string): Promise<readonly JsonRecord[]> {
  const response = await get(server, path);
  return isSuccessfulResponse(response) ? requireListItemsOfResponse(response, key) : [];
}

async function dropletIds(server: ServerUnderTest, token: Secret): Promise<readonly unknown[]> {
  const response = await sendTestApiRequest(server, token, { method: 'GET', path: '/v2/droplets?per_page=200' });
  return requireListItemsOfResponse(response, 'droplets').map(({ id }) => id);
}

/** Reads up to 100 pages of one action and compares their number with `meta.total`. */
async function comparePages(server: ServerUnderTest): Promise<string> {
  const ids = new Set<unknown>();
  let total = 0;
  for (let page = 1; page <= 100; page += 1) {
    const response = await get(server, `/v2/actions?per_page=1&page=${page}`);
    const { meta } = readConformanceResponseJson(response) ?? {};
    total = (isJsonRecord(meta) ? readNumberField(meta, 'total') : undefined) ?? -1;
    const items = isSuccessfulResponse(response) ? requireListItemsOfResponse(response, 'actions') : [];
    for (const { id } of items) ids.add(id);
    if (items.length === 0) break;
  }
  return ids.size === Math.min(total, 100) ? 'as many items as meta.total' : 'not as many items as meta.total';
}

function describeCount(items: readonly unknown[]): string {
  return items.length <= 1 ? 'at most 1' : String(items.length);
}

function describeOrder(items: readonly JsonRecord[], member: string): string {
  const times = items.map((item) => Date.parse(readStringField(item, member) ?? ''));
  const isOrdered = (sign: 1 | -1): boolean =>
    times.every((time, at) => at === 0 || sign * (time - (times[at - 1] ?? 0)) >= 0);
  if (times.some(Number.isNaN)) return 'unknown';
  // Items with equal times are both newest first and oldest first.
  const orders = [...(isOrdered(-1) ? ['newest first'] : []), ...(isOrdered(1) ? ['oldest first'] : [])];
  return orders.join(' or ') || 'none';
}
