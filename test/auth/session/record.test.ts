import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  belongsTo,
  decodeRecord,
  encodeRecord,
  type SessionRecord,
  secondsLeft,
  unknownExpiry,
} from '../../../src/auth/session/record.ts';
import { Secret } from '../../../src/base/secret.ts';

const record: SessionRecord = {
  sid: '0123456789abcdef',
  gen: 3,
  journalKey: new Secret('seal-1'),
  accessToken: new Secret('at-1'),
  refreshToken: new Secret('rt-1'),
  expiresAt: 2_000_000_000,
  obtainedAt: 1_900_000_000,
  scope: 'read write',
  accountUuid: 'u-1',
  authOrigin: 'https://auth.example',
  baseOrigin: 'https://api.example',
  clientId: 'client-1',
};

function json(changes: object): string {
  return JSON.stringify({ ...JSON.parse(encodeRecord(record).reveal()), ...changes });
}

describe('a record', () => {
  it('comes back as it was stored', () => {
    const back = decodeRecord(encodeRecord(record).reveal());
    expect(back?.refreshToken?.reveal()).toBe('rt-1');
    expect(back?.journalKey.reveal()).toBe('seal-1');
    expect(JSON.parse(encodeRecord(back ?? record).reveal())).toEqual(JSON.parse(encodeRecord(record).reveal()));
  });

  it('of a token that was given is valid for every version, until the server refuses it', () => {
    const given = decodeRecord(
      json({ given_token: true, scope: '', refresh_token: undefined, expires_at: unknownExpiry }),
    );
    expect(given).toMatchObject({ isGivenToken: true, scope: '' });
    expect(JSON.parse(encodeRecord(given ?? record).reveal())).toMatchObject({ given_token: true });
    expect(new Date(unknownExpiry * 1000).toISOString()).toBe('9999-12-31T23:59:59.000Z');
    expect(decodeRecord(json({ given_token: 'yes' }))).not.toHaveProperty('isGivenToken');
  });

  it('has the fields of the design, and no other', () => {
    expect(Object.keys(JSON.parse(encodeRecord(record).reveal()))).toEqual([
      'v',
      'sid',
      'gen',
      'seal',
      'access_token',
      'refresh_token',
      'expires_at',
      'obtained_at',
      'scope',
      'account_uuid',
      'auth_origin',
      'base_origin',
      'client_id',
    ]);
  });

  it('without refresh token and account stays without', () => {
    const { refreshToken: _token, accountUuid: _uuid, ...bare } = record;
    const back = decodeRecord(encodeRecord(bare).reveal());
    expect(back).not.toHaveProperty('refreshToken');
    expect(back).not.toHaveProperty('accountUuid');
  });

  it('does not print', () => {
    expect(`${encodeRecord(record)} ${JSON.stringify(record)}`).not.toMatch(/at-1|rt-1|seal-1/);
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    json({ v: 2 }),
    json({ v: undefined }),
    json({ sid: 7 }),
    json({ gen: '3' }),
    json({ seal: undefined }),
    json({ access_token: null }),
    json({ scope: undefined }),
    json({ expires_at: 'soon' }),
    json({ obtained_at: undefined }),
    json({ auth_origin: undefined }),
    json({ base_origin: undefined }),
    json({ client_id: undefined }),
  ])('that is damaged or of a newer version is none: %#', (text) => {
    expect(decodeRecord(text)).toBeUndefined();
  });

  it('that was cut off is none, wherever it was cut', () => {
    const text = encodeRecord(record).reveal();
    fc.assert(fc.property(fc.nat(text.length - 1), (at) => decodeRecord(text.slice(0, at)) === undefined));
  });

  it.each([
    [{}, true],
    [{ authOrigin: 'https://other.example' }, false],
    [{ baseOrigin: 'https://api.example:8443' }, false],
    [{ clientId: 'client-2' }, false],
  ])('is bound to its servers and its client id: %j', (changes, bound) => {
    const { authOrigin, baseOrigin, clientId } = record;
    expect(belongsTo(record, { authOrigin, baseOrigin, clientId, ...changes })).toBe(bound);
  });

  it('counts the seconds that are left', () => {
    expect(secondsLeft(record, 1_999_999_990_999)).toBe(10);
    expect(secondsLeft(record, 2_000_000_001_000)).toBe(-1);
  });
});
