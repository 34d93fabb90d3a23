import { describe, expect, it } from 'vitest';
import { saveTokens, withFreshToken } from '../../src/library/session.ts';
import {
  buildStoredTokensAfterRefresh,
  decodeStoredTokens,
  encodeStoredTokens,
  type StoredTokens,
  storedTokenFields,
} from '../../src/library/stored-tokens.ts';
import { createMemoryTokenStore } from '../../src/library/token-store.ts';

const session: StoredTokens = {
  id: 'id-1',
  generation: 1,
  journalKey: 'k'.repeat(43),
  accessToken: 'at-1',
  refreshToken: 'rt-1',
  expiresAt: 1_800_000_300,
  obtainedAt: 1_800_000_000,
};

describe('a refresh token that is not in the response', () => {
  const absent = [undefined, null, ''];

  it.each(absent)('as %j leaves the old one', (refreshToken) => {
    const next = buildStoredTokensAfterRefresh(session, storedTokenFields({ accessToken: 'at-2', refreshToken }));
    expect(next).toMatchObject({ accessToken: 'at-2', refreshToken: 'rt-1', generation: 2 });
  });

  it.each(absent)('as %j is sent again by the second refresh', async (refreshToken) => {
    const store = createMemoryTokenStore();
    await saveTokens(store, { accessToken: 'at-1', refreshToken: 'rt-1', expiresInSeconds: 0 });
    const sent: string[] = [];
    const refresh = async (token: string) => {
      sent.push(token);
      return { accessToken: `at-${sent.length + 1}`, refreshToken, expiresInSeconds: 3600 };
    };
    expect(await withFreshToken(store, refresh)).toMatchObject({ accessToken: 'at-2' });
    expect(await withFreshToken(store, refresh, { refusedToken: 'at-2' })).toMatchObject({ accessToken: 'at-3' });
    expect(sent).toEqual(['rt-1', 'rt-1']);
  });

  it('does not replace a new one', () => {
    const fields = storedTokenFields({ accessToken: 'at-2', refreshToken: 'rt-2' });
    expect(buildStoredTokensAfterRefresh(session, fields)).toMatchObject({ refreshToken: 'rt-2' });
  });
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
  ])('of %j is %d seconds', (expiresInSeconds, expected) => {
    const { expiresAt = Number.NaN, obtainedAt = Number.NaN } = storedTokenFields({
      accessToken: 'a',
      expiresInSeconds,
    });
    expect(expiresAt - obtainedAt).toBe(expected);
    expect(Math.abs(obtainedAt - Date.now() / 1000)).toBeLessThan(60);
  });

  it.each([undefined, null, '', 'soon', '1e3', '-5', '0x10', ' 60', Number.NaN, Number.POSITIVE_INFINITY])(
    'of %j is unknown',
    (expiresInSeconds) => {
      expect(storedTokenFields({ accessToken: 'a', expiresInSeconds })).toEqual({ accessToken: 'a' });
    },
  );
});

describe('a stored session', () => {
  it('is read as it was written', () => {
    expect(decodeStoredTokens(encodeStoredTokens(session))).toEqual(session);
  });
});
