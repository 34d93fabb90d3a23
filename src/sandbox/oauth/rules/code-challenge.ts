import { redirectWithError } from '../authorization-redirects.ts';
import type { AuthorizationRule } from '../authorization-rule.ts';
import { readResponseType } from './response-type.ts';

/** PKCE with S256 only (RFC 7636 §4.3): `plain`, which is also meant when the method is left out, protects nothing. */
export const checkCodeChallenge: AuthorizationRule = ({ parameters, to }) => {
  if (readResponseType(parameters) !== 'code') return undefined;
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined && method === undefined) return undefined;
  if (method !== 'S256') return redirectWithError(to, 'invalid_request', 'The code challenge method must be S256.');
  if (challenge !== undefined && /^[A-Za-z0-9_-]{43}$/.test(challenge)) return undefined;
  return redirectWithError(to, 'invalid_request', 'The code challenge is not a base64url SHA-256.');
};
