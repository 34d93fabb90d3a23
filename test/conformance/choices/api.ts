import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../../src/base/json.ts';
import type { Secret } from '../../../src/base/secret.ts';
import {
  callApi,
  dropletAttributes,
  getMigration,
  migrationPath,
  migrationSource,
  requireCluster,
  requireItems,
  requireSome,
  uniqueName,
  unknownClusterUuid,
  withDroplets,
  withMigration,
} from '../api.ts';
import { freshTokens, madeUpSecret, readOnlyToken, readToken, writeToken } from '../grants.ts';
import { type HttpResponse, isSuccess, jsonOf, summarize } from '../response.ts';
import { advanceClock, teamUser } from '../sandbox.ts';
import type { Server } from '../server.ts';
import { observeInTurn, type Probe } from '../statement.ts';

/** The functions that observe open choices about the resource API, its lists and its errors. */
export const apiProbes: readonly Probe[] = [
  {
    id: 'team-resources',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const person = teamUser(server);
      const team = await freshTokens(server, { person, team: person.teams[0]?.uuid ?? '' });
      const personal = await freshTokens(server, { person });
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
      const { account } = jsonOf(response) ?? {};
      const team = isJsonRecord(account) && account.team === null ? 'null' : 'present or absent';
      return { 'GET /v2/account': summarize(response), 'team of a personal token': team };
    },
  },
  {
    id: 'token-info',
    needs: ['token'],
    observe: async (server) => {
      const send = async (bearer: Secret): Promise<string> =>
        String((await server.request({ method: 'GET', path: '/v1/oauth/token/info', bearer })).status);
      return {
        'valid token': await send(await readToken(server)),
        'unknown token': await send(madeUpSecret(server, '[unknown token]')),
      };
    },
  },
  {
    id: 'unknown-token-status',
    needs: [],
    observe: async (server) => {
      const token = madeUpSecret(server, '[unknown token]');
      const response = await callApi(server, token, { method: 'GET', path: '/v2/actions' });
      return { 'unknown token': summarize(response) };
    },
  },
  {
    id: 'missing-token',
    needs: [],
    observe: async (server) => {
      const response = await callApi(server, undefined, { method: 'GET', path: '/v2/actions' });
      const challenge = response.header('www-authenticate');
      return { 'no bearer header': summarize(response), 'WWW-Authenticate': challenge ?? 'absent' };
    },
  },
  {
    id: 'scope-status',
    needs: ['client', 'secret', 'consent'],
    observe: async (server) => {
      const token = await readOnlyToken(server);
      const send = async (path: string): Promise<string> =>
        summarize(await callApi(server, token, { method: 'POST', path, json: {} }));
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
      'one trailing slash': summarize(await get(server, '/v2/actions/')),
      'two trailing slashes': summarize(await get(server, '/v2/actions//')),
    }),
  },
  {
    id: 'api-errors',
    needs: ['token'],
    observe: async (server) => {
      const unknown = await get(server, '/v2/no-such-path');
      const json = jsonOf(unknown) ?? {};
      const members = ['id', 'message', 'request_id'].filter((name) => readStringField(json, name) !== undefined);
      return {
        'unknown path': summarize(unknown),
        'members of an error': members.join(', '),
        'unknown droplet': summarize(await get(server, '/v2/droplets/1')),
      };
    },
  },
  {
    id: 'host-header',
    needs: [],
    observe: async (server) => {
      const headers = { host: 'attacker.example.com' };
      const send = async (origin: 'auth' | 'api', path: string): Promise<string> =>
        summarize(await server.request({ origin, method: 'GET', path, headers }));
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
      const response = await callApi(server, undefined, {
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
      'page 0': summarize(await get(server, '/v2/actions?page=0')),
      'per_page 0': summarize(await get(server, '/v2/actions?per_page=0')),
      'per_page 201': summarize(await get(server, '/v2/actions?per_page=201')),
      'items with per_page 1': describeCount(await listPage(server, '/v2/actions?per_page=1', 'actions')),
      'items after the last page': String((await listPage(server, '/v2/actions?page=1000000', 'actions')).length),
      'pages together': await comparePages(server),
      'order of actions': describeOrder(
        requireSome(await listPage(server, '/v2/actions?per_page=200', 'actions'), 'actions'),
        'started_at',
      ),
      'order of droplets': describeOrder(
        requireSome(await listPage(server, '/v2/droplets?per_page=200', 'droplets'), 'droplets'),
        'created_at',
      ),
    }),
  },
  {
    id: 'single-resources',
    needs: ['token'],
    observe: async (server) => {
      const statusOfFirst = async (key: string): Promise<string> => {
        const [first] = requireSome(await listPage(server, `/v2/${key}`, key), key);
        return summarize(await get(server, `/v2/${key}/${String(first?.id)}`));
      };
      return {
        'GET /v2/actions/{id}': await statusOfFirst('actions'),
        'GET /v2/droplets/{id}': await statusOfFirst('droplets'),
        'unknown id': summarize(await get(server, '/v2/actions/1')),
      };
    },
  },
];

async function get(server: Server, path: string) {
  return callApi(server, await readToken(server), { method: 'GET', path });
}

async function listPage(server: Server, path: string, key: string): Promise<readonly JsonRecord[]> {
  const response = await get(server, path);
  return isSuccess(response) ? requireItems(response, key) : [];
}

async function dropletIds(server: Server, token: Secret): Promise<readonly unknown[]> {
  const response = await callApi(server, token, { method: 'GET', path: '/v2/droplets?per_page=200' });
  return requireItems(response, 'droplets').map(({ id }) => id);
}

/** Reads up to 100 pages of one action and compares their number with `meta.total`. */
async function comparePages(server: Server): Promise<string> {
  const ids = new Set<unknown>();
  let total = 0;
  for (let page = 1; page <= 100; page += 1) {
    const response = await get(server, `/v2/actions?per_page=1&page=${page}`);
    const { meta } = jsonOf(response) ?? {};
    total = (isJsonRecord(meta) ? readNumberField(meta, 'total') : undefined) ?? -1;
    const items = isSuccess(response) ? requireItems(response, 'actions') : [];
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

const writes = ['writes', 'token'] as const;
const writesToCluster = ['writes', 'token', 'cluster'] as const;

/** The functions that observe open choices about droplets, clusters and migrations. */
export const writeProbes: readonly Probe[] = [
  {
    id: 'create-body',
    needs: writes,
    observe: async (server) => {
      const names = ['b', 'a'].map((end) => `${uniqueName(server)}-${end}`);
      const many = await create(server, { names }, (response, droplets) => {
        const created = droplets.map((droplet) => readStringField(droplet, 'name')).join();
        const order = created === names.join() ? 'in the order of names' : 'in another order';
        return `${summarize(response)} droplets, ${order}`;
      });
      const one = await create(server, { name: uniqueName(server) }, (response) => {
        const members = Object.keys(jsonOf(response) ?? {}).sort();
        return `${summarize(response)} ${members.join(', ')}`;
      });
      return { name: one, names: many };
    },
  },
  {
    id: 'create-required',
    needs: writes,
    observe: (server) =>
      observeCreations(server, {
        'no size': { size: undefined },
        'no image': { image: undefined },
        'no region': { region: undefined },
        'no name': { name: undefined },
        'region without number': { region: 'nyc' },
        'unknown attribute': { no_such_attribute: 1 },
      }),
  },
  {
    id: 'create-names',
    needs: writes,
    observe: async (server) => {
      const name = uniqueName(server);
      const eleven = Array.from({ length: 11 }, (_, at) => `${name}-${at}`);
      return observeCreations(server, {
        '11 names': { name: undefined, names: eleven },
        'a name twice': { name: undefined, names: [name, name] },
      });
    },
  },
  {
    id: 'create-catalogue',
    needs: writes,
    observe: (server) =>
      observeCreations(server, { 'unknown region': { region: 'xyz1' }, 'unknown image': { image: 'no-such-image' } }),
  },
  {
    id: 'create-lifecycle',
    needs: ['client', 'secret', 'sandbox'],
    observe: (server) =>
      create(server, { name: uniqueName(server) }, async (_response, [droplet]) => {
        const after = async (step: string): Promise<string> => {
          await advanceClock(server, step);
          const path = `/v2/droplets/${String(droplet?.id)}`;
          const read = await callApi(server, await readToken(server), { method: 'GET', path });
          const current = jsonOf(read)?.droplet;
          return readStringField((current ?? {}) as JsonRecord, 'status') ?? summarize(read);
        };
        return {
          'status at first': readStringField(droplet ?? {}, 'status') ?? 'none',
          'status after 6 s': await after('6s'),
        };
      }),
  },
  {
    id: 'delete-droplet',
    needs: writes,
    observe: async (server) => {
      const token = await writeToken(server);
      return create(server, { name: uniqueName(server) }, async (_response, [droplet]) => {
        const path = `/v2/droplets/${String(droplet?.id)}`;
        const missing = await callApi(server, token, { method: 'DELETE', path: '/v2/droplets/1' });
        const get = await callApi(server, token, { method: 'GET', path });
        return { 'DELETE of an unknown id': summarize(missing), 'GET before DELETE': summarize(get) };
      });
    },
  },
  {
    id: 'cluster-owner',
    needs: ['client', 'secret', 'sandbox'],
    observe: async (server) => {
      const { accessToken } = await freshTokens(server, {
        person: teamUser(server),
        scope: 'read write',
      });
      const path = migrationPath(requireCluster(server));
      const json = { source: migrationSource };
      const response = await callApi(server, accessToken, { method: 'PUT', path, json });
      return { 'cluster of another account': summarize(response) };
    },
  },
  {
    id: 'cluster-list',
    needs: ['token'],
    observe: async (server) => {
      const token = await readToken(server);
      const response = await callApi(server, token, { method: 'GET', path: '/v2/databases' });
      const [first] = isSuccess(response) ? requireSome(requireItems(response, 'databases'), 'databases') : [];
      const members = ['id', 'name', 'engine', 'version', 'status', 'connection'];
      return {
        'GET /v2/databases': summarize(response),
        'members of a cluster': members.filter((name) => first?.[name] !== undefined).join(', '),
      };
    },
  },
  {
    id: 'migration-answer',
    needs: writesToCluster,
    observe: (server) =>
      withMigration(server, { source: migrationSource }, (response) => {
        const json = jsonOf(response) ?? {};
        const members = ['id', 'status', 'created_at'].filter((name) => readStringField(json, name) !== undefined);
        return {
          'PUT online-migration': summarize(response),
          'members of the response': members.join(', '),
          'status in the response': statusOf(response),
        };
      }),
  },
  {
    id: 'migration-idle',
    needs: ['client', 'secret', 'sandbox'],
    observe: (server) =>
      withMigration(server, { source: migrationSource }, async () => {
        await advanceClock(server, '1d');
        return { 'status after a day without changes': statusOf(await getMigration(server)) };
      }),
  },
  {
    id: 'migration-stop',
    needs: writesToCluster,
    observe: (server) =>
      withMigration(server, { source: migrationSource }, async (started) => {
        const id = readStringField(jsonOf(started) ?? {}, 'id') ?? '';
        const path = `${migrationPath(requireCluster(server))}/${id}`;
        const token = await writeToken(server);
        const stopped = await callApi(server, token, { method: 'DELETE', path });
        return {
          'DELETE of the migration': summarize(stopped),
          'status after it': statusOf(await getMigration(server)),
        };
      }),
  },
  {
    id: 'migration-conflict',
    needs: writesToCluster,
    observe: (server) =>
      withMigration(server, { source: migrationSource }, async () => {
        const token = await writeToken(server);
        const path = migrationPath(requireCluster(server));
        const json = { source: migrationSource };
        const second = await callApi(server, token, { method: 'PUT', path, json });
        return {
          'second migration': summarize(second),
          'status of the first': statusOf(await getMigration(server)),
        };
      }),
  },
  {
    id: 'migration-required',
    needs: writesToCluster,
    observe: async (server) => {
      const { host, dbname, ...rest } = migrationSource;
      return {
        'no source.host': await migrate(server, { source: { dbname, ...rest } }),
        'no source.dbname': await migrate(server, { source: { host, ...rest } }),
        'no other member': await migrate(server, { source: { host, dbname } }),
        'null as username': await migrate(server, { source: { host, dbname, username: null } }),
      };
    },
  },
  {
    id: 'source-host-forms',
    needs: writesToCluster,
    observe: async (server) => {
      const forms = ['2001:db8::1', 'postgres://mover@source.example.com/shop', 'host=source.example.com dbname=shop'];
      const cases = Object.fromEntries(forms.map((host) => [host, { ...migrationSource, host }]));
      return observeInTurn(cases, (source) => migrate(server, { source }));
    },
  },
  {
    id: 'migration-none',
    needs: ['token'],
    observe: async (server) => {
      const path = migrationPath(unknownClusterUuid);
      const response = await callApi(server, await readToken(server), { method: 'GET', path });
      return { 'GET for an unknown cluster': summarize(response) };
    },
  },
];

function create<T>(
  server: Server,
  attributes: JsonRecord,
  observe: (response: HttpResponse, droplets: readonly JsonRecord[]) => Promise<T> | T,
): Promise<T> {
  return withDroplets(server, { ...dropletAttributes, ...attributes }, observe);
}

function observeCreations(server: Server, cases: Readonly<Record<string, JsonRecord>>) {
  return observeInTurn(cases, (changes) => create(server, { name: uniqueName(server), ...changes }, summarize));
}

function migrate(server: Server, body: object): Promise<string> {
  return withMigration(server, body, (response) => summarize(response));
}

function statusOf(response: HttpResponse): string {
  const status = readStringField(jsonOf(response) ?? {}, 'status');
  return isSuccess(response) && status !== undefined ? status : summarize(response);
}
