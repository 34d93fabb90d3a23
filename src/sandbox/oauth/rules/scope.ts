import type { RequestParameters } from '../../http/request-parameters.ts';
import { renderErrorPage } from '../../panel/error-page.ts';
import type { Scope } from '../../records.ts';
import type { AuthorizationRule } from '../authorization-rule.ts';

/** Shown as a page and never redirected (spec §7). */
export const checkScope: AuthorizationRule = ({ parameters }) => {
  if (readScope(parameters) !== undefined) return undefined;
  const received: readonly [string, string] = ['Received', parameters.get('scope') ?? ''];
  return renderErrorPage(400, 'The requested scope is invalid, unknown, or malformed.', [
    received,
    ['Valid', 'read'],
    ['Valid', 'read write'],
  ]);
};

/** The words in either order, each once, parted by one space; undefined when they are anything else. */
export function readScope(parameters: RequestParameters): Scope | undefined {
  return SCOPES.get(parameters.get('scope') ?? '');
}

const SCOPES: ReadonlyMap<string, Scope> = new Map([
  ['', 'read'],
  ['read', 'read'],
  ['read write', 'read write'],
  ['write read', 'read write'],
]);
