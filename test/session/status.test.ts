import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/secret.ts';
import { accountOf } from '../../src/session/account.ts';
import { freshness, loginCommand, requireFits, requireRecord } from '../../src/session/current.ts';
import type { CredentialRecord } from '../../src/session/record.ts';
import { expiresIn, sessionReport, stateOf } from '../../src/session/status.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const { refreshToken: _with, ...bare } = record();

function record(left = 3600): CredentialRecord & { readonly refreshToken: Secret } {
  return {
    sid: 'sid-1',
    gen: 1,
    seal: new Secret('s'),
    accessToken: new Secret('at-hunter2'),
    refreshToken: new Secret('rt-hunter2'),
    expiresAt: now / 1000 + left,
    obtainedAt: now / 1000,
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
    expect(freshness(record(left), now)).toBe(expected);
    expect(stateOf(record(left), now)).toBe(expected);
  });

  it('without a refresh token an expired one needs a login', () => {
    expect(stateOf({ ...bare, expiresAt: now / 1000 }, now)).toBe('needs_login');
    expect(stateOf({ ...bare, expiresAt: now / 1000 + 10 }, now)).toBe('expires_soon');
  });

  it('never has less than no seconds', () => {
    expect(expiresIn(record(-50), now)).toBe(0);
    expect(expiresIn(record(50), now + 999)).toBe(50);
  });
});

describe('the report of a session', () => {
  const info = { name: 'Maya', email: 'maya@example.com', uuid: 'u-1', teamName: 'Ops', teamUuid: 't-1' };

  it('has the shape of the contract and no token', () => {
    const report = sessionReport('work', record(), accountOf('sid-1', info, 'read', 'code'), 'keychain');
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
    const report = sessionReport('work', record(), accountOf('sid-0', info, 'read', 'code'), 'file');
    expect(report).not.toHaveProperty('email');
    expect(report).toMatchObject({ flow: 'code', scope_verified: true });
  });

  it('without anybody is that of the implicit flow, unverified', () => {
    expect(sessionReport('work', bare, undefined, 'file')).toMatchObject({ flow: 'implicit', scope_verified: false });
  });
});

describe('what the store holds', () => {
  it.each([
    [{ kind: 'absent' } as const, 'not_logged_in', 4],
    [{ kind: 'damaged' } as const, 'not_logged_in', 4],
    [{ kind: 'elsewhere', record: record() } as const, 'not_logged_in', 4],
    [{ kind: 'unavailable', why: 'hung', reason: '' } as const, 'keychain_unavailable', 1],
  ])('%j is its own error', (stored, code, exitCode) => {
    expect(() => requireRecord(stored, 'work', '/place')).toThrow(expect.objectContaining({ code, exitCode }));
  });

  it('is told where it belongs when it belongs elsewhere, without a token', () => {
    try {
      requireRecord({ kind: 'elsewhere', record: record() }, 'work', '/place');
      throw new Error('it was taken');
    } catch (error) {
      expect(error).toMatchObject({ detail: expect.stringContaining('https://auth.example with https://api.example') });
      expect(JSON.stringify(error)).not.toContain('hunter2');
    }
  });

  it.each([
    ['default', '`cloudctl auth login`'],
    ['work', '`cloudctl auth login --profile work`'],
  ])('of %s is had again by %s', (profile, command) => {
    expect(loginCommand(profile)).toBe(command);
  });
});

it('a record fits up to 1280 characters, and not beyond', () => {
  const sized = (size: number): CredentialRecord => ({ ...record(), accessToken: new Secret('x'.repeat(size)) });
  const room = (() => {
    for (let size = 1; ; size++) {
      try {
        requireFits(sized(size));
      } catch (error) {
        expect(error).toMatchObject({ code: 'api_error', detail: expect.stringContaining('1281') });
        return size - 1;
      }
    }
  })();
  expect(room).toBeGreaterThan(500);
});
