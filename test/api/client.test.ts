import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, type ApiClientDeps, createClient, unansweredError } from '../../src/api/client.ts';
import { CliError } from '../../src/base/errors.ts';
import { Secret } from '../../src/base/secret.ts';
import { type HttpSender, SendError } from '../../src/platform/http-sender.ts';
import { fetchSender, undiciSender } from '../../src/platform/undici-sender.ts';
import { closedOrigin, reply, serverFor } from '../fixtures/fake-server.ts';
import { testClock } from '../fixtures/host.ts';
import { workLoginHints } from './login-hints.ts';

const base = 'https://api.example';
const server = setupServer();
beforeAll(() => server.listen({ onUnhandledRequest: 'error' }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

interface Ask {
  readonly api: ApiClient;
  /** Tokens that were refused, in order. */
  readonly refused: string[];
  readonly waits: number[];
}

function apiWith(changes: Partial<ApiClientDeps> = {}): Ask {
  const refused: string[] = [];
  const waits: number[] = [];
  const clock = testClock();
  const api = createClient({
    baseOrigin: base,
    send: fetchSender(globalThis.fetch),
    bearer: async () => new Secret('old-token'),
    renew: async (token) => {
      refused.push(token.reveal());
      return new Secret('new-token');
    },
    clock: {
      ...clock,
      sleep: async (ms) => {
        waits.push(ms);
      },
    },
    timeout: 2_000,
    loginHints: workLoginHints,
    ...changes,
  });
  return { api, refused, waits };
}

const get = { method: 'GET', path: '/v2/actions?page=1' };
const post = { method: 'POST', path: '/v2/droplets', body: '{"name":"a"}' };

/** Answers with each in turn, the last one from then on, and notes what was asked. */
function answering(...answers: readonly (() => Response)[]): Request[] {
  const seen: Request[] = [];
  server.use(
    http.all(`${base}/*`, ({ request }) => {
      seen.push(request.clone());
      return (answers[seen.length - 1] ?? answers.at(-1))?.();
    }),
  );
  return seen;
}

const ok = () => HttpResponse.json({ actions: [] }, { headers: { 'x-request-id': 'r-1' } });
const unknownToken = () => HttpResponse.json({ id: 'not_found', message: 'no' }, { status: 404 });

describe('a request', () => {
  it('carries the bearer, asks for JSON and has a type only with a body', async () => {
    const seen = answering(ok);
    await apiWith().api.json(get);
    await apiWith().api.json(post);
    expect(seen[0]?.headers.get('authorization')).toBe('Bearer old-token');
    expect(seen[0]?.headers.get('accept')).toBe('application/json');
    expect(seen[0]?.headers.get('content-type')).toBeNull();
    expect(seen[1]?.headers.get('content-type')).toBe('application/json');
    expect(await seen[1]?.text()).toBe('{"name":"a"}');
    expect(seen[0]?.url).toBe(`${base}/v2/actions?page=1`);
  });

  it('gives status, type, request id and body', async () => {
    answering(ok);
    const answer = await apiWith().api.request(get);
    expect(answer).toMatchObject({
      status: 200,
      retryAfter: undefined,
    });
    expect([answer.contentType(), answer.requestId()]).toEqual(['application/json', 'r-1']);
    expect([answer.text(), answer.raw.bytes().toString()]).toEqual(['{"actions":[]}', '{"actions":[]}']);
  });

  it('gives nothing for an empty success', async () => {
    answering(() => new HttpResponse(null, { status: 204 }));
    expect(await apiWith().api.json({ method: 'DELETE', path: '/v2/droplets/1' })).toBeUndefined();
  });

  it('is not redirected', async () => {
    const location = 'https://evil.example/login?token=secret';
    const seen = answering(() => new HttpResponse(null, { status: 302, headers: { location } }));
    const failure = await apiWith()
      .api.json(get)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'api_error', status: 302 });
    expect(seen).toHaveLength(1);
    // The target's path and query may contain secrets.
    expect(String(failure)).toContain('https://evil.example (302)');
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  it('answered by a page is an error that shows nothing of it', async () => {
    answering(() => HttpResponse.html('<h1>Sign in to the hotel</h1>'));
    const failure = await apiWith()
      .api.json(get)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'api_error', detail: expect.stringMatching(/^status 200, text\/html/) });
    expect(String(failure)).not.toContain('hotel');
  });
});

describe('a refused token', () => {
  it.each([
    ['a 401', () => HttpResponse.json({ id: 'unauthorized' }, { status: 401 })],
    ['not_found on a collection', unknownToken],
  ])('%s is renewed once and the request repeated once', async (_what, refusal) => {
    const seen = answering(refusal, ok);
    const { api, refused } = apiWith();
    expect(await api.json(get)).toEqual({ actions: [] });
    expect(refused).toEqual(['old-token']);
    expect(seen.map((request) => request.headers.get('authorization'))).toEqual([
      'Bearer old-token',
      'Bearer new-token',
    ]);
  });

  it('repeats a POST as well: a refused request changed nothing', async () => {
    const seen = answering(unknownToken, () => HttpResponse.json({ droplet: {} }, { status: 202 }));
    const { api } = apiWith();
    expect((await api.request(post)).status).toBe(202);
    expect(await Promise.all(seen.map((request) => request.text()))).toEqual([post.body, post.body]);
  });

  it('that a sibling process has renewed once more meanwhile is followed', async () => {
    const seen = answering(unknownToken, unknownToken, ok);
    const tokens = [new Secret('second-token'), new Secret('third-token')];
    const { api } = apiWith({ renew: async () => tokens.shift() ?? new Secret('') });
    expect(await api.json(get)).toEqual({ actions: [] });
    expect(seen.map((request) => request.headers.get('authorization'))).toEqual([
      'Bearer old-token',
      'Bearer second-token',
      'Bearer third-token',
    ]);
  });

  it('of a server that refuses every one ends with an error, after three requests', async () => {
    const seen = answering(unknownToken);
    let made = 0;
    const { api } = apiWith({ renew: async () => new Secret(`token-${made++}`) });
    await expect(api.request(get)).rejects.toMatchObject({ code: 'token_refused', exitCode: 4 });
    expect([seen.length, made]).toEqual([3, 2]);
  });

  it('that is refused again, and for which there is no other, ends with an error', async () => {
    const seen = answering(unknownToken);
    const { api, refused } = apiWith();
    await expect(api.request(get)).rejects.toMatchObject({
      code: 'token_refused',
      exitCode: 4,
      hint: workLoginHints.login,
    });
    expect(seen).toHaveLength(2);
    expect(refused).toEqual(['old-token', 'new-token']);
  });

  it('that cannot be renewed ends with the error of the session', async () => {
    answering(unknownToken);
    const { api } = apiWith({ renew: async () => Promise.reject(new CliError('needs_login', 'ended')) });
    await expect(api.request(get)).rejects.toMatchObject({ code: 'needs_login' });
  });

  it('is not suspected when a single thing is missing and a collection takes the token', async () => {
    const seen = answering(unknownToken, ok);
    const { api, refused } = apiWith();
    await expect(api.json({ method: 'GET', path: '/v2/droplets/7' })).rejects.toMatchObject({ code: 'not_found' });
    expect(refused).toEqual([]);
    expect(seen.map(({ url }) => new URL(url).pathname)).toEqual(['/v2/droplets/7', '/v2/actions']);
  });

  it('is found out behind a missing single thing when a collection refuses it too', async () => {
    const seen = answering(unknownToken, unknownToken, () => HttpResponse.json({ id: 'm', status: 'running' }));
    const { api, refused } = apiWith();
    const put = { method: 'PUT', path: '/v2/databases/c/online-migration', body: '{}' };
    expect((await api.request(put)).status).toBe(200);
    expect(refused).toEqual(['old-token']);
    expect(seen.map(({ method, headers }) => [method, headers.get('authorization')])).toEqual([
      ['PUT', 'Bearer old-token'],
      ['GET', 'Bearer old-token'],
      ['PUT', 'Bearer new-token'],
    ]);
  });

  it.each([
    [429, 1],
    [503, 3],
  ])('is not excluded by a probe with %d: the request has its result', async (status, probes) => {
    const seen = answering(unknownToken, () => HttpResponse.json({}, { status }));
    const { api, refused } = apiWith();
    expect((await api.request({ method: 'DELETE', path: '/v2/droplets/7' })).status).toBe(status);
    expect(refused).toEqual([]);
    expect(seen).toHaveLength(1 + probes);
  });

  it('is found out behind a 404 to HEAD, which has no body that could tell', async () => {
    const missing = () => new HttpResponse(null, { status: 404 });
    const seen = answering(missing, unknownToken, () => new HttpResponse(null, { status: 200 }));
    const { api, refused } = apiWith();
    expect((await api.request({ method: 'HEAD', path: '/v2/droplets/7' })).status).toBe(200);
    expect(seen.map(({ method }) => method)).toEqual(['HEAD', 'GET', 'HEAD']);
    expect(refused).toEqual(['old-token']);
  });
});

describe('another try', () => {
  it.each([408, 500, 502, 503, 504])('is made for a GET after %d, twice at most', async (status) => {
    const seen = answering(() => HttpResponse.json({}, { status }));
    const { api, waits } = apiWith();
    expect((await api.request(get)).status).toBe(status);
    expect(seen).toHaveLength(3);
    expect(waits).toEqual([500, 1000]);
  });

  it('is made when the wait before it is over', async () => {
    const seen = answering(() => HttpResponse.json({}, { status: 503 }));
    const asked: number[] = [];
    const sleep = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      asked.push(seen.length);
    };
    await apiWith({ clock: { ...testClock(), sleep } }).api.request(get);
    expect(asked).toEqual([1, 2]);
  });

  it.each([501, 505, 400, 409, 422, 429])('is not made after %d', async (status) => {
    const seen = answering(() => HttpResponse.json({}, { status }));
    expect((await apiWith().api.request(get)).status).toBe(status);
    expect(seen).toHaveLength(1);
  });

  it.each([408, 500, 502, 503, 504])('is not made for a POST after %d', async (status) => {
    const seen = answering(() => HttpResponse.json({}, { status }));
    await apiWith().api.request(post);
    expect(seen).toHaveLength(1);
  });

  it('is made for a GET after a broken connection, and then succeeds', async () => {
    const seen = answering(() => HttpResponse.error(), ok);
    expect(await apiWith().api.json(get)).toEqual({ actions: [] });
    expect(seen).toHaveLength(2);
  });

  it('is not made for a POST that was sent', async () => {
    const seen = answering(() => HttpResponse.error());
    await expect(apiWith().api.request(post)).rejects.toMatchObject({
      code: 'unreachable',
      exitCode: 6,
      cause: expect.objectContaining({ sent: true }),
    });
    expect(seen).toHaveLength(1);
  });

  it('is made for a POST that was never sent', async () => {
    const tried: string[] = [];
    const send: HttpSender = async (_url, { method }) => {
      tried.push(method);
      throw new SendError('refused', false, 'connection refused');
    };
    await expect(apiWith({ send }).api.request(post)).rejects.toMatchObject({ code: 'unreachable' });
    expect(tried).toEqual(['POST', 'POST', 'POST']);
  });

  it('through a proxy that cannot be reached names the variables that name it', () => {
    const lost = (atProxy: boolean) => unansweredError(new SendError('name', false, 'could not connect', { atProxy }));
    expect(lost(true).hint).toContain('HTTPS_PROXY');
    expect(lost(false).hint).toContain('config list');
  });

  it.each([
    ['tls', 'tls'],
    ['timeout', 'timeout'],
    ['aborted', 'unreachable'],
  ] as const)('is not made after %s', async (kind, code) => {
    let tries = 0;
    const send: HttpSender = async () => {
      tries += 1;
      throw new SendError(kind, false, 'no');
    };
    await expect(apiWith({ send }).api.request(get)).rejects.toMatchObject({ code, exitCode: 6 });
    expect(tries).toBe(1);
  });
});

it('a proxy that refuses the credentials is asked once, and its hint is shown', async () => {
  let tries = 0;
  const send: HttpSender = async () => {
    tries += 1;
    throw new SendError('connection', false, 'no', { atProxy: true, hint: 'check the password' });
  };
  await expect(apiWith({ send }).api.request(get)).rejects.toMatchObject({ hint: 'check the password', exitCode: 6 });
  expect(tries).toBe(1);
});

it.each([
  [true, 'http://'],
  [false, 'the dates of the certificate'],
])('a failed handshake (no TLS at the other end: %s) has the hint that helps', async (noTls, hint) => {
  const send: HttpSender = async () => {
    throw new SendError('tls', false, 'no', { noTls });
  };
  await expect(apiWith({ send }).api.request(get)).rejects.toMatchObject({
    code: 'tls',
    hint: expect.stringContaining(hint),
  });
});

it("an answer tells the server's time, and no time when its Date is none", async () => {
  const headers = { date: 'Thu, 01 Jan 2026 00:01:00 GMT' };
  answering(() => HttpResponse.json({}, { headers }));
  expect((await apiWith({}).api.request(get)).date).toBe(Date.parse('2026-01-01T00:01:00Z'));
  answering(() => HttpResponse.json({}, { headers: { date: 'now' } }));
  expect((await apiWith({}).api.request(get)).date).toBeUndefined();
});

describe('a 429 where only a success will do', () => {
  const refusal = (): Response => HttpResponse.json({}, { status: 429, headers: { 'retry-after': '3' } });

  it('is an error without patience', async () => {
    answering(refusal);
    await expect(apiWith().api.success(get)).rejects.toMatchObject({ code: 'rate_limited' });
  });

  it('is asked again as long as the patience lasts', async () => {
    const met: (number | undefined)[] = [];
    const patience = async ({ retryAfter }: { readonly retryAfter: number | undefined }): Promise<boolean> => {
      met.push(retryAfter);
      return met.length < 3;
    };
    const seen = answering(refusal, refusal, () => HttpResponse.json({ ok: true }));
    expect((await apiWith().api.success({ ...get, rateLimitRetry: patience })).status).toBe(200);
    expect([seen.length, met]).toEqual([3, [3, 3]]);
    answering(refusal);
    await expect(apiWith().api.success({ ...get, rateLimitRetry: patience })).rejects.toMatchObject({
      code: 'rate_limited',
    });
  });
});

describe('the time to wait after a 429', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    [{ 'retry-after': '17' }, 17],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'ratelimit-reset': String(now / 1000 + 90) }, 90],
    [{ 'retry-after': 'soon', 'ratelimit-reset': String(now / 1000 + 5) }, 5],
    [{ 'ratelimit-reset': 'soon' }, undefined],
    [{ 'retry-after': '2592000' }, 2_592_000],
    [{}, undefined],
  ])('of %j is %j s', async (headers, seconds) => {
    answering(() => HttpResponse.json({}, { status: 429, headers }));
    const { api } = apiWith({ clock: { now: () => now, sleep: async () => undefined } });
    expect((await api.request(get)).retryAfter).toBe(seconds);
  });

  it('is not taken from any other answer', async () => {
    answering(() => HttpResponse.json({}, { status: 200, headers: { 'retry-after': '17' } }));
    expect((await apiWith().api.request(get)).retryAfter).toBeUndefined();
  });
});

describe('over a real connection', () => {
  // msw looks at every request of this process, so it stands aside.
  beforeAll(() => server.close());
  afterAll(() => server.listen({ onUnhandledRequest: 'error' }));
  const real = async (baseOrigin: string, timeout = 2_000) =>
    apiWith({ baseOrigin, timeout, send: await undiciSender({ env: {} }) }).api;

  it('nobody listening is exit 6', async () => {
    const api = await real(await closedOrigin());
    await expect(api.request(post)).rejects.toMatchObject({
      code: 'unreachable',
      exitCode: 6,
      hint: expect.stringContaining('config list'),
    });
  });

  it.each([30, 50])('a limit of %d days is no limit that is over at once', async (days) => {
    const { origin } = await serverFor((_, response) => reply(response, 200, { actions: [] }));
    expect(await (await real(origin, days * 86_400_000)).json(get)).toEqual({ actions: [] });
  });

  it('the limit counts for a body that trickles', async () => {
    const { origin } = await serverFor((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    await expect((await real(origin, 200)).request(get)).rejects.toMatchObject({ code: 'timeout', exitCode: 6 });
  });

  it('a request ends when nobody wants it any longer, with the reason of that, and at its deadline like every other', async () => {
    const { origin } = await serverFor(() => undefined);
    const own = new AbortController();
    const given = (await real(origin, 60_000)).request({ ...get, until: own.signal });
    const reason = new Error('not wanted');
    setTimeout(() => own.abort(reason), 50);
    await expect(given).rejects.toBe(reason);
    await expect(
      (await real(origin, 50)).request({ ...get, until: new AbortController().signal }),
    ).rejects.toMatchObject({
      code: 'timeout',
    });
  });

  it('a request with a signal of its own has no other limit', async () => {
    const { origin } = await serverFor((seen, response) => {
      if (seen.url.includes('slow')) setTimeout(() => reply(response, 200, {}), 300);
    });
    const own = new AbortController();
    const api = await real(origin, 100);
    expect((await api.request({ method: 'POST', path: '/slow', signal: own.signal })).status).toBe(200);
    const never = api.request({ method: 'POST', path: '/never', signal: own.signal });
    own.abort();
    await expect(never).rejects.toMatchObject({ cause: { kind: 'aborted', sent: expect.any(Boolean) } });
  });

  it.each([
    [
      { 'ratelimit-remaining': '7', 'ratelimit-reset': '1800000000' },
      { remaining: 7, reset: 1_800_000_000 },
    ],
    [{ 'ratelimit-remaining': '7' }, undefined],
    [{ 'ratelimit-remaining': '-1', 'ratelimit-reset': 'soon' }, undefined],
  ])('%j tell the rate limit as %j', async (headers, limit) => {
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, {}, { ...headers, date: 'Thu, 01 Jan 2026 00:00:00 GMT' }),
    );
    const answer = await (await real(origin)).request(get);
    expect(answer.limit).toEqual(limit);
    expect(answer.date).toBe(Date.parse('2026-01-01T00:00:00Z'));
  });

  it('a GET survives an answer that was cut off once', async () => {
    const { origin, seen } = await serverFor((_, response, count) => {
      if (count > 1) return reply(response, 200, { actions: [] });
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"act');
      setTimeout(() => response.destroy(), 20);
    });
    expect(await (await real(origin)).json(get)).toEqual({ actions: [] });
    expect(seen).toHaveLength(2);
  });
});
