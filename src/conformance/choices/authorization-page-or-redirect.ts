import { type AuthorizationPageOrRedirect, leadsToCallback } from '../browse.ts';
import { summarizeResponse } from '../conformance-response.ts';
import type { ServerUnderTest } from '../server-under-test.ts';

/** Where an authorization request ended: `page 400`, `redirect invalid_request` or `redirect code`. */
export function summarizeAuthorizationPageOrRedirect(
  server: ServerUnderTest,
  end: AuthorizationPageOrRedirect,
): string {
  if (end.location === undefined) return `page ${summarizeResponse(end.response)}`;
  if (!leadsToCallback(server, end)) return 'redirect elsewhere';
  const { query, fragment } = end;
  const names = ['code', 'access_token'].filter((name) => query.has(name) || fragment.has(name));
  const [outcome = query.get('error') ?? fragment.get('error') ?? 'without result'] = names;
  return `redirect ${outcome}`;
}
