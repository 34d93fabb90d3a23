import { describe, expect, it } from 'vitest';
import type { Api, ApiRequest } from '../../src/api/client.ts';
import { createApi } from '../../src/api/client.ts';
import type { ApiAnswer } from '../../src/api/problem.ts';
import { type Attributes, createBatch, createRequests, type NameResult } from '../../src/batch/create.ts';
import { expandNames } from '../../src/batch/names.ts';
import { CliError } from '../../src/errors.ts';
import { undiciSend } from '../../src/platform/network.ts';
import { SendError } from '../../src/platform/send.ts';
import { Secret } from '../../src/secret.ts';
import { closedOrigin, reply, serverFor } from '../fixtures/broken-server.ts';
import { testClock } from '../fixtures/host.ts';
import { call, sandboxFor, tokenFor } from '../sandbox/driver.ts';

const attributes: Attributes = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'nyc3', extra: {} };
const login = '`cloudctl auth login`';

function answer(status: number, body: unknown): ApiAnswer {
  return {
    status,
    contentType: 'application/json',
    requestId: undefined,
    retryAfter: undefined,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

function namesOf({ body }: ApiRequest): readonly string[] {
  const sent: { readonly name?: string; readonly names?: readonly string[] } = JSON.parse(body ?? '');
  return sent.names ?? [sent.name ?? ''];
}

/** Everything asked for, with ids that count up from 100. */
function made(request: ApiRequest): ApiAnswer {
  const droplets = namesOf(request).map((name, at) => ({ id: 100 + at, name }));
  return answer(202, { droplets, links: { actions: droplets.map(({ id }) => ({ id: id + 900 })) } });
}

function apiOf(
  respond: (request: ApiRequest, at: number) => ApiAnswer | Promise<ApiAnswer>,
): Api & { readonly sent: ApiRequest[] } {
  const sent: ApiRequest[] = [];
  return {
    baseOrigin: 'https://api.example',
    sent,
    json: () => Promise.reject(new Error('not used')),
    request: async (request) => {
      sent.push(request);
      return respond(request, sent.length - 1);
    },
  };
}

async function create(
  api: Api,
  names: readonly string[],
  options: { readonly batchSize?: number; readonly concurrency?: number } = {},
) {
  const told: NameResult[] = [];
  const outcome = await createBatch(
    api,
    names,
    attributes,
    {
      batchSize: 10,
      concurrency: 4,
      ...options,
      onResult: async (results) => {
        told.push(...results);
      },
    },
    login,
  );
  return { ...outcome, told };
}

function statuses(results: readonly NameResult[]): string {
  return results.map(({ status }) => status.charAt(0)).join('');
}

describe('the requests of a batch', () => {
  it('hold ten names each, and a single one as name', () => {
    const requests = createRequests(expandNames(['n{1..21}']), attributes, 10);
    expect(requests.map(({ names }) => names.length)).toEqual([10, 10, 1]);
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ names: expandNames(['n{1..10}']) });
    expect(JSON.parse(requests[2]?.body ?? '')).toEqual({
      name: 'n21',
      region: 'nyc3',
      size: 's-1vcpu-1gb',
      image: 'ubuntu-24-04-x64',
    });
    expect(requests[0]?.body).not.toContain('"name"');
  });

  it('leave the region out when there is none, and carry further attributes', () => {
    const [request] = createRequests(['a'], { size: 's', image: 7, extra: { tags: ['x'] } }, 10);
    expect(JSON.parse(request?.body ?? '')).toEqual({ name: 'a', size: 's', image: 7, tags: ['x'] });
  });
});

describe('a batch', () => {
  it('gives a row for every name, in the order of the names, whatever the order of the answers', async () => {
    const api = apiOf(async (request, at) => {
      await new Promise((resolve) => setTimeout(resolve, 40 - at * 15));
      return made(request);
    });
    const names = expandNames(['n{1..25}']);
    const { results, told } = await create(api, names);
    expect(results.map(({ name }) => name)).toEqual(names);
    expect(told.map(({ name }) => name)).not.toEqual(names);
    expect(new Set(told.map(({ name }) => name))).toEqual(new Set(names));
  });

  it('matches ids by name, not by place', async () => {
    const api = apiOf(() =>
      answer(202, {
        droplets: [
          { id: 2, name: 'b' },
          { id: 1, name: 'a' },
        ],
        links: { actions: [{ id: 22 }, { id: 11 }] },
      }),
    );
    const { results } = await create(api, ['a', 'b']);
    expect(results).toEqual([
      { name: 'a', status: 'created', id: 1, action_id: 11 },
      { name: 'b', status: 'created', id: 2, action_id: 22 },
    ]);
  });

  it('names no action when it cannot tell whose it is', async () => {
    const api = apiOf(() =>
      answer(202, {
        droplets: [
          { id: 1, name: 'a' },
          { id: 2, name: 'b' },
        ],
        links: { actions: [{ id: 22 }] },
      }),
    );
    const { results } = await create(api, ['a', 'b']);
    expect(results).toEqual([
      { name: 'a', status: 'created', id: 1 },
      { name: 'b', status: 'created', id: 2 },
    ]);
  });

  it.each([
    ['a 500', () => answer(500, { message: 'oops' })],
    ['a 504', () => answer(504, '')],
    ['a success that is not understood', () => answer(202, '<html>')],
    ['a success without droplets', () => answer(202, { links: {} })],
    [
      'a broken connection',
      () => Promise.reject(new CliError('unreachable', 'cut', { cause: new SendError('connection', true, 'cut') })),
    ],
    [
      'an answer that is too long',
      () =>
        Promise.reject(new CliError('api_error', 'too long', { cause: new SendError('connection', true, 'too long') })),
    ],
  ])('is in doubt about a group after %s, and never sends it again', async (_what, respond) => {
    const api = apiOf(respond);
    const { results } = await create(api, ['a', 'b']);
    expect(statuses(results)).toBe('uu');
    expect(api.sent).toHaveLength(1);
  });

  it('is in doubt about the names the answer leaves out', async () => {
    const api = apiOf(() => answer(202, { droplets: [{ id: 1, name: 'a' }] }));
    expect(statuses((await create(api, ['a', 'b'])).results)).toBe('cu');
  });

  it('goes on after a group that was refused, with the words of the server', async () => {
    const api = apiOf((request, at) =>
      at === 0 ? answer(422, { id: 'unprocessable_entity', message: 'no such size' }) : made(request),
    );
    const { results, stopped } = await create(api, ['a', 'b', 'c'], { batchSize: 1, concurrency: 1 });
    expect(statuses(results)).toBe('fcc');
    expect(results[0]).toMatchObject({ error: 'no such size' });
    expect(stopped).toBeUndefined();
  });

  it.each([
    ['a 403', answer(403, { id: 'forbidden' }), 'scope_too_small'],
    ['a 429', answer(429, {}), 'rate_limited'],
    ['the limit of droplets', answer(422, { id: 'droplet_limit', message: 'too many' }), 'api_error'],
  ])('stops after %s, and the names not sent failed', async (_what, refusal, code) => {
    const api = apiOf((request, at) => (at === 1 ? refusal : made(request)));
    const { results, stopped, told } = await create(api, ['a', 'b', 'c', 'd'], { batchSize: 1, concurrency: 1 });
    expect(statuses(results)).toBe('cfff');
    expect(results[2]).toMatchObject({ error: expect.stringMatching(/^not sent: /) });
    expect(stopped).toMatchObject({ code });
    expect(api.sent).toHaveLength(2);
    expect(told).toHaveLength(4);
  });

  it('stops when the session has ended', async () => {
    const api = apiOf(() => Promise.reject(new CliError('needs_login', 'ended')));
    const { results, stopped } = await create(api, ['a', 'b'], { batchSize: 1, concurrency: 1 });
    expect(statuses(results)).toBe('ff');
    expect(stopped).toMatchObject({ code: 'needs_login', exitCode: 4 });
    expect(api.sent).toHaveLength(1);
  });

  it('has no more requests in flight than allowed', async () => {
    let flying = 0;
    let most = 0;
    const api = apiOf(async (request) => {
      most = Math.max(most, ++flying);
      await new Promise((resolve) => setTimeout(resolve, 5));
      flying -= 1;
      return made(request);
    });
    await create(api, expandNames(['n{1..12}']), { batchSize: 1, concurrency: 3 });
    expect(most).toBe(3);
  });

  it('lets a mistake of the program through', async () => {
    await expect(
      create(
        apiOf(() => Promise.reject(new TypeError('bug'))),
        ['a'],
      ),
    ).rejects.toThrow(TypeError);
  });
});

describe('over a real connection', () => {
  async function real(baseOrigin: string, token = 'x') {
    return createApi({
      baseOrigin,
      send: await undiciSend({ env: {} }),
      bearer: async () => new Secret(token),
      renew: async () => Promise.reject(new CliError('needs_login', 'ended')),
      clock: testClock(),
      timeout: 2_000,
      login,
    });
  }

  it('every droplet of the sandbox is one of the rows', async () => {
    const sandbox = await sandboxFor();
    const { access_token: token } = await tokenFor(sandbox);
    const { results } = await create(await real(sandbox.ready.base_url, token), expandNames(['node-{01..25}']));
    const list = JSON.parse((await call(sandbox, token, 'GET', '/v2/droplets?per_page=200')).body);
    const created = list.droplets
      .filter(({ name }: { name: string }) => name.startsWith('node-'))
      .map(({ name, id }: { name: string; id: number }) => [name, id]);
    const made = results.map((row) => (row.status === 'created' ? [row.name, row.id] : row));
    expect(made.sort()).toEqual(created.sort());
    for (const row of results) {
      const action =
        row.status === 'created' ? await call(sandbox, token, 'GET', `/v2/actions/${row.action_id}`) : undefined;
      expect(JSON.parse(action?.body ?? '{}').action).toMatchObject({ resource_id: 'id' in row ? row.id : undefined });
    }
  });

  it('a server that drops the connection leaves doubt, one that nobody reaches does not', async () => {
    const { origin } = await serverFor((_, response) => void response.destroy());
    expect(statuses((await create(await real(origin), ['a'])).results)).toBe('u');
    const { results, stopped } = await create(await real(await closedOrigin()), ['a']);
    expect(statuses(results)).toBe('f');
    expect(stopped).toMatchObject({ code: 'unreachable' });
  });

  it('an answer that takes too long leaves doubt', async () => {
    const { origin } = await serverFor((_, response) => void setTimeout(() => reply(response, 202, {}), 5_000).unref());
    const { results, stopped } = await create(await real(origin), ['a']);
    expect(statuses(results)).toBe('u');
    expect(stopped).toMatchObject({ code: 'timeout' });
  });
});
