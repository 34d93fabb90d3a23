import { mkdtempSync, rmSync } from 'node:fs';
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
import { reserveTokenJournalEntry, splitTokenJournalEntries } from '../../src/library/token-journal-entries.ts';

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

it('a journal is split before the header of its last entry', async () => {
  const { journal } = createMemoryTokenStore();
  const session = {
    id: 'id-1',
    generation: 1,
    journalKey: Buffer.alloc(32).toString('base64url'),
    accessToken: 'at-1',
  };
  const writeFirst = await reserveTokenJournalEntry(journal, session, 'rt-1');
  await writeFirst({ ...session, generation: 2 });
  const first = await journal.read();
  expect(splitTokenJournalEntries(first ?? Buffer.alloc(0))).toEqual([first]);
  await reserveTokenJournalEntry(journal, { ...session, generation: 2 }, 'rt-2', first);
  const [newest, before] = splitTokenJournalEntries((await journal.read()) ?? Buffer.alloc(0));
  expect(before).toEqual(first);
  expect(newest?.indexOf('{"op":"refresh","sid":"id-1","gen":3')).toBe(0);
  expect(splitTokenJournalEntries(Buffer.alloc(0))).toEqual([]);
  expect(splitTokenJournalEntries(Buffer.from('damaged'))).toEqual([Buffer.from('damaged')]);
});

/** A session whose first refresh was written to the journal, because the store takes no more than 600 characters. */
async function journalOnly(store: TokenStore) {
  const server = createServer();
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
function createServer() {
  const sent: string[] = [];
  const accessToken = (round: number) => `at-${round}-${'x'.repeat(600)}`;
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
