import { describe, expect, it } from 'vitest';
import { accountFromGrant } from '../../../src/auth/session/account.ts';
import { describeLifetime, freshnessOf, type SessionRecord } from '../../../src/auth/session/record.ts';
import { loginReport, reportedState } from '../../../src/auth/session/report.ts';
import { Secret } from '../../../src/base/secret.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const { refreshToken: _with, ...bare } = record();

function record(left = 3600, lifetime = 3600): SessionRecord & { readonly refreshToken: Secret } {
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
    expect(freshnessOf(record(left), now)).toBe(expected);
    expect(reportedState(record(left), now)).toBe(expected);
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
    expect(freshnessOf(record(left, lifetime), now)).toBe(expected);
  });

  it('without a refresh token an expired one needs a login', () => {
    expect(reportedState({ ...bare, expiresAt: now / 1000 }, now)).toBe('needs_login');
    const { refreshToken: _none, ...soon } = record(10);
    expect(reportedState(soon, now)).toBe('expires_soon');
  });

  it('a refresh in doubt is said, whatever the clock says, but not of a session that has ended', () => {
    expect(reportedState(record(), now, true)).toBe('in_doubt');
    expect(reportedState(record(-1), now, true)).toBe('in_doubt');
    expect(reportedState({ ...bare, expiresAt: now / 1000 }, now, true)).toBe('needs_login');
  });
});

describe('the report of a session', () => {
  const info = { name: 'Maya', email: 'maya@example.com', uuid: 'u-1', teamName: 'Ops', teamUuid: 't-1' };

  it('has the documented shape and no token', () => {
    const report = loginReport('work', record(), accountFromGrant('sid-1', info, 'read', 'code'), 'keychain');
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
    const report = loginReport('work', record(), accountFromGrant('sid-0', info, 'read', 'code'), 'file');
    expect(report).not.toHaveProperty('email');
    expect(report).toMatchObject({ flow: 'code', scope_verified: true });
  });

  it('without anybody is that of the implicit flow, unverified', () => {
    expect(loginReport('work', bare, undefined, 'file')).toMatchObject({
      flow: 'implicit',
      scope_verified: false,
    });
  });
});

const at = (text: string): number => Math.floor(new Date(text).getTime() / 1000);

it.each([
  ['for 30 d (20 Dec)', '2026-12-20T09:00:00', '2026-11-20T09:00:01'],
  ['for 30 d (8 Jan 2027)', '2027-01-08T09:00:00', '2026-12-09T09:00:00'],
  ['for 2 d (3 Mar)', '2026-03-03T09:00:00', '2026-03-01T09:00:00'],
  ['for 1 d 1 h (until 14:05)', '2026-03-03T14:05:00', '2026-03-02T13:05:00'],
  ['for 1 h (until 09:05)', '2026-03-03T09:05:00', '2026-03-03T08:05:00'],
  ['for 1 min (until 09:05)', '2026-03-03T09:05:00', '2026-03-03T09:04:00'],
  ['for 0 s (until 09:05)', '2026-03-03T09:05:00', '2026-03-04T09:04:00'],
])('a lifetime is written as "%s"', (text, end, now) => {
  expect(describeLifetime(at(end), new Date(now).getTime())).toBe(text);
});
