import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  authorizationQuery,
  authorize,
  codeFor,
  errorOf,
  exchangeParameters,
  locationOf,
  postToken,
  sandboxFor,
} from '../../requests.ts';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const S256 = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

describe('PKCE', () => {
  it('the challenge of RFC 7636 appendix B is accepted', () => {
    expect(CHALLENGE).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  });

  it('a code with a challenge requires the verifier, and a wrong verifier does not use up the code', async () => {
    const sandbox = await sandboxFor();
    const parameters = exchangeParameters(sandbox, await codeFor(sandbox, { changes: S256 }));
    for (const code_verifier of [undefined, CHALLENGE, VERIFIER.toLowerCase(), `${VERIFIER}A`, 'short']) {
      const answer = await postToken(sandbox, { ...parameters, code_verifier });
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toBe('invalid_grant');
    }
    expect((await postToken(sandbox, { ...parameters, code_verifier: VERIFIER })).status).toBe(200);
  });

  it('a verifier without a challenge is rejected', async () => {
    const sandbox = await sandboxFor();
    const parameters = exchangeParameters(sandbox, await codeFor(sandbox));
    expect(errorOf(await postToken(sandbox, { ...parameters, code_verifier: VERIFIER }))).toBe('invalid_grant');
  });

  it.each([
    { code_challenge: CHALLENGE },
    { code_challenge: CHALLENGE, code_challenge_method: 'plain' },
    { code_challenge: CHALLENGE, code_challenge_method: 's256' },
    { code_challenge: 'short', code_challenge_method: 'S256' },
    { code_challenge: `${CHALLENGE}=`, code_challenge_method: 'S256' },
    { code_challenge_method: 'S256' },
  ])('%j is invalid_request', async (changes) => {
    const sandbox = await sandboxFor();
    const answer = locationOf(await authorize(sandbox, authorizationQuery(sandbox, changes)));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
  });
});
