import type { Parameters } from '../../http/parameters.ts';
import { redirectWithError } from '../redirects.ts';
import type { Rule } from '../rule.ts';

/** RFC 6749 §4.1.2.1: missing and unknown are two different errors. */
export const responseTypeIsKnown: Rule = ({ parameters, to }) => {
  if (readResponseType(parameters) !== undefined) return undefined;
  if (parameters.get('response_type') === undefined) {
    return redirectWithError(to, 'invalid_request', 'The response type is missing.');
  }
  return redirectWithError(to, 'unsupported_response_type', 'The response type must be code or token.');
};

export function readResponseType(parameters: Parameters): 'code' | 'token' | undefined {
  const type = parameters.get('response_type');
  return type === 'code' || type === 'token' ? type : undefined;
}
