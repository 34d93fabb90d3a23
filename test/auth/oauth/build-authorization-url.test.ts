import { describe, expect, it } from 'vitest';
import { buildAuthorizationUrl, createOAuthState } from '../../../src/auth/oauth/build-authorization-url.ts';

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
  const state = createOAuthState((bytes) => {
    asked.push(bytes);
    return new Uint8Array(bytes).fill(255);
  });
  expect(asked).toEqual([32]);
  expect(Buffer.from(state, 'base64url')).toHaveLength(32);
});
