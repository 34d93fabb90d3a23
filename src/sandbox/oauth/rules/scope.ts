import type { RequestParameters } from '../../http/request-parameters.ts';
import { renderErrorPage } from '../../panel/error-page.ts';
import type { SandboxOAuthScope } from '../../records.ts';
import type { AuthorizationRequestRule } from '../authorization-rule.ts';

/** For an invalid scope, an error page is shown and the browser is never redirected (docs/service.md S4.5). */
export const checkScopeParameter: AuthorizationRequestRule = ({ parameters }) => {
  if (readRequestedSandboxScope(parameters) !== undefined) return undefined;
  const received: readonly [string, string] = ['Received', parameters.get('scope') ?? ''];
  return renderErrorPage(400, 'The requested scope is invalid, unknown, or malformed.', [
    received,
    ['Valid', 'read'],
    ['Valid', 'read write'],
  ]);
};

export function readRequestedSandboxScope(parameters: RequestParameters): SandboxOAuthScope | undefined {
  return parseSandboxOAuthScope(parameters.get('scope') ?? '');
}

/**
 * Accepts the words `read` and `write` in either order, separated by one space. An empty scope means `read`; the result is
 * undefined for any other text.
 */
export function parseSandboxOAuthScope(text: string): SandboxOAuthScope | undefined {
  return SCOPES.get(text);
}

const SCOPES: ReadonlyMap<string, SandboxOAuthScope> = new Map([
  ['', 'read'],
  ['read', 'read'],
  ['read write', 'read write'],
  ['write read', 'read write'],
]);
