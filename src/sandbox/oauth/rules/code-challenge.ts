import { redirectWithError } from '../authorization-redirects.ts';
import type { AuthorizationRequestRule } from '../authorization-rule.ts';
import { readSupportedResponseTypeParameter } from './response-type.ts';

/** Accepts only the PKCE method S256 (RFC 7636 §4.3), because `plain`, the default method, gives no protection. */
export const checkCodeChallenge: AuthorizationRequestRule = ({ parameters, redirectTo }) => {
  if (readSupportedResponseTypeParameter(parameters) !== 'code') return undefined;
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined && method === undefined) return undefined;
  if (method !== 'S256')
    return redirectWithError(redirectTo, 'invalid_request', 'The code challenge method must be S256.');
  if (challenge !== undefined && /^[A-Za-z0-9_-]{43}$/.test(challenge)) return undefined;
  return redirectWithError(redirectTo, 'invalid_request', 'The code challenge is not a SHA-256 hash in base64url.');
};
