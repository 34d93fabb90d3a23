import { inspect } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import {
  type AuthorizationResult,
  buildAuthorizationUrl,
  createPkce,
  createState,
  type ExpectedResponse,
  validateResponse,
} from '../../../src/auth/oauth/authorize.ts';
import { expectGolden } from '../../fixtures/golden.ts';

const state = 'x'.repeat(43);

function judge(
  query: string,
  own: Partial<ExpectedResponse> = {},
  place: 'query' | 'fragment' = 'query',
): AuthorizationResult | undefined {
  return validateResponse(new Map(new URLSearchParams(query)), place, { state, flow: 'code', ...own });
}

test('a code with the state that was sent can be exchanged, and does not print', () => {
  const judgement = judge(`code=s3cret&state=${state}`);
  expect(judgement?.kind === 'code' && judgement.code.code.reveal()).toBe('s3cret');
  expect(inspect(judgement, { depth: 9 }) + JSON.stringify(judgement)).not.toContain('s3cret');
});

describe('a missing state is a different state', () => {
  test.each([
    `code=c`,
    'code=c&state=',
    `code=c&state=${state}x`,
    `code=c&state=${state.slice(1)}`,
    'error=access_denied',
    'error=access_denied&state=x',
  ])('%s', (query) => {
    expect(judge(query)).toEqual({ kind: 'state_mismatch' });
  });
  test('the words of such a response are not kept', () => {
    expect(JSON.stringify(judge('error=access_denied&error_description=call+0900&state=x'))).not.toContain('0900');
  });
});

describe('an error of the redirect has a kind of its own', () => {
  test.each([
    'access_denied',
    'consent_required',
    'login_required',
    'interaction_required',
    'account_selection_required',
    'invalid_scope',
    'server_error',
    'temporarily_unavailable',
    'unsupported_response_type',
    'unauthorized_client',
  ])('%s', (error) => {
    expect(judge(`error=${error}&error_description=why&state=${state}`)).toEqual({
      kind: 'error',
      error,
      description: 'why',
    });
  });
  test.each(['', 'ACCESS_DENIED', 'a b', 'x'.repeat(65)])('any other is unknown: %s', (error) => {
    expect(judge(`error=${error}&state=${state}`)).toEqual({ kind: 'error', error: 'unknown' });
  });
  test.each([
    ['error=request_not_supported', 'request_not_supported'],
    ['error=invalid_request&error_description=PKCE%20is%20required', 'invalid_request: PKCE is required'],
    ['error=__proto__', '__proto__'],
  ])('and is told by its name: %s', (query, description) => {
    expect(judge(`${query}&state=${state}`)).toEqual({ kind: 'error', error: 'unknown', description });
  });
});

describe('an empty parameter beside a result is absent', () => {
  test.each([
    [`code=c&error=&state=${state}`, { kind: 'code' }],
    [`code=c&error=&error_description=&state=${state}`, { kind: 'code' }],
    [`code=&error=access_denied&state=${state}`, { kind: 'error', error: 'access_denied' }],
    ['code=c&error=&state=x', { kind: 'state_mismatch' }],
    [`code=&error=&state=${state}`, { kind: 'malformed' }],
    [`access_token=t&error=&state=${state}`, { kind: 'malformed' }],
  ])('%s', (query, expected) => {
    expect(judge(query)).toMatchObject(expected);
  });
  test('in the implicit flow', () => {
    const fragment = `access_token=t0ken&token_type=Bearer&code=&error=&state=${state}`;
    expect(judge(fragment, { flow: 'implicit' }, 'fragment')?.kind).toBe('implicit_grant');
  });
});

describe('a response that says two things is malformed', () => {
  test.each([
    [`code=c&error=access_denied&state=${state}`],
    [`access_token=t&state=${state}`],
    [`code=c&access_token=t&state=${state}`],
    [`code=&state=${state}`],
    [`code=%07&state=${state}`],
  ])('%s', (query) => {
    const result = judge(query);
    expect(result).toEqual({ kind: 'malformed', reason: expect.any(String) });
    if (result?.kind === 'malformed') expectGolden('errors', result.reason);
  });
});

describe('an issuer of the profile is in the response', () => {
  const issuer = 'https://cloud.example.com';
  test('the same', () => expect(judge(`code=c&state=${state}&iss=${issuer}`, { issuer })?.kind).toBe('code'));
  test('none came', () => expect(judge(`code=c&state=${state}`, { issuer })?.kind).toBe('malformed'));
  test('the profile names none', () => expect(judge(`code=c&state=${state}&iss=https://other`)?.kind).toBe('code'));
  test('another', () => expect(judge(`code=c&state=${state}&iss=https://other`, { issuer })?.kind).toBe('malformed'));
  test('another one with an error', () =>
    expect(judge(`error=access_denied&state=${state}&iss=https://other`, { issuer })?.kind).toBe('malformed'));
  test('state comes first', () =>
    expect(judge('code=c&state=x&iss=https://other', { issuer })?.kind).toBe('state_mismatch'));
});

describe('what carries no result is no response', () => {
  test.each(['', `state=${state}`, 'access_token=t', 'access_token=t&state=other', 'foo=bar'])('%s', (query) => {
    expect(judge(query)).toBeUndefined();
  });
});

describe('the implicit flow', () => {
  const grant = `access_token=t0ken&token_type=Bearer&expires_in=2592000&state=${state}`;
  const implicit = (fragment: string) => judge(fragment, { flow: 'implicit' }, 'fragment');

  test('a grant from the fragment', () => {
    const judgement = implicit(grant);
    if (judgement?.kind !== 'implicit_grant') throw new Error('no grant');
    const { accessToken, ...rest } = judgement.grant.grant;
    expect(accessToken.reveal()).toBe('t0ken');
    expect(rest).toEqual({ expiresIn: 2592000 });
    expect(JSON.stringify(judgement)).not.toContain('t0ken');
  });
  test('a grant that does not say how long it lives (RFC 6749 §4.2.2)', () => {
    const judgement = implicit(grant.replace('&expires_in=2592000', ''));
    expect(judgement?.kind === 'implicit_grant' && Object.keys(judgement.grant.grant)).toEqual(['accessToken']);
  });
  test('a refresh token is not taken from a fragment', () => {
    expect(JSON.stringify(implicit(`${grant}&refresh_token=r`))).not.toContain('refresh');
  });
  test.each([
    ['token_type', grant.replace('Bearer', 'mac')],
    ['expires_in', grant.replace('2592000', '0')],
    ['an empty expires_in', grant.replace('2592000', '')],
    ['an empty access token', grant.replace('t0ken', '')],
    ['a code beside it', `${grant}&code=c`],
    ['a code instead', `code=c&state=${state}`],
  ])('malformed: %s', (_, fragment) => {
    expect(implicit(fragment)?.kind).toBe('malformed');
  });
  test('another state', () => expect(implicit(grant.replace(state, 'x'))).toEqual({ kind: 'state_mismatch' }));
  test('a code never stands in a fragment', () => {
    expect(judge(`code=c&state=${state}`, {}, 'fragment')?.kind).toBe('malformed');
  });
});

const request = {
  authOrigin: 'https://cloud.example',
  clientId: 'client-1',
  redirectUri: 'http://127.0.0.1:8765/callback',
  flow: 'code',
  state: 'S',
} as const;
const base = 'https://cloud.example/v1/oauth/authorize?';
const redirect = 'redirect_uri=http%3A%2F%2F127.0.0.1%3A8765%2Fcallback';

describe('the authorization URL', () => {
  it('of the code flow has no scope unless one was asked for', () => {
    expect(buildAuthorizationUrl(request)).toBe(`${base}response_type=code&client_id=client-1&${redirect}&state=S`);
  });

  it('parts the words of a scope by %20, and sends every parameter once', () => {
    const url = buildAuthorizationUrl({
      ...request,
      scope: 'read write',
      prompt: 'none',
      accountHint: 'a1b2c3',
      challenge: 'C',
    });
    expect(url).toBe(
      `${base}response_type=code&client_id=client-1&${redirect}&scope=read%20write&state=S&prompt=none&i=a1b2c3&code_challenge=C&code_challenge_method=S256`,
    );
  });

  it('of the implicit flow asks for a token', () => {
    expect(buildAuthorizationUrl({ ...request, flow: 'implicit' })).toBe(
      `${base}response_type=token&client_id=client-1&${redirect}&state=S`,
    );
  });

  it('keeps a plus sign of a value', () => {
    const url = new URL(buildAuthorizationUrl({ ...request, clientId: 'a+b c' }));
    expect(url.searchParams.get('client_id')).toBe('a+b c');
    expect(url.search).toContain('client_id=a%2Bb%20c');
  });
});

it('a state has 256 random bits', () => {
  const asked: number[] = [];
  const state = createState((bytes) => {
    asked.push(bytes);
    return new Uint8Array(bytes).fill(255);
  });
  expect(asked).toEqual([32]);
  expect(Buffer.from(state, 'base64url')).toHaveLength(32);
});

it('the challenge is that of RFC 7636 appendix B', () => {
  const octets = [116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186];
  const more = [22, 212, 37, 77, 105, 214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121];
  const pkce = createPkce((bytes) => Uint8Array.from([...octets, ...more].slice(0, bytes)));
  expect(pkce.verifier.reveal()).toBe('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk');
  expect(pkce.challenge).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
});
