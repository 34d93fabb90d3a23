import { expect, it } from 'vitest';
import { createPkce } from '../../../src/auth/oauth/pkce.ts';

it('the challenge is that of RFC 7636 appendix B', () => {
  const octets = [116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186];
  const more = [22, 212, 37, 77, 105, 214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121];
  const pkce = createPkce((bytes) => Uint8Array.from([...octets, ...more].slice(0, bytes)));
  expect(pkce.verifier.reveal()).toBe('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk');
  expect(pkce.challenge).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
});
