import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type CredentialRecord, encodeCredentialRecord } from '../../../src/auth/session/credential-record.ts';
import { createFileCredentialStore } from '../../../src/auth/session/file-store.ts';
import {
  createFileStoreRefreshJournal,
  type SecretFileReplacementFactory,
} from '../../../src/auth/session/file-store-journal.ts';
import {
  listTemporaryCredentialFiles,
  type ProfilePaths,
  profilePaths,
} from '../../../src/auth/session/profile-paths.ts';
import type { SessionRefreshDeps } from '../../../src/auth/session/refresh-session.ts';
import { refreshStoredSession } from '../../../src/auth/session/refresh-session.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { HttpRequestInit } from '../../../src/platform/http-sender.ts';
import { HttpSendError } from '../../../src/platform/http-sender.ts';
import { prepareSecretFileReplacement } from '../../../src/platform/secret-file.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { closedOrigin, type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { recordOf, refreshDeps, storedRecord } from '../../fixtures/session.ts';

const ready = { base_url: 'http://127.0.0.1:1', client_id: 'client-1', callback_url: '' };

interface Setup {
  readonly host: TestHost;
  readonly deps: SessionRefreshDeps & { readonly warnings: string[] };
  readonly record: CredentialRecord;
  readonly place: ProfilePaths;
  stored(): CredentialRecord | undefined;
}

/** A session that has expired, at an authorization server of the test. */
async function setup(
  origin: string,
  record: Partial<CredentialRecord> = {},
  changes: Partial<SessionRefreshDeps> = {},
): Promise<Setup> {
  const host = testHost();
  const sandbox = { ready: { ...readyLine, ...ready, auth_url: origin } };
  const grant = {
    access_token: 'at-1',
    refresh_token: 'rt-1',
    scope: 'read',
    expires_in: -10,
    token_type: 'bearer',
    info: {},
  };
  const old = recordOf(host, sandbox, grant, record);
  const place = profilePaths(host.folders.state, 'default');
  await createFileCredentialStore(place).withItems((items) => items.write('credential', encodeCredentialRecord(old)));
  return { host, deps: refreshDeps(host, sandbox, changes), record: old, place, stored: () => storedRecord(place) };
}

const readyLine = { panel_url: '', admin_url: '', admin_token: '', client_secret: '', users: [], clusters: [] };
const granted = {
  access_token: 'at-2',
  refresh_token: 'rt-2',
  token_type: 'bearer',
  expires_in: 3600,
  scope: 'read',
  info: { uuid: 'u-2' },
};
const due = { kind: 'due' } as const;

const grants: RequestHandler = (_, response) => reply(response, 200, granted);

describe('a refresh', () => {
  it('stores the new tokens under the next generation of the same session', async () => {
    const { origin, seen } = await serverFor(grants);
    const { deps, stored, record } = await setup(origin);
    const { record: renewed } = await refreshStoredSession(deps, due);
    expect(seen.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['POST', '/v1/oauth/token?grant_type=refresh_token&refresh_token=rt-1', ''],
    ]);
    expect(renewed.accessToken.reveal()).toBe('at-2');
    expect(stored()).toMatchObject({ sid: record.sid, gen: 2, accountUuid: 'u-2', scope: 'read' });
    expect(stored()?.refreshToken?.reveal()).toBe('rt-2');
    expect(stored()?.journalKey.reveal()).toBe(record.journalKey.reveal());
    expect((stored()?.expiresAt ?? 0) - (stored()?.obtainedAt ?? 0)).toBe(3600);
  });

  it('keeps what the answer leaves out', async () => {
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, { access_token: 'at-2', token_type: 'bearer', expires_in: 60 }),
    );
    const { deps, stored } = await setup(origin, { accountUuid: 'u-1', scope: 'read write' });
    await refreshStoredSession(deps, due);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
    expect(stored()).toMatchObject({ accountUuid: 'u-1', scope: 'read write' });
  });

  it('lives as long as the one before where the server does not say how long', async () => {
    const { expires_in: _, ...silent } = granted;
    const { origin } = await serverFor((_request, response) => reply(response, 200, silent));
    const now = Math.floor(Date.now() / 1000);
    const { deps, stored } = await setup(origin, { obtainedAt: now - 7300, expiresAt: now - 100 });
    await refreshStoredSession(deps, due);
    const next = stored();
    expect(next).toMatchObject({ gen: 2 });
    expect((next?.expiresAt ?? 0) - (next?.obtainedAt ?? 0)).toBe(7200);
  });

  it('is not sent when somebody else did it while the lock was awaited', async () => {
    const { origin, seen } = await serverFor(grants);
    const { deps, record } = await setup(origin);
    const fresh = { ...record, gen: 2, accessToken: new Secret('sibling'), expiresAt: record.expiresAt + 10_000 };
    const lock: SessionRefreshDeps['lock'] = async () => {
      await deps.store.withItems((items) => items.write('credential', encodeCredentialRecord(fresh)));
      return deps.lock();
    };
    for (const cause of [
      due,
      { kind: 'refused', token: new Secret('at-1') },
      { kind: 'forced', sid: record.sid, gen: 1 },
    ] as const) {
      expect((await refreshStoredSession({ ...deps, lock }, cause)).record.accessToken.reveal()).toBe('sibling');
    }
    expect(seen).toHaveLength(0);
  });

  it('carries client credentials only where the server wants them', async () => {
    const { origin, seen } = await serverFor(grants);
    const client = {
      authOrigin: origin,
      clientId: 'client-1',
      clientSecret: new Secret('shh'),
      tokenParams: 'body',
    } as const;
    const { deps } = await setup(origin, {}, { client: async () => client });
    await refreshStoredSession(deps, due);
    expect(seen[0]).toMatchObject({
      url: '/v1/oauth/token',
      body: 'grant_type=refresh_token&refresh_token=rt-1&client_id=client-1&client_secret=shh',
    });
  });

  it('is not sent while the environment would print it', async () => {
    const { origin, seen } = await serverFor(grants);
    const { deps } = await setup(
      origin,
      {},
      {
        requireSafe: () => {
          throw new Error('NODE_DEBUG');
        },
      },
    );
    await expect(refreshStoredSession(deps, due)).rejects.toThrow('NODE_DEBUG');
    expect(seen).toHaveLength(0);
  });

  it('of a session without refresh token is a login, and nothing is sent', async () => {
    const { origin, seen } = await serverFor(grants);
    const { deps, record, stored } = await setup(origin);
    const { refreshToken: _none, ...bare } = record;
    await deps.store.withItems((items) => items.write('credential', encodeCredentialRecord(bare)));
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'needs_login', exitCode: 4 });
    expect(stored()?.accessToken.reveal()).toBe('at-1');
    expect(seen).toHaveLength(0);
  });

  it('frees its lock however it ends', async () => {
    const { origin } = await serverFor((_, response) => reply(response, 400, { error: 'invalid_request' }));
    const { deps } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toThrow();
    (await deps.lock()).release();
  });
});

describe('a refresh token that is refused', () => {
  const refuses: RequestHandler = (_, response) =>
    reply(response, 400, { error: 'invalid_grant', error_description: 'used' });

  it('ends the session, and what is still good stays: the access token', async () => {
    const { origin, seen } = await serverFor(refuses);
    const { deps, stored, host } = await setup(origin, {
      expiresAt: Math.floor(Date.now() / 1000) + 120,
      obtainedAt: Math.floor(Date.now() / 1000) - 3480,
      accountUuid: 'u-1',
    });
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({
      code: 'needs_login',
      exitCode: 4,
      hint: '`cloudctl auth login`',
    });
    expect(stored()?.accessToken.reveal()).toBe('at-1');
    expect(stored()).not.toHaveProperty('refreshToken');
    expect(stored()?.expiresAt).toBeGreaterThan(host.clock.now() / 1000 + 60);
    expect(seen).toHaveLength(1);
  });

  it('leaves nothing good of a session whose access token was refused as well', async () => {
    const { origin } = await serverFor(refuses);
    const { deps, stored, host } = await setup(origin, { expiresAt: Math.floor(Date.now() / 1000) + 9_999 });
    await expect(refreshStoredSession(deps, { kind: 'refused', token: new Secret('at-1') })).rejects.toMatchObject({
      code: 'needs_login',
    });
    expect(stored()?.expiresAt).toBeLessThanOrEqual(host.clock.now() / 1000);
  });
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
      const { deps } = await setup(origin, accountUuid === undefined ? {} : { accountUuid });
      const failure = await refreshStoredSession(deps, due).catch((caught) => caught);
      expect(failure).toMatchObject({ code });
      expect(failure.hint.includes('`cloudctl config set token_params body`')).toBe(isSuggested);
      expectGolden('auth', errorText(failure));
    },
  );

  it('that misses the credentials in the form may look for them in the header', async () => {
    const { origin } = await serverFor((_, response) => reply(response, 401, { error: 'invalid_client' }));
    const { deps } = await setup(origin);
    const client = { authOrigin: origin, clientId: 'c', tokenParams: 'body' } as const;
    const failure = await refreshStoredSession({ ...deps, client: async () => client }, due).catch((caught) => caught);
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
      { code: 'api_error', exitCode: 1 },
    ],
  ])('%s is an error after one request, and the session is kept', async (_what, answerer, expected) => {
    const { origin, seen } = await serverFor(answerer);
    const { deps, stored } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject(expected);
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
    const { deps, stored } = await setup(origin);
    const error = await refreshStoredSession(deps, due).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'api_error', exitCode: 1 });
    if (what === 'without an access token') expectGolden('auth', errorText(error));
    expect([stored()?.gen, stored()?.refreshToken?.reveal()]).toEqual([2, 'rt-2']);
    await refreshStoredSession(deps, due);
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), sent]).toEqual([3, 'rt-3', ['rt-1', 'rt-2']]);
  });
});

describe('a server that sends every field in every response', () => {
  it.each([null, ''])('loses no session by an error %j beside a grant', async (error) => {
    const { origin } = await serverFor((_, response) => reply(response, 200, { ...granted, error }));
    const { deps, stored } = await setup(origin);
    await refreshStoredSession(deps, due);
    expect([stored()?.gen, stored()?.refreshToken?.reveal()]).toEqual([2, 'rt-2']);
  });

  it.each([null, ''])('ends a session by invalid_grant beside an access token %j', async (absent) => {
    const refusal = { access_token: absent, refresh_token: absent, error: 'invalid_grant' };
    const { origin } = await serverFor((_, response) => reply(response, 200, refusal));
    const { deps, stored } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'needs_login' });
    expect(stored()).not.toHaveProperty('refreshToken');
  });
});

describe('a server that never says how long a token lives', () => {
  it('has a lifetime again after an answer without an access token', async () => {
    const { expires_in: _, ...silent } = granted;
    const { origin } = await serverFor((_request, response, count) =>
      reply(response, 200, count === 1 ? { ...silent, access_token: null } : { ...silent, refresh_token: 'rt-3' }),
    );
    const { deps, stored } = await setup(origin, { obtainedAt: Math.floor(Date.now() / 1000) - 3600 });
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'api_error' });
    await refreshStoredSession(deps, due);
    const { expiresAt = 0, obtainedAt = 0 } = stored() ?? {};
    expect(stored()?.refreshToken?.reveal()).toBe('rt-3');
    expect(expiresAt - obtainedAt).toBe(30 * 86_400);
  });
});

describe('a refresh that was certainly not processed', () => {
  it('is tried three times when nobody listens, and the session is kept', async () => {
    const origin = await closedOrigin();
    let tries = 0;
    const { deps, stored, host } = await setup(origin);
    const counting: SessionRefreshDeps['createSender'] = async () => {
      tries += 1;
      return host.createSender({ env: {}, fresh: true });
    };
    await expect(refreshStoredSession({ ...deps, createSender: counting }, due)).rejects.toMatchObject({
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
    const { deps, stored } = await setup(origin);
    await refreshStoredSession(deps, due);
    expect(seen).toHaveLength(3);
    expect(stored()?.gen).toBe(2);
  });

  it('is given up after three 429', async () => {
    const { origin, seen } = await serverFor((_, response) => reply(response, 429, { error: 'slow_down' }));
    const { deps, stored } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'api_error', status: 429 });
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
    const { deps, stored } = await setup(origin);
    await refreshStoredSession(deps, due);
    expect(seen.map(({ url }) => url)).toEqual([seen[0]?.url, seen[0]?.url]);
    expect(stored()?.gen).toBe(2);
  });

  it('and is refused the second time ends the session', async () => {
    const { origin } = await serverFor((_, response, count) =>
      count === 1 ? void response.destroy() : reply(response, 400, { error: 'invalid_grant' }),
    );
    const { deps } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'needs_login' });
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
      const { deps } = await setup(origin);
      const error = await refreshStoredSession(deps, due).catch((caught) => caught);
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
    const { deps, place, stored } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'api_error' });
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
    expect(listTemporaryCredentialFiles(place)).toHaveLength(lost);
  });

  it('and fails in another way the second time names both', async () => {
    const { origin } = await serverFor((_, response, count) =>
      count === 1 ? reply(response, 502, 'oops') : void response.destroy(),
    );
    const { deps } = await setup(origin);
    const error = await refreshStoredSession(deps, due).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'unreachable' });
    expectGolden('auth', errorText(error));
  });

  it.each([408, 429, 500, 503])(
    'and is invalid_grant with the status %d to the last ends the session',
    async (status) => {
      const { origin, seen } = await serverFor((_, response) => reply(response, status, { error: 'invalid_grant' }));
      const { deps, stored } = await setup(origin);
      const error = await refreshStoredSession(deps, due).catch((caught) => caught);
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
    const { deps, stored } = await setup(origin);
    await refreshStoredSession(deps, due);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-2');
  });

  it('twice is given up, and the session is kept for the next command', async () => {
    const { origin, seen } = await serverFor((_, response) => void response.destroy());
    const { deps, stored } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'unreachable', exitCode: 6 });
    expect(seen).toHaveLength(2);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
  });

  it.each([503, 408])('twice by a %d names the answer', async (status) => {
    const { origin, seen } = await serverFor((_, response) =>
      reply(response, status, { error: 'temporarily_unavailable' }),
    );
    const { deps } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'api_error', status });
    expect(seen).toHaveLength(2);
  });

  it('by a 408 without a word, because the request came too late, is made up for by the next try', async () => {
    const { origin, seen } = await serverFor((_, response, count) =>
      count === 1 ? void response.writeHead(408).end() : reply(response, 200, granted),
    );
    const { deps } = await setup(origin);
    await refreshStoredSession(deps, due);
    expect(seen).toHaveLength(2);
  });

  it.each(['tls', 'timeout'] as const)('ends with the code of %s', async (kind) => {
    const failing = async () => async (_url: string, _init: HttpRequestInit) =>
      Promise.reject(new HttpSendError(kind, true, 'no'));
    const { deps } = await setup('http://127.0.0.1:1', {}, { createSender: failing });
    const error = await refreshStoredSession(deps, due).catch((caught) => caught);
    expect(error).toMatchObject({ code: kind, exitCode: 6 });
    expectGolden('auth', errorText(error));
  });

  it('and whose time is over is an error with words, not a bug', async () => {
    const { deps, host } = await setup(
      'http://127.0.0.1:1',
      {},
      {
        createSender: async () => async () => Promise.reject(new HttpSendError('timeout', true, 'no answer in time')),
      },
    );
    const clock = { ...host.clock, sleep: async () => Promise.reject(new DOMException('over', 'AbortError')) };
    await expect(refreshStoredSession({ ...deps, clock }, due)).rejects.toMatchObject({ code: 'timeout', exitCode: 6 });
  });
});

describe('a signal during a refresh', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 130],
  ] as const)('%s waits for the commit and then ends with %d', async (signal, exitCode) => {
    const { origin } = await serverFor((_, response) => {
      expect(host.signal(signal)).toBe(1);
      setTimeout(() => reply(response, 200, granted), 30);
    });
    const { deps, stored, host } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'cancelled', exitCode });
    expect(stored()?.gen).toBe(2);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-2');
    expect(host.signal(signal)).toBe(0);
  });

  it('ends with its status although the refresh failed', async () => {
    const { origin } = await serverFor((_, response) => {
      host.signal('SIGTERM');
      reply(response, 400, { error: 'invalid_request' });
    });
    const { deps, stored, host } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'cancelled', exitCode: 143 });
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
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
    const { deps, stored } = await setup(origin);
    await refreshStoredSession(deps, due);
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), seen.length]).toEqual([2, 'rt-2', 1]);
  });

  it.each(damaged)('by %s keeps at least the new refresh token', async (_what, cut) => {
    const { origin, seen } = await serverFor(cut(JSON.stringify({ ...granted, access_token: null })));
    const { deps, stored } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'api_error' });
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), seen.length]).toEqual([2, 'rt-2', 1]);
  });

  it.each(damaged)('by %s is lost if its text is not complete', async (_what, cut) => {
    const { origin, seen } = await serverFor(cut(text.slice(0, -1)));
    const { deps, stored } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'unreachable' });
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), seen.length]).toEqual([1, 'rt-1', 2]);
  });
});

describe('the commit of a refresh', () => {
  it('is of any length', async () => {
    const { origin } = await serverFor((_, response) =>
      reply(response, 200, { ...granted, access_token: 'x'.repeat(4_000) }),
    );
    const { deps, stored } = await setup(origin);
    await refreshStoredSession(deps, due);
    expect(stored()?.accessToken.reveal()).toHaveLength(4_000);
    expect(deps.warnings).toEqual([]);
  });

  it('is made at the last byte that was announced, before the connection tells its end', async () => {
    const { deps, stored } = await setup(await closedOrigin());
    const body = JSON.stringify(granted);
    const seen: unknown[] = [];
    const send = async () => async () => ({
      status: 200,
      headers: { get: (name: string) => (name === 'content-length' ? String(body.length) : null) },
      text: async () => body,
      body: (async function* () {
        yield Buffer.from(body);
        seen.push(stored()?.gen);
        throw new HttpSendError('connection', true, 'it was reset');
      })(),
    });
    expect((await refreshStoredSession({ ...deps, createSender: send }, due)).record.gen).toBe(2);
    expect(seen).toEqual([2]);
  });

  it('that the prepared file refuses is made a second time', async () => {
    const { origin } = await serverFor(grants);
    const { deps, stored, place } = await setup(origin);
    await refreshStoredSession(
      { ...deps, store: createFileCredentialStore(place, createFileStoreRefreshJournal(place, failing(1))) },
      due,
    );
    expect(stored()?.gen).toBe(2);
    expect(deps.warnings).toEqual([]);
  });

  it.each(['ENOSPC', 'EROFS', 'EACCES'])(
    'that has no place on a disk with %s is known before anything is sent',
    async (code) => {
      const { origin, seen } = await serverFor(grants);
      const { deps, stored, place } = await setup(origin);
      const full = createFileStoreRefreshJournal(place, () => {
        throw Object.assign(new Error(`${code}: no`), { code });
      });
      const failure = refreshStoredSession({ ...deps, store: createFileCredentialStore(place, full) }, due);
      const error = await failure.catch((caught) => caught);
      expect(error).toMatchObject({ code: 'storage', exitCode: 7 });
      expectGolden('auth', errorText(error));
      expect(seen).toHaveLength(0);
      expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
      await refreshStoredSession(deps, due);
      expect(stored()?.gen).toBe(2);
    },
  );

  it('leaves no temporary file behind', async () => {
    const { origin } = await serverFor(grants);
    const { deps, host } = await setup(origin);
    await refreshStoredSession(deps, due);
    expect(readdirSync(`${host.folders.state}/sessions`).sort()).toEqual(['default.credential.json', 'default.lock']);
  });

  it('that cannot be put in its place is an error, and the grant is used by the next command', async () => {
    const { origin, seen } = await serverFor(grants);
    const { deps, stored, place, host, record } = await setup(origin);
    const stuck = createFileStoreRefreshJournal(place, (path, reserve) => {
      const real = prepareSecretFileReplacement(path, reserve);
      const commit: typeof real.commit = (text) => {
        // As with a file that was mounted in the meantime.
        rmSync(path);
        mkdirSync(`${path}/x`, { recursive: true });
        return real.commit(text);
      };
      return { ...real, commit };
    });
    const error = await refreshStoredSession({ ...deps, store: createFileCredentialStore(place, stuck) }, due).catch(
      (caught) => caught,
    );
    expect(error).toMatchObject({ code: 'keychain_unavailable', exitCode: 1 });
    const [temporary = ''] = listTemporaryCredentialFiles(place);
    expect(error.detail).toContain(temporary);
    const bare = errorText(error)
      .replaceAll(host.folders.state, '/state')
      .replace(/\d+\.\d+\.ready/g, '1.1.ready');
    expectGolden('auth', bare);
    rmSync(place.credentialFile, { recursive: true });
    await createFileCredentialStore(place).withItems((items) =>
      items.write('credential', encodeCredentialRecord(record)),
    );
    await refreshStoredSession(deps, due);
    expect([stored()?.gen, stored()?.refreshToken?.reveal(), seen.length]).toEqual([2, 'rt-2', 1]);
    expect(listTemporaryCredentialFiles(place)).toEqual([]);
  });

  it('in a folder that went away is told as well', async () => {
    const { origin } = await serverFor((_, response) => {
      rmSync(`${host.folders.state}/sessions/default.credential.json`);
      mkdirSync(`${host.folders.state}/sessions/default.credential.json/x`, { recursive: true });
      reply(response, 200, granted);
    });
    const { deps, host } = await setup(origin);
    await expect(refreshStoredSession(deps, due)).rejects.toMatchObject({ code: 'keychain_unavailable', exitCode: 1 });
  });
});

/** A prepared file whose first commits fail. */
function failing(times: number): SecretFileReplacementFactory {
  let left = times;
  return (path, reserve) => {
    const real = prepareSecretFileReplacement(path, reserve);
    const commit: typeof real.commit = (text, ...rest) => {
      if (left-- <= 0) return real.commit(text, ...rest);
      real.abandon();
      throw new Error('no');
    };
    return { ...real, commit };
  };
}
