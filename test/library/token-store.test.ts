import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createFileTokenStore,
  createMemoryTokenStore,
  LoginRequiredError,
  RefreshRefusedError,
  type RefreshTokens,
  RequestNotSentError,
  saveTokens,
  type TokenStore,
  TokenStoreError,
  withFreshToken,
} from '../../src/library/session.ts';

const stores: readonly [string, () => TokenStore][] = [
  ['memory', createMemoryTokenStore],
  ['file', () => createFileTokenStore(join(folder(), 'session.json'))],
];

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
    await expect(withFreshToken(torn, watching, { refusedToken: first.accessToken })).rejects.toThrow(TokenStoreError);
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

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cloudctl-library-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}
