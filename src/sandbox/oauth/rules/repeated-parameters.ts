import { redirectWithError } from '../authorization-redirects.ts';
import type { AuthorizationRule } from '../authorization-rule.ts';

/** A parameter must not come twice (RFC 6749 §3.1); unknown ones are ignored, however often they come. */
export const checkRepeatedParameters: AuthorizationRule = ({ parameters, to }) => {
  const repeated = PARAMETERS.find((name) => parameters.isRepeated(name));
  if (repeated === undefined) return undefined;
  return redirectWithError(to, 'invalid_request', `The parameter ${repeated} is included more than once.`);
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
