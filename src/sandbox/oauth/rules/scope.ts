import type { RequestParameters } from '../../http/request-parameters.ts';
import { renderErrorPage } from '../../panel/error-page.ts';
import type { Scope } from '../../records.ts';
import type { AuthorizationRule } from '../authorization-rule.ts';

/** For an invalid scope, an error page is shown and the browser is never redirected (spec §7). */
export const checkScope: AuthorizationRule = ({ parameters }) => {
  if (parseScopeParameter(parameters) !== undefined) return undefined;
  const received: readonly [string, string] = ['Received', parameters.get('scope') ?? ''];
  return renderErrorPage(400, 'The requested scope is invalid, unknown, or malformed.', [
    received,
    ['Valid', 'read'],
    ['Valid', 'read write'],
  ]);
};

export function parseScopeParameter(parameters: RequestParameters): Scope | undefined {
  return parseScope(parameters.get('scope') ?? '');
}

/**
 * Accepts the words `read` and `write` in either order, separated by one space. An empty scope means `read`; the result is
 * undefined for any other text.
 */
export function parseScope(text: string): Scope | undefined {
  return SCOPES.get(text);
}

const SCOPES: ReadonlyMap<string, Scope> = new Map([
  ['', 'read'],
  ['read', 'read'],
  ['read write', 'read write'],
  ['write read', 'read write'],
]);
