import { describe, expect, it } from 'vitest';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import type { SessionRecord } from '../../../src/auth/session/record.ts';
import { createFileStore } from '../../../src/auth/session/store.ts';
import { loadSession, needsLoginError, requireLength, requireSession } from '../../../src/auth/session/stored.ts';
import { Secret } from '../../../src/base/secret.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';
import { beginRefresh, keychainStoreOf } from '../../fixtures/session.ts';

function record(): SessionRecord {
  return {
    sid: '0123456789abcdef',
    gen: 1,
    journalKey: new Secret('s'),
    accessToken: new Secret('at-hunter2'),
    refreshToken: new Secret('rt-hunter2'),
    expiresAt: Date.parse('2026-01-01T01:00:00Z') / 1000,
    obtainedAt: Date.parse('2026-01-01T00:00:00Z') / 1000,
    scope: 'read',
    accountUuid: 'u-1',
    authOrigin: 'https://auth.example',
    baseOrigin: 'https://api.example',
    clientId: 'c',
  };
}

describe('what the store holds', () => {
  it.each([
    [{ kind: 'absent', orphaned: false } as const, 'not_logged_in', 4],
    [{ kind: 'absent', orphaned: true } as const, 'needs_login', 4],
    [{ kind: 'damaged' } as const, 'not_logged_in', 4],
    [{ kind: 'elsewhere', record: record() } as const, 'not_logged_in', 4],
    [{ kind: 'unavailable', why: 'hung', reason: '' } as const, 'keychain_unavailable', 1],
  ])('%j is its own error', (stored, code, exitCode) => {
    expect(() => requireSession(stored, profileNamed('work'), '/place')).toThrow(
      expect.objectContaining({ code, exitCode }),
    );
  });

  it('is told where it belongs when it belongs elsewhere, without a token', () => {
    try {
      requireSession({ kind: 'elsewhere', record: record() }, profileNamed('work'), '/place');
      throw new Error('it was taken');
    } catch (error) {
      expect(error).toMatchObject({
        detail: expect.stringMatching(/https:\/\/auth\.example .* https:\/\/api\.example/),
      });
      expect(JSON.stringify(error)).not.toContain('hunter2');
    }
  });
});

it.each([
  ['file', false],
  ['keychain', true],
] as const)('a journal without an item in the %s store means that the item is missing: %s', async (kind, orphaned) => {
  const host = testHost();
  const place = profilePaths(host.folders.state, 'default');
  const store = kind === 'file' ? createFileStore(place) : keychainStoreOf(host);
  // The session of another sandbox, whose item `sandbox start` has removed, leaves its journal.
  (await beginRefresh(store, host, { ...record(), journalKey: new Secret('A'.repeat(43)) })).close();
  const binding = { authOrigin: 'https://auth.example', baseOrigin: 'https://api.example', clientId: 'c' };
  expect(await loadSession(store, binding)).toEqual({ kind: 'absent', orphaned });
});

describe('the command that leads back to a session that has ended', () => {
  it('names its flow where a login of the profile would take another', () => {
    expect(
      needsLoginError(profileNamed('work'), 'it has expired', { scope: 'read' }, ['--flow implicit']),
    ).toMatchObject({
      hint: '`cloudctl auth login --flow implicit --profile work`',
    });
    // The silent way exists in the code flow alone, which a profile of the implicit flow must be told.
    const session = { scope: 'read', accountUuid: 'a1b2c3d4' };
    expect(needsLoginError(profileNamed('default'), 'it has ended', session, ['--flow code'])).toMatchObject({
      hint: '`cloudctl auth login --flow code --account-hint a1b2c3 --scope read`',
    });
  });

  it.each([
    ['default', undefined, '`cloudctl auth login`'],
    ['work', undefined, '`cloudctl auth login --profile work`'],
    ['default', { scope: 'read' }, '`cloudctl auth login`'],
    [
      'default',
      { scope: 'read', accountUuid: 'A1b2C3d4-0000' },
      '`cloudctl auth login --account-hint a1b2c3 --scope read`',
    ],
    [
      'work',
      { scope: 'read write', accountUuid: 'a1b2c3d4' },
      '`cloudctl auth login --account-hint a1b2c3 --scope "read write" --profile work`',
    ],
    [
      'default',
      { scope: 'droplet:read', accountUuid: 'a1b2c3d4' },
      '`cloudctl auth login --account-hint a1b2c3 --scope droplet:read --any-scope`',
    ],
    ['default', { scope: '"; rm -rf ~; "', accountUuid: 'a1b2c3d4' }, '`cloudctl auth login --account-hint a1b2c3`'],
    ['default', { scope: 'read', accountUuid: 'not-a-uuid' }, '`cloudctl auth login`'],
    ['work', { scope: 'read write' }, '`cloudctl auth login --scope "read write" --profile work`'],
  ])('of %s after %j is %s', (profile, session, hint) => {
    expect(needsLoginError(profileNamed(profile), 'it has ended', session)).toMatchObject({
      code: 'needs_login',
      exitCode: 4,
      hint,
    });
  });
});

it('a record fits a keychain up to 1280 characters, and not beyond; a file has no limit', () => {
  const sized = (size: number): SessionRecord => ({ ...record(), accessToken: new Secret('x'.repeat(size)) });
  const room = (() => {
    for (let size = 1; ; size++) {
      try {
        requireLength({ maxLength: 1280, profile: profileNamed('work') }, sized(size));
      } catch (error) {
        expect(error).toMatchObject({
          code: 'keychain_unavailable',
          detail: expect.stringContaining('1281'),
        });
        expectGolden('auth', errorText(error));
        return size - 1;
      }
    }
  })();
  expect(room).toBeGreaterThan(500);
  requireLength({ maxLength: undefined, profile: profileNamed('work') }, sized(100_000));
});
