import type { Parameters } from '../../http/parameters.ts';
import { redirectWithError } from '../redirects.ts';
import type { Rule } from '../rule.ts';
import { readResponseType } from './response-type.ts';

/** A list of words, of which `none` must stand alone; the implicit flow knows no prompt (spec §4.1). */
export const promptIsKnown: Rule = ({ parameters, to }) => {
  if (readResponseType(parameters) === 'token' || readPrompt(parameters) !== undefined) return undefined;
  return redirectWithError(to, 'invalid_request', 'The prompt must be none or select_account, and none stands alone.');
};

/** Absent is the same as select_account; undefined when there is anything else in it. */
export function readPrompt(parameters: Parameters): 'none' | 'select_account' | undefined {
  const words = new Set((parameters.get('prompt') ?? 'select_account').split(' '));
  if (words.size !== 1) return undefined;
  const [word] = words;
  return word === 'none' || word === 'select_account' ? word : undefined;
}
