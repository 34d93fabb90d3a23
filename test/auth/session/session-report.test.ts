import { describe, expect, it } from 'vitest';
import { accountFromGrant } from '../../../src/auth/session/account.ts';
import type { CredentialRecord } from '../../../src/auth/session/credential-record.ts';
import {
  buildLoginSessionReport,
  computeReportedTokenSecondsLeft,
  determineReportedSessionState,
} from '../../../src/auth/session/session-report.ts';
import {
  getTokenFreshness,
  needsLoginError,
  requireCredentialRecord,
  requireCredentialRecordLengthLimit,
} from '../../../src/auth/session/stored-session.ts';
import { formatLoginCommand } from '../../../src/auth/session/suggested-commands.ts';
import { Secret } from '../../../src/base/secret.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const { refreshToken: _with, ...bare } = record();

function record(left = 3600, lifetime = 3600): CredentialRecord & { readonly refreshToken: Secret } {
  return {
    sid: 'sid-1',
    gen: 1,
    journalKey: new Secret('s'),
    accessToken: new Secret('at-hunter2'),
    refreshToken: new Secret('rt-hunter2'),
    expiresAt: now / 1000 + left,
    obtainedAt: now / 1000 + left - lifetime,
    scope: 'read',
    accountUuid: 'u-1',
    authOrigin: 'https://auth.example',
    baseOrigin: 'https://api.example',
    clientId: 'c',
  };
}

describe('how fresh a session is', () => {
  it.each([
    [301, 'valid'],
    [300, 'valid'],
    [299, 'expires_soon'],
    [1, 'expires_soon'],
    [0, 'expired'],
    [-1, 'expired'],
  ])('with %d s left: %s', (left, expected) => {
    expect(getTokenFreshness(record(left), now)).toBe(expected);
    expect(determineReportedSessionState(record(left), now)).toBe(expected);
  });

  it.each([
    [300, 61, 'valid'],
    [300, 60, 'valid'],
    [300, 59, 'expires_soon'],
    [10, 10, 'valid'],
    [10, 2, 'valid'],
    [10, 1, 'expires_soon'],
    [1500, 300, 'valid'],
    [1500, 299, 'expires_soon'],
    [86_400, 299, 'expires_soon'],
    // A record that was marked as expired at once.
    [0, 0, 'expired'],
    [-10, 1, 'valid'],
  ])('with a lifetime of %d s and %d s left: %s', (lifetime, left, expected) => {
    expect(getTokenFreshness(record(left, lifetime), now)).toBe(expected);
  });

  it('without a refresh token an expired one needs a login', () => {
    expect(determineReportedSessionState({ ...bare, expiresAt: now / 1000 }, now)).toBe('needs_login');
    const { refreshToken: _none, ...soon } = record(10);
    expect(determineReportedSessionState(soon, now)).toBe('expires_soon');
  });

  it('a refresh in doubt is said, whatever the clock says, but not of a session that has ended', () => {
    expect(determineReportedSessionState(record(), now, true)).toBe('in_doubt');
    expect(determineReportedSessionState(record(-1), now, true)).toBe('in_doubt');
    expect(determineReportedSessionState({ ...bare, expiresAt: now / 1000 }, now, true)).toBe('needs_login');
  });

  it('never has less than no seconds', () => {
    expect(computeReportedTokenSecondsLeft(record(-50), now)).toBe(0);
    expect(computeReportedTokenSecondsLeft(record(50), now + 999)).toBe(50);
  });
});

describe('the report of a session', () => {
  const info = { name: 'Maya', email: 'maya@example.com', uuid: 'u-1', teamName: 'Ops', teamUuid: 't-1' };

  it('has the documented shape and no token', () => {
    const report = buildLoginSessionReport(
      'work',
      record(),
      accountFromGrant('sid-1', info, 'read', 'code'),
      'keychain',
    );
    expect(report).toEqual({
      profile: 'work',
      name: 'Maya',
      email: 'maya@example.com',
      uuid: 'u-1',
      team_name: 'Ops',
      team_uuid: 't-1',
      scope: 'read',
      scope_verified: true,
      expires_at: '2026-01-01T01:00:00.000Z',
      flow: 'code',
      store: 'keychain',
    });
    expect(JSON.stringify(report)).not.toContain('hunter2');
  });

  it('does not name the person of an earlier session', () => {
    const report = buildLoginSessionReport('work', record(), accountFromGrant('sid-0', info, 'read', 'code'), 'file');
    expect(report).not.toHaveProperty('email');
    expect(report).toMatchObject({ flow: 'code', scope_verified: true });
  });

  it('without anybody is that of the implicit flow, unverified', () => {
    expect(buildLoginSessionReport('work', bare, undefined, 'file')).toMatchObject({
      flow: 'implicit',
      scope_verified: false,
    });
  });
});

describe('what the store holds', () => {
  it.each([
    [{ kind: 'absent', orphaned: false } as const, 'not_logged_in', 4],
    [{ kind: 'absent', orphaned: true } as const, 'needs_login', 4],
    [{ kind: 'damaged' } as const, 'not_logged_in', 4],
    [{ kind: 'elsewhere', record: record() } as const, 'not_logged_in', 4],
    [{ kind: 'unavailable', why: 'hung', reason: '' } as const, 'keychain_unavailable', 1],
  ])('%j is its own error', (stored, code, exitCode) => {
    expect(() => requireCredentialRecord(stored, profileNamed('work'), '/place')).toThrow(
      expect.objectContaining({ code, exitCode }),
    );
  });

  it('is told where it belongs when it belongs elsewhere, without a token', () => {
    try {
      requireCredentialRecord({ kind: 'elsewhere', record: record() }, profileNamed('work'), '/place');
      throw new Error('it was taken');
    } catch (error) {
      expect(error).toMatchObject({
        detail: expect.stringMatching(/https:\/\/auth\.example .* https:\/\/api\.example/),
      });
      expect(JSON.stringify(error)).not.toContain('hunter2');
    }
  });

  it.each([
    ['default', undefined, '`cloudctl auth login`'],
    ['default', 'read', '`cloudctl auth login`'],
    ['work', undefined, '`cloudctl auth login --profile work`'],
    ['work', 'write read', '`cloudctl auth login --scope "write read" --profile work`'],
    ['default', 'droplet:read', '`cloudctl auth login --scope droplet:read --any-scope`'],
    ['default', '$(rm -rf ~)', "`cloudctl auth login --scope '$(rm -rf ~)' --any-scope`"],
  ])('of %s with scope %s is had again by %s', (profile, scope, command) => {
    expect(formatLoginCommand(profileNamed(profile), scope)).toBe(command);
  });
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
      hint: '`cloudctl auth login --flow code --prompt none --account-hint a1b2c3 --scope read`',
    });
  });

  it.each([
    ['default', undefined, '`cloudctl auth login`'],
    ['work', undefined, '`cloudctl auth login --profile work`'],
    ['default', { scope: 'read' }, '`cloudctl auth login`'],
    [
      'default',
      { scope: 'read', accountUuid: 'A1b2C3d4-0000' },
      '`cloudctl auth login --prompt none --account-hint a1b2c3 --scope read`',
    ],
    [
      'work',
      { scope: 'read write', accountUuid: 'a1b2c3d4' },
      '`cloudctl auth login --prompt none --account-hint a1b2c3 --scope "read write" --profile work`',
    ],
    [
      'default',
      { scope: 'droplet:read', accountUuid: 'a1b2c3d4' },
      '`cloudctl auth login --prompt none --account-hint a1b2c3 --scope droplet:read --any-scope`',
    ],
    [
      'default',
      { scope: '"; rm -rf ~; "', accountUuid: 'a1b2c3d4' },
      '`cloudctl auth login --prompt none --account-hint a1b2c3`',
    ],
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
  const sized = (size: number): CredentialRecord => ({ ...record(), accessToken: new Secret('x'.repeat(size)) });
  const room = (() => {
    for (let size = 1; ; size++) {
      try {
        requireCredentialRecordLengthLimit({ maxLength: 1280, profile: profileNamed('work') }, sized(size));
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
  requireCredentialRecordLengthLimit({ maxLength: undefined, profile: profileNamed('work') }, sized(100_000));
});
