import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
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
  TokenStoreError,
  withFreshToken,
} from '../../src/library/session.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cloudctl-library-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const stores: readonly [string, () => TokenStore][] = [
  ['memory', createMemoryTokenStore],
  ['file', () => createFileTokenStore(join(folder(), 'session.json'))],
];

describe('a session', () => {
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
        await expect(withFreshToken(store, refresh, { refusedToken: 'at-2' })).rejects.toBeInstanceOf(
          LoginRequiredError,
        );
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
});

describe('the store of a session', () => {
  describe.each(stores)('a grant that the %s store cannot take', (_, createStore) => {
    it('is used from the journal by every later call', async () => {
      const { small, store, server, first } = await journalOnly(createStore());
      for (const options of [{}, { refusedToken: 'at-0' }, { refusedToken: 'another' }])
        expect(await withFreshToken(small, server.refresh, options)).toEqual(first);
      expect(server.sent).toEqual(['rt-0']);
      expect(await store.read()).toContain('at-0');
    });

    it('is used by many callers at once', async () => {
      const { small, server, first } = await journalOnly(createStore());
      const [refusedToken, marginSeconds] = [first.accessToken, 7200];
      const calls = Array.from({ length: 10 }, () =>
        withFreshToken(small, server.refresh, { refusedToken, marginSeconds }),
      );
      expect(new Set((await Promise.all(calls)).map(({ accessToken }) => accessToken)).size).toBe(1);
      expect(server.sent).toEqual(['rt-0', server.refreshToken(1)]);
    });

    it('is replaced by the grant of the next refresh, until the store takes one', async () => {
      const { small, store, server, first } = await journalOnly(createStore());
      const lengths: number[] = [];
      let { accessToken } = first;
      for (let round = 2; round <= 5; round++) {
        const next = await withFreshToken(small, server.refresh, { refusedToken: accessToken });
        expect(next.accessToken).toBe(server.accessToken(round));
        expect(await withFreshToken(small, server.refresh)).toEqual(next);
        lengths.push((await store.journal.read())?.length ?? 0);
        accessToken = next.accessToken;
      }
      // One more entry is kept, never all of them.
      expect(lengths.at(-1)).toBe(lengths[0]);
      expect((await withFreshToken(store, server.refresh)).accessToken).toBe(accessToken);
      expect(await store.read()).toContain(accessToken);
      expect(await store.journal.read()).toBeUndefined();
      expect(server.sent).toHaveLength(5);
    });

    it.each([
      ['was not sent', new RequestNotSentError('offline')],
      ['had no response', new Error('reset')],
    ])('remains when the next request %s', async (_case, error) => {
      const { small, server, first } = await journalOnly(createStore());
      for (let attempt = 0; attempt < 3; attempt++) {
        const failing = () => Promise.reject(error);
        await expect(withFreshToken(small, failing, { refusedToken: first.accessToken })).rejects.toBe(error);
        expect(await withFreshToken(small, server.refresh)).toEqual(first);
      }
      expect(server.sent).toEqual(['rt-0']);
      const next = await withFreshToken(small, server.refresh, { refusedToken: first.accessToken });
      expect(next.accessToken).toBe(server.accessToken(2));
    });

    it('is to the byte what the journal has after a request that was not sent', async () => {
      const { small, store, server, first } = await journalOnly(createStore());
      const only = Buffer.from((await store.journal.read()) ?? '');
      const offline = () => Promise.reject(new RequestNotSentError('offline'));
      await expect(withFreshToken(small, offline, { refusedToken: first.accessToken })).rejects.toThrow('offline');
      expect(Buffer.from((await store.journal.read()) ?? '').equals(only)).toBe(true);
      expect(await withFreshToken(small, server.refresh)).toEqual(first);
    });

    it('is found beside the entry of a refresh in doubt, however long it is', async () => {
      const { small, server, first } = await journalOnly(createStore(), 'z'.repeat(40_000));
      const lost = () => Promise.reject(new Error('reset'));
      await expect(withFreshToken(small, lost, { refusedToken: first.accessToken })).rejects.toThrow('reset');
      expect(await withFreshToken(small, server.refresh)).toEqual(first);
      expect(server.sent).toEqual(['rt-0']);
    });

    it('remains while the next request is under way, and when its response is only partly written', async () => {
      const { small, server, first } = await journalOnly(createStore());
      const begin: TokenStore['journal']['begin'] = async (head, room) => {
        const write = await small.journal.begin(head, room);
        return async (grant) => {
          await write(Buffer.concat([grant.subarray(0, 200), Buffer.alloc(grant.length - 200)]));
          throw new Error('killed');
        };
      };
      const torn = { ...small, journal: { ...small.journal, begin } };
      const watching: RefreshTokens = async (refreshToken, signal) => {
        expect(await withFreshToken({ ...small, withLock: (work) => work() }, server.refresh)).toEqual(first);
        return server.refresh(refreshToken, signal);
      };
      await expect(withFreshToken(torn, watching, { refusedToken: first.accessToken })).rejects.toThrow(
        TokenStoreError,
      );
      expect(await withFreshToken(small, server.refresh)).toEqual(first);
    });

    it('is no obstacle to the login that a refused refresh token needs', async () => {
      const { small, store, server, first } = await journalOnly(createStore());
      const refuse = () => Promise.reject(new RefreshRefusedError());
      const refused = { refusedToken: first.accessToken };
      for (let attempt = 0; attempt < 2; attempt++)
        await expect(withFreshToken(small, refuse, refused)).rejects.toBeInstanceOf(LoginRequiredError);
      await saveTokens(small, { accessToken: 'login', refreshToken: 'rt', expiresInSeconds: 3600 });
      expect((await withFreshToken(small, server.refresh)).accessToken).toBe('login');
      expect(await store.journal.read()).toBeUndefined();
    });
  });

  it.skipIf(process.platform === 'win32').each([0o777, 0o757, 0o722])(
    'a folder that others can write to (%o) is refused before anything is read or sent; the sticky bit makes it safe',
    async (mode) => {
      const shared = join(folder(), 'shared');
      mkdirSync(join(shared, 'own'), { recursive: true });
      const sent: string[] = [];
      const refresh: RefreshTokens = async (token) => {
        sent.push(token);
        return { accessToken: 'at-2', refreshToken: 'rt-2', expiresInSeconds: 3600 };
      };
      for (const path of [join(shared, 'session.json'), join(shared, 'own', 'session.json')]) {
        const store = createFileTokenStore(path);
        await saveTokens(store, { accessToken: 'at-1', refreshToken: 'rt-1', expiresInSeconds: 3600 });
        chmodSync(shared, mode);
        for (const options of [{}, { refusedToken: 'at-1' }])
          await expect(withFreshToken(store, refresh, options)).rejects.toMatchObject({
            name: 'TokenStoreError',
            code: 'failed',
          });
        await expect(saveTokens(store, { accessToken: 'at-1' })).rejects.toMatchObject({ code: 'failed' });
        expect(sent).toEqual([]);
        chmodSync(shared, mode | 0o1000);
        expect(await withFreshToken(store, refresh)).toMatchObject({ accessToken: 'at-1' });
      }
    },
  );

  it.skipIf(process.platform === 'win32').each([
    ['a FIFO', (path: string) => void execFileSync('mkfifo', ['-m', '600', path])],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a symbolic link', (path: string) => symlinkSync('elsewhere', path)],
    ['a file of mode 0644', (path: string) => writeFileSync(path, '', { mode: 0o644 })],
  ])('%s in place of the journal is an error before the refresh is sent', async (_what, create) => {
    const path = join(folder(), 'session.json');
    const [store, server] = [createFileTokenStore(path), createServer('')];
    await saveTokens(store, { accessToken: 'at-0', refreshToken: 'rt-0', expiresInSeconds: 86_400 });
    create(`${path}.journal`);
    expect((await withFreshToken(store, server.refresh)).accessToken).toBe('at-0');
    const refused = { refusedToken: 'at-0' };
    await expect(withFreshToken(store, server.refresh, refused)).rejects.toThrow(`${path}.journal`);
    expect(server.sent).toEqual([]);
    rmSync(`${path}.journal`, { recursive: true, force: true });
    expect((await withFreshToken(store, server.refresh, refused)).accessToken).toBe(server.accessToken(1));
  });

  /** A session whose first refresh was written to the journal, because the store takes no more than 600 characters. */
  async function journalOnly(store: TokenStore, ending = '') {
    const server = createServer(ending);
    const small: TokenStore = {
      ...store,
      write: async (text) => {
        if (text.length > 600) throw new TokenStoreError('too_long', `${text.length} characters`);
        await store.write(text);
      },
    };
    await saveTokens(small, { accessToken: 'at-0', refreshToken: 'rt-0', expiresInSeconds: 86_400 });
    const first = await withFreshToken(small, server.refresh, { refusedToken: 'at-0' });
    expect(first.accessToken).toBe(server.accessToken(1));
    return { small, store, server, first };
  }

  /** A token endpoint with long tokens that takes each refresh token once. */
  function createServer(ending: string) {
    const sent: string[] = [];
    const accessToken = (round: number) => `at-${round}-${'x'.repeat(600)}${ending}`;
    const refreshToken = (round: number) => (round === 0 ? 'rt-0' : `rt-${round}-${'y'.repeat(600)}`);
    const refresh: RefreshTokens = async (token) => {
      if (token !== refreshToken(sent.length)) throw new RefreshRefusedError();
      sent.push(token);
      return {
        accessToken: accessToken(sent.length),
        refreshToken: refreshToken(sent.length),
        expiresInSeconds: 3600,
      };
    };
    return { sent, accessToken, refreshToken, refresh };
  }
});
