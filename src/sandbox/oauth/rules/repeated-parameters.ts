import { redirectWithError } from '../authorization-redirects.ts';
import type { AuthorizationRequestRule } from '../authorization-rule.ts';

/** A known parameter must not be repeated (RFC 6749 §3.1). Unknown parameters may be repeated, because they are ignored. */
export const checkRepeatedParameters: AuthorizationRequestRule = ({ parameters, redirectTo }) => {
  const repeated = PARAMETERS.find((name) => parameters.isRepeated(name));
  if (repeated === undefined) return undefined;
  return redirectWithError(redirectTo, 'invalid_request', `The parameter ${repeated} is included more than once.`);
};

const PARAMETERS = [
  'response_type',
  'scope',
  'state',
  'prompt',
  'i',
  'code_challenge',
  'code_challenge_method',
] as const;
