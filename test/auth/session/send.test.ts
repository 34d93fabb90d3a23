import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { listJournals } from '../../../src/auth/session/paths.ts';
import { refreshSession } from '../../../src/auth/session/refresh.ts';
import type { SessionRun } from '../../../src/auth/session/run.ts';
import { sendRefresh } from '../../../src/auth/session/send.ts';
import { Secret } from '../../../src/base/secret.ts';
import { type HttpInit, type HttpSender, SendError } from '../../../src/platform/http-sender.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { closedOrigin, type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { profileNamed } from '../../fixtures/profile.ts';
import { grantedTokens as granted, sessionAt } from './session-fixture.ts';

const due = { kind: 'due' } as const;

const origin = 'http://127.0.0.1:1';
const client = { authOrigin: origin, clientId: 'client-1', clientSecret: undefined, tokenParams: 'query' } as const;
const loginCommand = '`cloudctl auth login`';
const errorContext = {
  operation: 'refresh',
  origin,
  profile: profileNamed('default'),
  tokenParams: 'query',
  isSpecServer: false,
  loginCommand,
} as const;

/** A server that says nothing, until the request is given up. */
function silent() {
  let sent = 0;
  const send: HttpSender = (_url, { signal }) => {
    sent += 1;
    return new Promise((_resolve, reject) => {
      const end = () => reject(new SendError('timeout', true, 'no answer in time'));
      if (signal.aborted) end();
      signal.addEventListener('abort', end);
    });
  };
  return { send: async () => send, sent: () => sent };
}

it('the time of a command ends a request that is under way, and what became of it is not known', async () => {
  const [{ send, sent }, over] = [silent(), new AbortController()];
  const { run, record } = await sessionAt(origin);
  const attempted = sendRefresh({ ...run, send }, client, {
    refreshToken: new Secret('rt-1'),
    errorContext,
    endedContext: errorContext,
    deadline: over.signal,
    sentAt: 0,
    found: { record, inDoubt: false },
    ended: record,
    keep: async () => {},
  });
  setTimeout(() => over.abort(), 20);
  expect(await attempted).toMatchObject({
    kind: 'failed',
    mayBeProcessed: true,
    error: { code: 'timeout', exitCode: 6 },
  });
  expect(sent()).toBe(2);
});

describe('a server that does not follow docs/service.md, asked as if it did', () => {
  it.each([
    ['invalid_grant', undefined, 'needs_login', true],
    // A grant of docs/service.md S2.10 names the account, and its refresh takes no client credentials.
    ['invalid_grant', 'not-hexadecimal', 'needs_login', false],
    ['invalid_client', 'not-hexadecimal', 'invalid_client', false],
    ['invalid_client', undefined, 'invalid_client', true],
    ['invalid_request', undefined, 'api_error', true],
    ['unsupported_grant_type', undefined, 'api_error', true],
    ['invalid_scope', undefined, 'api_error', false],
  ] as const)(
    'that answers %s, for an account %s, is %s, and another way to send the credentials is suggested: %s',
    async (error, accountUuid, code, isSuggested) => {
      const { origin } = await serverFor((_, response) => reply(response, 400, { error }));
      const { run } = await sessionAt(origin, accountUuid === undefined ? {} : { accountUuid });
      const failure = await refreshSession(run, due).catch((caught) => caught);
      expect(failure).toMatchObject({ code });
      expect(failure.hint.includes('`cloudctl config set token_params body`')).toBe(isSuggested);
      expectGolden('auth', errorText(failure));
    },
  );

  it('that misses the credentials in the form may look for them in the header', async () => {
    const { origin } = await serverFor((_, response) => reply(response, 401, { error: 'invalid_client' }));
    const { run } = await sessionAt(origin);
    const client = { authOrigin: origin, clientId: 'c', tokenParams: 'body' } as const;
    const settings = { ...run.settings, values: { ...run.settings.values, token_params: 'body' as const } };
    const formRun = { ...run, settings, client: async () => client };
    const failure = await refreshSession(formRun, due).catch((caught) => caught);
    expect(failure.hint).toMatch(/ token_params basic`/);
  });
});

describe('an answer that is no grant', () => {
  it.each<[string, RequestHandler, object]>([
    [
      'a page',
      (_, response) => reply(response, 200, '<html>', { 'content-type': 'text/html' }),
      { code: 'api_error', status: 200 },
    ],
    [
      'a page of status 404',
      (_, response) => reply(response, 404, '<html>', { 'content-type': 'text/html' }),
      { code: 'api_error', status: 404 },
    ],
    [
      'an error beside a 200',
      (_, response) => reply(response, 200, { ...granted, error: 'invalid_grant' }),
      { code: 'api_error' },
    ],
    [
      'a grant without tokens',
      (_, response) => reply(response, 200, { ...granted, access_token: '', refresh_token: '' }),
      { code: 'api_error' },
    ],
    ['a redirect', (_, response) => reply(response, 307, '', { location: '/' }), { code: 'api_error', status: 307 }],
    ['more than 1 MiB', (_, response) => reply(response, 200, 'x'.repeat(1024 * 1024 + 1)), { code: 'api_error' }],
    [
      'invalid_client',
      (_, response) => reply(response, 401, { error: 'invalid_client' }),
      { code: 'invalid_client', exitCode: 4 },
    ],
    [
      'invalid_request',
      (_, response) => reply(response, 400, { error: 'invalid_request' }),
      { code: 'api_error', exitCode: 4 },
    ],
  ])('%s is an error after one request, and the session is kept', async (_what, answerer, expected) => {
    const { origin, seen } = await serverFor(answerer);
    const { run, stored } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject(expected);
    expect(seen).toHaveLength(1);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
    expect(stored()?.gen).toBe(1);
  });
});

describe('an answer with a new refresh token that is no grant', () => {
  it.each([
    ['without an access token', { access_token: undefined }],
    ['with an empty access token', { access_token: '' }],
    ['with a negative lifetime', { expires_in: -1 }],
    ['with no lifetime left', { expires_in: 0 }],
    ['with another token type', { token_type: 'mac' }],
    ['with a number as scope', { scope: 7 }],
  ])('%s is stored first and reported then: the next refresh sends the new one', async (what, changes) => {
    const sent: unknown[] = [];
    const { origin } = await serverFor((request, response) => {
      sent.push(new URL(request.url, 'http://server').searchParams.get('refresh_token'));
      reply(response, 200, sent.length === 1 ? { ...granted, ...changes } : { ...granted, refresh_token: 'rt-3' });
    });
    const { run, stored } = await sessionAt(origin);
    const error = await refreshSession(run, due).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'api_error', exitCode: 1 });
    if (what === 'without an access token') expectGolden('auth', errorText(error));
    expect([stored()?.gen, stored()?.refreshToken?.reveal()]).toEqual([2, 'rt-2']);
    await refreshSession(run, due);
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), sent]).toEqual([3, 'rt-3', ['rt-1', 'rt-2']]);
  });
});

describe('a server that sends every field in every response', () => {
  it.each([null, ''])('loses no session by an error %j beside a grant', async (error) => {
    const { origin } = await serverFor((_, response) => reply(response, 200, { ...granted, error }));
    const { run, stored } = await sessionAt(origin);
    await refreshSession(run, due);
    expect([stored()?.gen, stored()?.refreshToken?.reveal()]).toEqual([2, 'rt-2']);
  });

  it.each([null, ''])('ends a session by invalid_grant beside an access token %j', async (absent) => {
    const refusal = { access_token: absent, refresh_token: absent, error: 'invalid_grant' };
    const { origin } = await serverFor((_, response) => reply(response, 200, refusal));
    const { run, stored } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'needs_login' });
    expect(stored()).not.toHaveProperty('refreshToken');
  });
});

describe('a server that never says how long a token lives', () => {
  it('has a lifetime again after an answer without an access token', async () => {
    const { expires_in: _, ...silent } = granted;
    const { origin } = await serverFor((_request, response, count) =>
      reply(response, 200, count === 1 ? { ...silent, access_token: null } : { ...silent, refresh_token: 'rt-3' }),
    );
    const { run, stored } = await sessionAt(origin, { obtainedAt: Math.floor(Date.now() / 1000) - 3600 });
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'api_error' });
    await refreshSession(run, due);
    const { expiresAt = 0, obtainedAt = 0 } = stored() ?? {};
    expect(stored()?.refreshToken?.reveal()).toBe('rt-3');
    expect(expiresAt - obtainedAt).toBe(30 * 86_400);
  });
});

describe('a refresh that was certainly not processed', () => {
  it('is tried three times when nobody listens, and the session is kept', async () => {
    const origin = await closedOrigin();
    let tries = 0;
    const { run, stored, host } = await sessionAt(origin);
    const counting: SessionRun['send'] = async () => {
      tries += 1;
      return host.createSender({ env: {}, fresh: true });
    };
    await expect(refreshSession({ ...run, send: counting }, due)).rejects.toMatchObject({
      code: 'unreachable',
      exitCode: 6,
    });
    expect(tries).toBe(3);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
  });

  it('is sent again after a 429, three times in all', async () => {
    const { origin, seen } = await serverFor((_, response, count) =>
      count < 3 ? reply(response, 429, { error: 'slow_down' }) : reply(response, 200, granted),
    );
    const { run, stored } = await sessionAt(origin);
    await refreshSession(run, due);
    expect(seen).toHaveLength(3);
    expect(stored()?.gen).toBe(2);
  });

  it('is given up after three 429', async () => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 429, { error: 'slow_down' }));
    const { run, stored } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'api_error', status: 429 });
    expect(seen).toHaveLength(3);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
  });
});

describe('a refresh that may have been processed', () => {
  it.each<[string, RequestHandler]>([
    ['a 500', (_, response) => reply(response, 500, 'oops')],
    ['a dropped connection', (_, response) => void response.destroy()],
    [
      'a body that was cut off',
      (_, response) => {
        response.writeHead(200, { 'content-length': '500' });
        response.write('{"access');
        setTimeout(() => response.destroy(), 10);
      },
    ],
  ])('by %s is sent once more with the same token, which then decides', async (_what, doubtful) => {
    const { origin, seen } = await serverFor((request, response, count) =>
      count === 1 ? doubtful(request, response, count) : reply(response, 200, granted),
    );
    const { run, stored } = await sessionAt(origin);
    await refreshSession(run, due);
    expect(seen.map(({ url }) => url)).toEqual([seen[0]?.url, seen[0]?.url]);
    expect(stored()?.gen).toBe(2);
  });

  it('and is refused the second time ends the session', async () => {
    const { origin } = await serverFor((_, response, count) =>
      count === 1 ? void response.destroy() : reply(response, 400, { error: 'invalid_grant' }),
    );
    const { run } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'needs_login' });
  });

  it.each<[string, RequestHandler]>([
    ['a dropped connection', (_, response) => void response.destroy()],
    ['headers that are too long', (_, response) => reply(response, 200, granted, { x: 'x'.repeat(20_000) })],
    ['a 502', (_, response) => reply(response, 502, 'oops')],
  ])('by %s and is refused the second time names how the first answer was lost', async (_what, lose) => {
    for (const second of [{ error: 'invalid_grant' }, { error: 'invalid_request' }]) {
      const { origin } = await serverFor((request, response, count) =>
        count === 1 ? lose(request, response, count) : reply(response, 400, second),
      );
      const { run } = await sessionAt(origin);
      const error = await refreshSession(run, due).catch((caught) => caught);
      expectGolden('auth', errorText(error), second.error);
    }
  });

  it.each([
    ['a lost first one', 1],
    ['none', 0],
  ])('and is followed by an error that is not invalid_grant, after %s: %i journal is kept', async (_what, lost) => {
    const { origin } = await serverFor((_, response, count) =>
      count <= lost ? void response.destroy() : reply(response, 400, { error: 'invalid_request' }),
    );
    const { run, place, stored } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'api_error' });
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
    expect(listJournals(place)).toHaveLength(lost);
  });

  it('and fails in another way the second time names both', async () => {
    const { origin } = await serverFor((_, response, count) =>
      count === 1 ? reply(response, 502, 'oops') : void response.destroy(),
    );
    const { run } = await sessionAt(origin);
    const error = await refreshSession(run, due).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'unreachable' });
    expectGolden('auth', errorText(error));
  });

  it.each([408, 429, 500, 503])(
    'and is invalid_grant with the status %d to the last ends the session',
    async (status) => {
      const { origin, seen } = await serverFor((_, response) => reply(response, status, { error: 'invalid_grant' }));
      const { run, stored } = await sessionAt(origin);
      const error = await refreshSession(run, due).catch((caught) => caught);
      expect(error).toMatchObject({ code: 'needs_login', exitCode: 4 });
      expectGolden('auth', errorText(error));
      expect(stored()).not.toHaveProperty('refreshToken');
      expect(seen).toHaveLength(status === 429 ? 3 : 2);
    },
  );

  it('and is invalid_grant with the status 500 once, and then granted, goes on', async () => {
    const { origin } = await serverFor((_, response, count) =>
      count === 1 ? reply(response, 500, { error: 'invalid_grant' }) : reply(response, 200, granted),
    );
    const { run, stored } = await sessionAt(origin);
    await refreshSession(run, due);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-2');
  });

  it('twice is given up, and the session is kept for the next command', async () => {
    const { origin, seen } = await serverFor((_, response) => void response.destroy());
    const { run, stored } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'unreachable', exitCode: 6 });
    expect(seen).toHaveLength(2);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
  });

  it.each([503, 408])('twice by a %d names the answer', async (status) => {
    const { origin, seen } = await serverFor((_, response) =>
      reply(response, status, { error: 'temporarily_unavailable' }),
    );
    const { run } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'api_error', status });
    expect(seen).toHaveLength(2);
  });

  it('by a 408 without a word, because the request came too late, is made up for by the next try', async () => {
    const { origin, seen } = await serverFor((_, response, count) =>
      count === 1 ? void response.writeHead(408).end() : reply(response, 200, granted),
    );
    const { run } = await sessionAt(origin);
    await refreshSession(run, due);
    expect(seen).toHaveLength(2);
  });

  it.each(['tls', 'timeout'] as const)('ends with the code of %s', async (kind) => {
    const failing = async () => async (_url: string, _init: HttpInit) =>
      Promise.reject(new SendError(kind, true, 'no'));
    const { run } = await sessionAt('http://127.0.0.1:1', {}, { send: failing });
    const error = await refreshSession(run, due).catch((caught) => caught);
    expect(error).toMatchObject({ code: kind, exitCode: 6 });
    expectGolden('auth', errorText(error));
  });

  it('and whose time is over is an error with words, not a bug', async () => {
    const { run, host } = await sessionAt(
      'http://127.0.0.1:1',
      {},
      {
        send: async () => async () => Promise.reject(new SendError('timeout', true, 'no answer in time')),
      },
    );
    const clock = { ...host.clock, sleep: async () => Promise.reject(new DOMException('over', 'AbortError')) };
    await expect(refreshSession({ ...run, host: { ...host, clock } }, due)).rejects.toMatchObject({
      code: 'timeout',
      exitCode: 6,
    });
  });
});

describe('an answer whose end is damaged', () => {
  const text = JSON.stringify(granted);
  const damaged: readonly [string, (content: string) => RequestHandler][] = [
    [
      'a length that was announced too long',
      (content) => (_, response) => {
        response.writeHead(200, { 'content-length': content.length + 7 }).write(content);
        setTimeout(() => response.destroy(), 10);
      },
    ],
    [
      'a missing last chunk',
      (content) => (_, response) => {
        response.writeHead(200).write(content);
        setTimeout(() => response.destroy(), 10);
      },
    ],
    [
      'a compression without its trailer',
      (content) => (_, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(content).subarray(0, -8)),
    ],
  ];

  it.each(damaged)('by %s is a grant if its text is complete, and no second request is sent', async (_what, cut) => {
    const { origin, seen } = await serverFor(cut(text));
    const { run, stored } = await sessionAt(origin);
    await refreshSession(run, due);
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), seen.length]).toEqual([2, 'rt-2', 1]);
  });

  it.each(damaged)('by %s keeps at least the new refresh token', async (_what, cut) => {
    const { origin, seen } = await serverFor(cut(JSON.stringify({ ...granted, access_token: null })));
    const { run, stored } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'api_error' });
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), seen.length]).toEqual([2, 'rt-2', 1]);
  });

  it.each(damaged)('by %s keeps at least the new access token', async (_what, cut) => {
    const { origin, seen } = await serverFor(cut(JSON.stringify({ ...granted, refresh_token: 7 })));
    const { run, stored } = await sessionAt(origin);
    await refreshSession(run, due);
    expect([stored()?.gen, stored()?.accessToken.reveal(), seen.length]).toEqual([2, 'at-2', 1]);
    expect(stored()?.refreshToken).toBeUndefined();
  });

  it.each(damaged)('by %s is lost if its text is not complete', async (_what, cut) => {
    const { origin, seen } = await serverFor(cut(text.slice(0, -1)));
    const { run, stored } = await sessionAt(origin);
    await expect(refreshSession(run, due)).rejects.toMatchObject({ code: 'unreachable' });
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), seen.length]).toEqual([1, 'rt-1', 2]);
  });
});
