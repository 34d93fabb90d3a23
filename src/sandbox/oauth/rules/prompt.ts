import type { RequestParameters } from '../../http/request-parameters.ts';
import { redirectWithError } from '../authorization-redirects.ts';
import type { AuthorizationRule } from '../authorization-rule.ts';
import { readResponseType } from './response-type.ts';

/** A list of words, of which `none` must stand alone; the implicit flow knows no prompt (spec §4.1). */
export const checkPrompt: AuthorizationRule = ({ parameters, to }) => {
  if (readResponseType(parameters) === 'token' || readPrompt(parameters) !== undefined) return undefined;
  return redirectWithError(to, 'invalid_request', 'The prompt must be none or select_account, and none stands alone.');
};

/** Absent is the same as select_account; undefined when there is anything else in it. */
export function readPrompt(parameters: RequestParameters): 'none' | 'select_account' | undefined {
  const words = new Set((parameters.get('prompt') ?? 'select_account').split(' '));
  if (words.size !== 1) return undefined;
  const [word] = words;
  return word === 'none' || word === 'select_account' ? word : undefined;
}
