import type { RequestParameters } from '../../http/request-parameters.ts';
import { redirectWithError } from '../authorization-redirects.ts';
import type { AuthorizationRequestRule } from '../authorization-rule.ts';
import { readSupportedResponseTypeParameter } from './response-type.ts';

/**
 * The parameter prompt is a list of words, in which `none` excludes all other words. The implicit flow ignores the parameter
 * prompt (docs/service.md S4.7).
 */
export const checkPromptParameter: AuthorizationRequestRule = ({ parameters, redirectTo }) => {
  if (readSupportedResponseTypeParameter(parameters) === 'token' || readPromptParameter(parameters) !== undefined)
    return undefined;
  return redirectWithError(
    redirectTo,
    'invalid_request',
    'The prompt must be none or select_account; none cannot be combined.',
  );
};

/** Reads the parameter prompt: `select_account` when it is absent, undefined when it is invalid. */
export function readPromptParameter(parameters: RequestParameters): 'none' | 'select_account' | undefined {
  const words = new Set((parameters.get('prompt') ?? 'select_account').split(' '));
  if (words.size !== 1) return undefined;
  const [word] = words;
  return word === 'none' || word === 'select_account' ? word : undefined;
}
