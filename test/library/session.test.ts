import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/library/sandbox.ts';
import {
  createFileTokenStore,
  createMemoryTokenStore,
  LoginRequiredError,
  RefreshRefusedError,
  type RefreshTokens,
  RequestNotSentError,
  removeTokens,
  saveTokens,
  type TokenStore,
  withFreshToken,
} from '../../src/library/session.ts';

const stores: readonly [string, () => TokenStore][] = [
  ['memory', createMemoryTokenStore],
  ['file', () => createFileTokenStore(join(folder(), 'session.json'))],
];

describe.each(stores)('a session in the %s store', (_, createStore) => {
  it('is refreshed once by many callers', async () => {
    const { store, refresh, sandbox } = await loggedIn(createStore());
    sandbox.clock.advance(40 * 86_400_000);
    await saveTokens(store, { ...sandbox.tokens.issue(), expiresInSeconds: 0 });
    const tokens = await Promise.all(Array.from({ length: 20 }, () => withFreshToken(store, refresh)));
    expect(new Set(tokens.map(({ accessToken }) => accessToken)).size).toBe(1);
    expect(sandbox.requests('POST /v1/oauth/token')).toHaveLength(1);
    expect(sandbox.tokens.state(tokens[0]?.accessToken ?? '')).toBe('valid');
  });

  it('is not refreshed while it is valid, and is when the server refused its token', async () => {
    const { store, refresh, sandbox } = await loggedIn(createStore());
    const { accessToken, expiresAt } = await withFreshToken(store, refresh);
    expect(sandbox.requests('POST /v1/oauth/token')).toEqual([]);
    expect(expiresAt?.getTime()).toBeGreaterThan(Date.now());
    const next = await withFreshToken(store, refresh, { refusedToken: accessToken });
    expect(next.accessToken).not.toBe(accessToken);
    expect(await withFreshToken(store, refresh, { refusedToken: accessToken })).toEqual(next);
  });

  it('adopts a grant that was written only to the journal', async () => {
    const { store, refresh, sandbox } = await loggedIn(createStore());
    const failing: TokenStore = { ...store, write: () => Promise.reject(new Error('the store is away')) };
    const { accessToken } = await withFreshToken(store, refresh);
    const next = await withFreshToken(failing, refresh, { refusedToken: accessToken });
    expect(await store.read()).toContain(accessToken);
    expect(await withFreshToken(store, refresh, { refusedToken: accessToken })).toEqual(next);
    expect(await store.read()).toContain(next.accessToken);
    expect(await store.journal.read()).toBeUndefined();
    expect(sandbox.requests('POST /v1/oauth/token')).toHaveLength(1);
  });

  it('needs a login after the server refused the refresh token', async () => {
    const { store, refresh, sandbox } = await loggedIn(createStore());
    const { accessToken } = await withFreshToken(store, refresh);
    sandbox.tokens.revoke(accessToken);
    const refused = { refusedToken: accessToken };
    await expect(withFreshToken(store, refresh, refused)).rejects.toBeInstanceOf(LoginRequiredError);
    await expect(withFreshToken(store, refresh, refused)).rejects.toBeInstanceOf(LoginRequiredError);
    expect(sandbox.requests('POST /v1/oauth/token')).toHaveLength(1);
    expect(await store.read()).not.toContain('refreshToken');
  });

  it('keeps the session when the request was not sent', async () => {
    const { store, refresh } = await loggedIn(createStore());
    const { accessToken } = await withFreshToken(store, refresh);
    const offline = () => Promise.reject(new RequestNotSentError('offline'));
    await expect(withFreshToken(store, offline, { refusedToken: accessToken })).rejects.toThrow('offline');
    expect(await store.journal.read()).toBeUndefined();
    expect((await withFreshToken(store, refresh, { refusedToken: accessToken })).accessToken).not.toBe(accessToken);
  });

  it('sends the refresh token again after a lost response', async () => {
    const { store, refresh, sandbox } = await loggedIn(createStore());
    const { accessToken } = await withFreshToken(store, refresh);
    sandbox.faults.add({ match: { path: '/v1/oauth/token' }, action: 'drop_before_commit' });
    await expect(withFreshToken(store, refresh, { refusedToken: accessToken })).rejects.toThrow();
    expect(await store.journal.read()).toBeDefined();
    expect((await withFreshToken(store, refresh, { refusedToken: accessToken })).accessToken).not.toBe(accessToken);
  });

  it('is missing after removeTokens', async () => {
    const { store, refresh } = await loggedIn(createStore());
    await removeTokens(store);
    await expect(withFreshToken(store, refresh)).rejects.toBeInstanceOf(LoginRequiredError);
  });
});

describe.each(stores)('a token with a short lifetime in the %s store', (_, createStore) => {
  it('is refreshed once by 20 callers, and not by the calls after them', async () => {
    const store = createStore();
    const { refresh, sent } = endpoint(300);
    await saveTokens(store, { accessToken: 'at-0', refreshToken: 'rt-0', expiresInSeconds: 0 });
    const tokens = await Promise.all(Array.from({ length: 20 }, () => withFreshToken(store, refresh)));
    expect(new Set(tokens.map(({ accessToken }) => accessToken))).toEqual(new Set(['at-1']));
    expect((await withFreshToken(store, refresh)).accessToken).toBe('at-1');
    expect(sent).toEqual(['rt-0']);
  });

  it('is refreshed once by 20 callers with a margin that is longer than its lifetime', async () => {
    const store = createStore();
    const { refresh, sent } = endpoint(300);
    await saveTokens(store, { accessToken: 'at-0', refreshToken: 'rt-0', expiresInSeconds: 0 });
    const call = () => withFreshToken(store, refresh, { marginSeconds: 600 });
    const tokens = await Promise.all(Array.from({ length: 20 }, call));
    expect(new Set(tokens.map(({ accessToken }) => accessToken))).toEqual(new Set(['at-1']));
    expect(sent).toEqual(['rt-0']);
    expect((await call()).accessToken).toBe('at-2');
  });
});

describe('the margin before the expiry', () => {
  it.each([
    [300, undefined, 239, 241],
    [10, undefined, 7, 8],
    [1500, undefined, 1199, 1201],
    [86_400, undefined, 86_099, 86_101],
    [86_400, 600, 85_799, 85_801],
    [300, 20, 279, 281],
  ])('of a token for %d s with marginSeconds %s', async (lifetime, marginSeconds, before, after) => {
    const start = Math.floor(Date.now() / 1000) * 1000;
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    onTestFinished(() => void vi.useRealTimers());
    const [store, { refresh }] = [createMemoryTokenStore(), endpoint(lifetime)];
    const options = marginSeconds === undefined ? {} : { marginSeconds };
    await saveTokens(store, { accessToken: 'at-0', refreshToken: 'rt-0', expiresInSeconds: lifetime });
    vi.setSystemTime(start + before * 1000);
    expect((await withFreshToken(store, refresh, options)).accessToken).toBe('at-0');
    vi.setSystemTime(start + after * 1000);
    expect((await withFreshToken(store, refresh, options)).accessToken).toBe('at-1');
  });
});

describe('a session that another caller refreshed after the first read', () => {
  it.each([
    ['is used', {}, 100, 'other'],
    ['is used if it expires within the margin', { marginSeconds: 600 }, 100, 'other'],
    ['is used if an older token was refused', { refusedToken: 'at-0' }, 100, 'other'],
    ['is refreshed if its token was refused', { refusedToken: 'other' }, 100, 'at-1'],
    ['is refreshed if it has expired', {}, 0, 'at-1'],
  ])('%s', async (_, options, expiresInSeconds, expected) => {
    const [store, { refresh, sent }] = [createMemoryTokenStore(), endpoint(300)];
    await saveTokens(store, { accessToken: 'at-0', refreshToken: 'rt-0', expiresInSeconds: 0 });
    const other = async () => ({ accessToken: 'other', refreshToken: 'rt-other', expiresInSeconds });
    const late: TokenStore = {
      ...store,
      withLock: async (work) => {
        await withFreshToken(store, other);
        return store.withLock(work);
      },
    };
    expect((await withFreshToken(late, refresh, options)).accessToken).toBe(expected);
    expect(sent).toEqual(expected === 'at-1' ? ['rt-other'] : []);
  });
});

describe('a refresh token that is not in the response', () => {
  const absent = [undefined, null, ''];

  it.each(absent)('as %j leaves the old one, which the second refresh sends again', async (refreshToken) => {
    const store = createMemoryTokenStore();
    await saveTokens(store, { accessToken: 'at-1', refreshToken: 'rt-1', expiresInSeconds: 0 });
    const sent: string[] = [];
    const refresh = async (token: string) => {
      sent.push(token);
      return { accessToken: `at-${sent.length + 1}`, refreshToken, expiresInSeconds: 3600 };
    };
    expect(await withFreshToken(store, refresh)).toMatchObject({ accessToken: 'at-2' });
    expect(await storedIn(store)).toMatchObject({ accessToken: 'at-2', refreshToken: 'rt-1', generation: 2 });
    expect(await withFreshToken(store, refresh, { refusedToken: 'at-2' })).toMatchObject({ accessToken: 'at-3' });
    expect(sent).toEqual(['rt-1', 'rt-1']);
  });

  it('does not replace a new one', async () => {
    const [store, { refresh }] = [createMemoryTokenStore(), endpoint(300)];
    await saveTokens(store, { accessToken: 'at-0', refreshToken: 'rt-0', expiresInSeconds: 0 });
    await withFreshToken(store, refresh);
    expect(await storedIn(store)).toMatchObject({ refreshToken: 'rt-1' });
  });
});

describe('tokens of a response that cannot be used', () => {
  const fault =
    (tokens: object): RefreshTokens =>
    async () =>
      JSON.parse(JSON.stringify(tokens));

  it.each([{}, { accessToken: '' }, { accessToken: null }, { accessToken: 7 }])(
    'the new refresh token beside an access token as in %j is sent by the next call',
    async (tokens) => {
      const store = createMemoryTokenStore();
      await saveTokens(store, { accessToken: 'at-1', refreshToken: 'rt-1', expiresInSeconds: 3600 });
      const broken = withFreshToken(store, fault({ ...tokens, refreshToken: 'rt-2' }), { refusedToken: 'at-1' });
      await expect(broken).rejects.toThrow(TypeError);
      expect(await storedIn(store)).toMatchObject({ refreshToken: 'rt-2', generation: 2 });
      expect(await store.journal.read()).toBeUndefined();
      const sent: string[] = [];
      const refresh: RefreshTokens = async (token) => {
        sent.push(token);
        return { accessToken: 'at-3', refreshToken: 'rt-3' };
      };
      expect(await withFreshToken(store, refresh)).toMatchObject({ accessToken: 'at-3' });
      expect(sent).toEqual(['rt-2']);
    },
  );

  it.each([7, true, {}, []])(
    'a refresh token %j has replaced the old one, which is not sent again',
    async (refreshToken) => {
      const store = createMemoryTokenStore();
      await saveTokens(store, { accessToken: 'at-1', refreshToken: 'rt-1', expiresInSeconds: 0 });
      const refresh = fault({ accessToken: 'at-2', refreshToken, expiresInSeconds: 3600 });
      expect(await withFreshToken(store, refresh)).toMatchObject({ accessToken: 'at-2' });
      expect(await storedIn(store)).not.toHaveProperty('refreshToken');
      expect(await withFreshToken(store, refresh)).toMatchObject({ accessToken: 'at-2' });
      await expect(withFreshToken(store, refresh, { refusedToken: 'at-2' })).rejects.toBeInstanceOf(LoginRequiredError);
    },
  );
});

describe('a lifetime', () => {
  it.each([
    [3600, 3600],
    ['3600', 3600],
    ['3599.5', 3599],
    [300.9, 300],
    [0, 0],
    [-5, -5],
    ['9999999999', 9_999_999_999],
    [1e300, 9_999_999_999],
  ])('of %j is %d seconds', async (expiresInSeconds, expected) => {
    const store = createMemoryTokenStore();
    await saveTokens(store, { accessToken: 'a', expiresInSeconds });
    const { expiresAt, obtainedAt } = await storedIn(store);
    expect(Number(expiresAt) - Number(obtainedAt)).toBe(expected);
    expect(Math.abs(Number(obtainedAt) - Date.now() / 1000)).toBeLessThan(60);
  });

  it.each([undefined, null, '', 'soon', '1e3', '-5', '0x10', ' 60', Number.NaN, Number.POSITIVE_INFINITY])(
    'of %j is unknown',
    async (expiresInSeconds) => {
      const store = createMemoryTokenStore();
      await saveTokens(store, { accessToken: 'a', expiresInSeconds });
      const stored = await storedIn(store);
      expect(Object.keys(stored).sort()).toEqual(['accessToken', 'generation', 'id', 'journal_key', 'v']);
      expect(await withFreshToken(store, endpoint(300).refresh)).toEqual({ accessToken: 'a', expiresAt: undefined });
    },
  );
});

it('the text of a session has these fields, and is read as it was written', async () => {
  const [store, { refresh }] = [createMemoryTokenStore(), endpoint(300)];
  const session = {
    ...{ v: 1, id: 'id-1', generation: 1, journal_key: 'k'.repeat(43) },
    ...{ accessToken: 'at-1', expiresAt: 9_999_999_999, obtainedAt: 1_800_000_000, refreshToken: 'rt-1' },
  };
  await store.write(JSON.stringify(session));
  const expiresAt = new Date(session.expiresAt * 1000);
  expect(await withFreshToken(store, refresh)).toEqual({ accessToken: 'at-1', expiresAt });
  await withFreshToken(store, refresh, { refusedToken: 'at-1' });
  const { id, generation, journal_key, refreshToken, ...rest } = await storedIn(store);
  expect([id, generation, journal_key, refreshToken]).toEqual(['id-1', 2, 'k'.repeat(43), 'rt-1']);
  expect(Object.keys(rest).sort()).toEqual(['accessToken', 'expiresAt', 'obtainedAt', 'v']);
});

it('the files have mode 0600, and the journal holds no token in plain text', async () => {
  const path = join(folder(), 'session.json');
  const { store, refresh } = await loggedIn(createFileTokenStore(path));
  const { accessToken } = await withFreshToken(store, refresh);
  const failing: TokenStore = { ...store, write: () => Promise.reject(new Error('the store is away')) };
  const next = await withFreshToken(failing, refresh, { refusedToken: accessToken });
  for (const name of [path, `${path}.journal`]) expect(statSync(name).mode & 0o777).toBe(0o600);
  expect(readFileSync(`${path}.journal`, 'latin1')).not.toContain(next.accessToken);
});

it('a damaged session is not overwritten', async () => {
  const { store, refresh } = await loggedIn(createMemoryTokenStore());
  await store.write('{"v":2}');
  await expect(withFreshToken(store, refresh)).rejects.toBeInstanceOf(LoginRequiredError);
  expect(await store.read()).toBe('{"v":2}');
});

it('an access token is required', async () => {
  await expect(saveTokens(createMemoryTokenStore(), { accessToken: '' })).rejects.toThrow(TypeError);
});

async function storedIn(store: TokenStore): Promise<Readonly<Record<string, unknown>>> {
  return JSON.parse((await store.read()) ?? '');
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cloudctl-library-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

async function loggedIn(store: TokenStore) {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  await saveTokens(store, { ...sandbox.tokens.issue(), expiresInSeconds: 30 * 86_400 });
  return { store, sandbox, refresh: refreshAt(sandbox) };
}

/** A token endpoint whose tokens have this lifetime. */
function endpoint(lifetime: number): { readonly refresh: RefreshTokens; readonly sent: readonly string[] } {
  const sent: string[] = [];
  const refresh: RefreshTokens = async (refreshToken) => {
    sent.push(refreshToken);
    return { accessToken: `at-${sent.length}`, refreshToken: `rt-${sent.length}`, expiresInSeconds: lifetime };
  };
  return { refresh, sent };
}

function refreshAt({ authUrl, client }: Sandbox): RefreshTokens {
  return async (refreshToken, signal) => {
    const query = { grant_type: 'refresh_token', refresh_token: refreshToken };
    const body = new URLSearchParams({ ...query, client_id: client.id, client_secret: client.secret });
    const response = await fetch(`${authUrl}/v1/oauth/token`, { method: 'POST', body, signal });
    const json = (await response.json()) as Record<string, string>;
    if (json.error === 'invalid_grant') throw new RefreshRefusedError(json.error);
    return {
      accessToken: json.access_token ?? '',
      refreshToken: json.refresh_token,
      expiresInSeconds: Number(json.expires_in),
    };
  };
}
