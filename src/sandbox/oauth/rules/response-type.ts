import type { RequestParameters } from '../../http/request-parameters.ts';
import { redirectWithError } from '../authorization-redirects.ts';
import type { AuthorizationRequestRule } from '../authorization-rule.ts';

/** A missing response type and an unknown response type have different error codes (RFC 6749 §4.1.2.1). */
export const checkResponseType: AuthorizationRequestRule = ({ parameters, redirectTo }) => {
  if (readSupportedResponseTypeParameter(parameters) !== undefined) return undefined;
  if (parameters.get('response_type') === undefined) {
    return redirectWithError(redirectTo, 'invalid_request', 'The response type is missing.');
  }
  return redirectWithError(redirectTo, 'unsupported_response_type', 'The response type must be code or token.');
};

export function readSupportedResponseTypeParameter(parameters: RequestParameters): 'code' | 'token' | undefined {
  const type = parameters.get('response_type');
  return type === 'code' || type === 'token' ? type : undefined;
}
