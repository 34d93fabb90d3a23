import { describe, expect, it } from 'vitest';
import {
  decodeGrant,
  decodePartialGrant,
  isKnownScope,
  isSameScope,
  scopeWords,
} from '../../../src/auth/oauth/grant.ts';

const whole = {
  access_token: 'at-hunter2',
  token_type: 'bearer',
  expires_in: 2592000,
  refresh_token: 'rt-hunter2',
  scope: 'read write',
  info: { name: 'Maya', email: 'maya@example.com', uuid: 'u-1', team_uuid: 't-1', team_name: 'Ops' },
};

function decoded(changes: object) {
  const result = decodeGrant({ ...whole, ...changes });
  if (!result.ok) throw new Error(result.reason);
  return result.value;
}

function refusal(json: unknown): string {
  const result = decodeGrant(json);
  if (result.ok) throw new Error('it was taken');
  return result.reason;
}

describe('a grant', () => {
  it('is decoded whole', () => {
    const grant = decoded({});
    expect(grant.accessToken.reveal()).toBe('at-hunter2');
    expect(grant.refreshToken?.reveal()).toBe('rt-hunter2');
    expect(grant).toMatchObject({ expiresIn: 2592000, scope: 'read write' });
    expect(grant.info).toEqual({
      name: 'Maya',
      email: 'maya@example.com',
      uuid: 'u-1',
      teamUuid: 't-1',
      teamName: 'Ops',
    });
  });

  it('does not print its tokens', () => {
    expect(JSON.stringify(decoded({}))).not.toContain('hunter2');
  });

  it.each(['bearer', 'Bearer', 'BEARER', 'bEaReR'])('may spell its type %s', (type) => {
    expect(decoded({ token_type: type }).accessToken.reveal()).toBe('at-hunter2');
  });

  it.each([
    [3600, 3600],
    ['3600', 3600],
    [3600.9, 3600],
    ['3599.98', 3599],
    [1, 1],
    // A date so far away could not be written down; three hundred years are enough.
    [1e300, 9_999_999_999],
    [Number.MAX_SAFE_INTEGER, 9_999_999_999],
  ])('with expires_in %j lives %d s', (expires, seconds) => {
    const { expiresIn = 0 } = decoded({ expires_in: expires });
    expect(expiresIn).toBe(seconds);
    expect(() => new Date(Date.now() + expiresIn * 1000).toISOString()).not.toThrow();
  });

  it.each([undefined, null])('with expires_in %j does not say how long it lives (RFC 6749 §5.1)', (expires) => {
    expect(decoded({ expires_in: expires })).not.toHaveProperty('expiresIn');
  });

  it('takes the long signed tokens of other servers, and none without an end', () => {
    const long = `eyJ${'a'.repeat(12_000)}`;
    expect(decoded({ access_token: long, refresh_token: long }).accessToken.reveal()).toBe(long);
    expect(refusal({ ...whole, access_token: 'a'.repeat(65_537) })).toMatch(/access_token/);
  });

  it.each([
    0,
    -1,
    '0',
    '-1',
    '',
    '1e3',
    '3600s',
    '3600.',
    '.5',
    '0.5',
    ' 3600',
    '99999999999',
    true,
    [],
    0.4,
    Number.NaN,
  ])('with expires_in %j is refused', (expires) => {
    expect(refusal({ ...whole, expires_in: expires })).toMatch(/expires_in/);
  });

  it.each(['mac', '', 'bearer ', null, undefined, 7])('of type %j is refused', (type) => {
    expect(refusal({ ...whole, token_type: type })).toMatch(/token_type/);
  });

  it.each(['has space', '', 'tab\there', 'line\nbreak', 'umlaut-ü', 7, null, undefined])(
    'with the access token %j is refused',
    (token) => {
      expect(refusal({ ...whole, access_token: token })).toMatch(/access_token/);
    },
  );

  it.each([undefined, null, ''])('with refresh_token %j has none', (token) => {
    expect(decoded({ refresh_token: token })).not.toHaveProperty('refreshToken');
  });

  it.each(['has space', 7, {}])('with the refresh token %j is refused', (token) => {
    expect(refusal({ ...whole, refresh_token: token })).toMatch(/refresh_token/);
  });

  it('beside an error is refused, whatever else it holds', () => {
    expect(refusal({ ...whole, error: 'invalid_grant' })).toMatch(/error/);
  });

  it.each([null, ''])('beside the empty error %j is decoded whole', (error) => {
    expect(decoded({ error }).refreshToken?.reveal()).toBe('rt-hunter2');
    expect(decodePartialGrant({ ...whole, access_token: null, error })?.refreshToken?.reveal()).toBe('rt-hunter2');
    expect(decodePartialGrant({ ...whole, error: 'invalid_grant' })).toBeUndefined();
  });

  it.each([null, [], 'text', 7, undefined])('that is %j is no object', (json) => {
    expect(refusal(json)).toMatch(/object/);
  });

  it.each([[undefined], [null], [''], [[]]])('that names no scope, as with %j, leaves it open', (scope) => {
    expect(decoded({ scope })).not.toHaveProperty('scope');
  });

  it('may name its scopes in a list, and in nothing that could not be compared', () => {
    expect(decoded({ scope: ['read', 'write'] }).scope).toBe('read write');
    for (const scope of [7, {}, ['read', 7], true]) expect(refusal({ ...whole, scope })).toMatch(/scope/);
  });

  it.each([undefined, null, 'Maya', []])('with info %j names no account', (info) => {
    expect(decoded({ info })).not.toHaveProperty('info');
  });

  it('takes of info only what is text', () => {
    expect(decoded({ info: { name: '', email: 7, uuid: 'u-1', team_name: null } }).info).toEqual({ uuid: 'u-1' });
  });

  it('that is refused is never quoted', () => {
    const bad = [{ expires_in: 0 }, { token_type: 'x' }, { access_token: 'hunter2 x' }, { refresh_token: 'hunter2 x' }];
    for (const change of bad) expect(refusal({ ...whole, ...change })).not.toContain('hunter2');
  });
});

describe('scopes', () => {
  it.each([
    [undefined, ['read']],
    ['', ['read']],
    ['read', ['read']],
    ['write read', ['read', 'write']],
    ['read  write read', ['read', 'write']],
  ])('%j has the words %j', (scope, words) => {
    expect(scopeWords(scope)).toEqual(words);
  });

  it.each([
    [undefined, 'read', true],
    ['read write', 'write read', true],
    ['read', 'read write', false],
    ['Read', 'read', false],
  ])('%j and %j are the same: %j', (a, b, same) => {
    expect(isSameScope(a, b)).toBe(same);
    expect(isSameScope(b, a)).toBe(same);
  });

  it.each([
    ['read', true, false],
    ['read write', true, true],
    ['write read', true, true],
    ['write', false, true],
    ['admin', false, false],
    ['readwrite', false, false],
  ])('%j is known: %j, and may write: %j', (scope, known, write) => {
    expect(isKnownScope(scope)).toBe(known);
    expect(scopeWords(scope).includes('write')).toBe(write);
  });
});
