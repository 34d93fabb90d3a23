import { redirectWithError } from '../authorization-redirects.ts';
import type { AuthorizationRequestRule } from '../authorization-rule.ts';
import { readPromptParameter } from './prompt.ts';
import { readSupportedResponseTypeParameter } from './response-type.ts';

/** The account hint is used only with prompt=none (docs/service.md S4.12). */
export const checkAccountHintParameter: AuthorizationRequestRule = ({ parameters, redirectTo }) => {
  const hint = parameters.get('i');
  if (
    hint === undefined ||
    readSupportedResponseTypeParameter(parameters) !== 'code' ||
    readPromptParameter(parameters) !== 'none'
  )
    return undefined;
  if (/^[0-9a-f]{6}$/i.test(hint)) return undefined;
  return redirectWithError(
    redirectTo,
    'invalid_request',
    'The hint i must be the first 6 characters of an account UUID.',
  );
};
