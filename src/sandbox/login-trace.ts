import { createHash } from 'node:crypto';
import { secretFingerprint } from './grant-store.ts';
import type { SandboxHandlerContext } from './handler-context.ts';
import { toAsciiUrlQuery } from './http/ascii-query.ts';
import type { SandboxHttpReply } from './http/http-reply.ts';
import type { SandboxHttpRequest } from './http/http-request.ts';
import { readRequestParameters } from './http/request-parameters.ts';
import { findPanelSession } from './panel/panel-session.ts';
import type { AuthorizationCode, IssuedTokenPair } from './records.ts';
import type { SandboxLoginCorrelation } from './request-log.ts';

/** Finds the application and the login to which a request belongs. */
export type LoginCorrelationFinder = (
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
) => SandboxLoginCorrelation | undefined;

/** The record that connects the requests of one login in the panel, for a request whose query is an authorization request. */
export function findLoginCorrelationOfAuthorizationRequest(
  request: SandboxHttpRequest,
  query: string,
  service: SandboxHandlerContext,
): SandboxLoginCorrelation | undefined {
  const clientId = readRequestParameters(query, '', '').get('client_id');
  if (clientId === undefined) return undefined;
  const person = findPanelSession(request, service)?.person.uuid;
  const login = createHash('sha256').update(toAsciiUrlQuery(query)).digest('base64url').slice(0, 16);
  return { clientId, login, ...(person === undefined ? {} : { person }) };
}

/** The login correlation of a request with an authorization code. */
export function findLoginCorrelationOfAuthorizationCode(
  code: AuthorizationCode | undefined,
): SandboxLoginCorrelation | undefined {
  if (code === undefined) return undefined;
  return { clientId: code.clientId, person: code.person, chain: secretFingerprint(code.code) };
}

/** The login correlation of a request with an access token or a refresh token. */
export function createLoginCorrelationOfTokenPair(
  pair: IssuedTokenPair | undefined,
): SandboxLoginCorrelation | undefined {
  return pair === undefined ? undefined : { clientId: pair.clientId, person: pair.person, chain: pair.issue.chain };
}

/** Adds the redirect in the reply to the login correlation. */
export function addRedirectToLoginCorrelation(
  trace: SandboxLoginCorrelation | undefined,
  { headers: { location } }: SandboxHttpReply,
): SandboxLoginCorrelation | undefined {
  if (trace?.login === undefined || location === undefined || location.startsWith('/')) return trace;
  const url = new URL(location);
  const token = new URLSearchParams(url.hash.slice(1)).get('access_token');
  const error = url.searchParams.get('error');
  const secret = error === null ? (token ?? url.searchParams.getAll('code').at(-1)) : undefined;
  const outcome = error ?? (token === null ? 'code' : 'token');
  return {
    ...trace,
    ...(secret === undefined ? {} : { chain: secretFingerprint(secret) }),
    redirect: { host: url.host || url.protocol, outcome },
  };
}
