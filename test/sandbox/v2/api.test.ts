import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import {
  capturedRequests,
  documentedRequests,
  type PublicClientRequest,
} from '../../fixtures/public-client-requests.ts';
import { openRawConnection } from '../raw-connection.ts';
import { admin, callApi, sandboxFor, send, tokenFor } from '../requests.ts';

describe('bearer tokens of the resource API', () => {
  it.each([
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer ' },
    { authorization: 'Bearer a b' },
    { authorization: 'Bearer a\tb' },
    { authorization: 'Basic eDp5' },
    { authorization: 'sandbox_token' },
    { authorization: 'Bearer,Bearer x' },
    { authorization: ['Bearer x', 'Bearer x'] },
  ])('a missing or malformed Authorization is 401: %j', async (headers) => {
    const sandbox = await sandboxFor();
    for (const path of ['/v2/actions', '/v2/droplets', '/v2/nothing']) {
      const answer = await send(sandbox.ready.base_url, path, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
      expect(JSON.parse(answer.body).id).toBe('unauthorized');
    }
  });

  it("an unknown token is not_found, with 404 or the option's 401", async () => {
    for (const unknownTokenStatus of [404, 401] as const) {
      const sandbox = await sandboxFor({ unknownTokenStatus });
      const answer = await callApi(sandbox, 'sandbox_unknown', 'GET', '/v2/droplets');
      expect(answer.status).toBe(unknownTokenStatus);
      const { message, ...rest } = JSON.parse(answer.body);
      expect(rest).toEqual({ id: 'not_found', request_id: answer.headers['x-request-id'] });
      expectGolden('sandbox', message, String(unknownTokenStatus));
    }
  });

  it.each(['tok:en', '"x"', 'caf\u00e9', 'a,b', 'a=b=c', '%00'])('an unknown token can be %s', async (token) => {
    const sandbox = await sandboxFor();
    const answer = await callApi(sandbox, token, 'GET', '/v2/droplets');
    expect([answer.status, JSON.parse(answer.body).id]).toEqual([404, 'not_found']);
  });

  it('the scheme is read in any case', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    for (const scheme of ['bearer', 'BEARER']) {
      const answer = await send(sandbox.ready.base_url, '/v2/droplets', {
        headers: { authorization: `${scheme} ${access_token}` },
      });
      expect(answer.status).toBe(200);
    }
  });

  it('a token in the query is not accepted', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    expect((await send(sandbox.ready.base_url, `/v2/droplets?access_token=${access_token}`)).status).toBe(401);
  });
});

describe('scope read allows GET and HEAD; other methods are 403 and change nothing', () => {
  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s', async (method) => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox, { scope: 'read' });
    const before = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body);
    for (const path of ['/v2/droplets', `/v2/droplets/${before.droplets[0].id}`, '/v2/nothing']) {
      const answer = await callApi(sandbox, access_token, method, path, {
        name: 'a',
        size: '1gb',
        image: 'debian-12-x64',
      });
      expect(answer.status).toBe(403);
      expect(answer.headers['www-authenticate']).toContain('error="insufficient_scope"');
      expect(JSON.parse(answer.body).id).toBe('forbidden');
    }
    expect(JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets')).body)).toEqual(before);
    expect((await callApi(sandbox, access_token, 'HEAD', '/v2/droplets')).status).toBe(200);
  });
});

describe('every response of the resource API', () => {
  it('carries content type, request id and CORS headers, errors too', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    const answers = [
      await callApi(sandbox, access_token, 'GET', '/v2/droplets'),
      await callApi(sandbox, access_token, 'GET', '/v2/nothing'),
      await callApi(sandbox, access_token, 'PATCH', '/v2/droplets'),
      await callApi(sandbox, 'unknown', 'GET', '/v2/droplets'),
      await send(sandbox.ready.base_url, '/v2/droplets'),
      await callApi(sandbox, access_token, 'POST', '/v2/droplets', '{'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 405, 404, 401, 400]);
    for (const { status, headers, body } of answers) {
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
      expect(headers['access-control-allow-origin']).toBe('*');
      if (status >= 400) expect(JSON.parse(body).request_id).toBe(headers['x-request-id']);
    }
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(answers.length);
  });

  it('an unknown path is 404, a known one with another method 405 with Allow', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox);
    for (const path of [
      '/',
      '/v2',
      '/v2/',
      '/v2/droplets//',
      '/v2/droplets/1/2',
      '/v2//droplets',
      '/v2/Droplets',
      '/v2/x/../droplets',
      '/v1/oauth/token',
      '/_sandbox/clock',
    ]) {
      const missing = await callApi(sandbox, access_token, 'GET', path);
      // The id of a refused token is not_found (docs/service.md S7.5).
      expect([missing.status, JSON.parse(missing.body).id]).toEqual([404, 'no_such_path']);
    }
    const put = await callApi(sandbox, access_token, 'PUT', '/v2/droplets', {});
    expect([put.status, put.headers.allow]).toEqual([405, 'GET, HEAD, POST, DELETE']);
    expect((await callApi(sandbox, access_token, 'DELETE', '/v2/actions')).headers.allow).toBe('GET, HEAD');
  });

  it('one trailing slash is ignored', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await tokenFor(sandbox, { scope: 'read write' });
    const options = { name: 'slash', size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64' };
    const made = await callApi(sandbox, access_token, 'POST', '/v2/droplets/', options);
    expect(made.status).toBe(202);
    const { id } = JSON.parse(made.body).droplet;
    const one = await callApi(sandbox, access_token, 'GET', `/v2/droplets/${id}/`);
    expect([one.status, JSON.parse(one.body).droplet.name]).toEqual([200, 'slash']);
    const page = JSON.parse((await callApi(sandbox, access_token, 'GET', '/v2/droplets/?per_page=1')).body);
    const next = new URL(page.links.pages.next);
    expect((await callApi(sandbox, access_token, 'GET', next.pathname + next.search)).status).toBe(200);
  });

  it('sends the virtual time in Date', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '400d' });
    const answer = await send(sandbox.ready.base_url, '/v2/droplets');
    expect(Date.parse(answer.headers.date ?? '') - Date.now()).toBeGreaterThan(399 * 86_400_000);
  });
});

describe('rate limits', () => {
  it('are reported before they are reached', async () => {
    const sandbox = await sandboxFor({ rateLimit: '5000/h' });
    const { access_token } = await tokenFor(sandbox);
    const remaining: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { headers } = await callApi(sandbox, access_token, 'GET', '/v2/actions');
      expect(headers['ratelimit-limit']).toBe('5000');
      expect(Number(headers['ratelimit-reset']) * 1000).toBeGreaterThan(Date.now());
      remaining.push(Number(headers['ratelimit-remaining']));
    }
    expect(remaining).toEqual([4999, 4998, 4997]);
  });

  it('are enforced for each token on the virtual clock, with retry-after', async () => {
    const sandbox = await sandboxFor({ rateLimit: '100/h,3/m' });
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const one = await tokenFor(sandbox);
    const two = await tokenFor(sandbox);
    for (let i = 0; i < 3; i += 1)
      expect((await callApi(sandbox, one.access_token, 'GET', '/v2/actions')).status).toBe(200);
    const refused = await callApi(sandbox, one.access_token, 'GET', '/v2/actions');
    expect([refused.status, JSON.parse(refused.body).id]).toEqual([429, 'too_many_requests']);
    expect(refused.headers).toMatchObject({ 'retry-after': '60', 'ratelimit-limit': '3', 'ratelimit-remaining': '0' });
    expect((await callApi(sandbox, two.access_token, 'GET', '/v2/actions')).status).toBe(200);
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '59s' });
    expect((await callApi(sandbox, one.access_token, 'GET', '/v2/actions')).headers['retry-after']).toBe('1');
    await admin(sandbox, 'POST', '/_sandbox/clock', { advance: '1s' });
    expect((await callApi(sandbox, one.access_token, 'GET', '/v2/actions')).status).toBe(200);
  });
});

interface ParsedResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends the bytes of the client and waits for the whole response. */
async function sendAs({ head, body = '' }: PublicClientRequest): Promise<ParsedResponse> {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const origin = head.includes(' /v1/') ? sandbox.ready.auth_url : sandbox.ready.base_url;
  const [droplet] = sandbox.world.droplets.of(sandbox.ready.users[0]?.uuid ?? '');
  const filled = head
    .replace('HOST', new URL(origin).host)
    .replace('TOKEN', access_token)
    .replace('DROPLET_ID', String(droplet?.id));
  const length = body === '' ? '' : `\nContent-Length: ${Buffer.byteLength(body)}`;
  const connection = openRawConnection(origin);
  connection.write(`${(filled + length).replaceAll('\n', '\r\n')}\r\n\r\n${body}`);
  const received = await connection.waitFor(/\r\n\r\n/);
  const announced = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
  const text = await connection.waitFor(new RegExp(`\\r\\n\\r\\n[\\s\\S]{${announced}}`));
  connection.socket.destroy();
  const json = text.slice(text.indexOf('\r\n\r\n') + 4);
  return { status: Number(text.split(' ')[1]), body: json === '' ? {} : JSON.parse(json) };
}

describe('requests of public clients are answered as the clients expect', () => {
  it.each(
    [...capturedRequests, ...documentedRequests].map(
      (request) => [request.client, request.head.split('\n')[0], request] as const,
    ),
  )('%s: %s', async (_client, _line, request) => {
    const { status, body } = await sendAs(request);
    expect([status, Object.keys(body).toSorted()]).toEqual([request.status, [...request.keys].toSorted()]);
  });
});

it('a path that the sandbox does not have has another error id than a refused token', async () => {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const ids: unknown[] = [];
  for (const [token, path] of [
    [access_token, '/v2/account/keys'],
    ['no-token-of-this-sandbox', '/v2/droplets'],
  ] as const) {
    const answer = await callApi(sandbox, token, 'GET', path);
    expect(answer.status).toBe(404);
    ids.push(JSON.parse(answer.body).id);
  }
  expect(ids).toEqual(['no_such_path', 'not_found']);
});

it('volumes are ids, or objects with an id or a name; anything else is 422', async () => {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const statuses: number[] = [];
  for (const volumes of [['a'], [{ id: 'a' }], [{ name: 'a' }], [{}], [1], [{ id: 1 }], 'a', {}]) {
    const body = { name: 'a', size: '1gb', image: 'debian-12-x64', volumes };
    statuses.push((await callApi(sandbox, access_token, 'POST', '/v2/droplets', body)).status);
  }
  expect(statuses).toEqual([202, 202, 202, 422, 422, 422, 422, 422]);
});
